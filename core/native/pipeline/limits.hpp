// The limits on the sizes of an engine, and on replay.
#pragma once

#include <cstdint>

namespace manyclass {

struct Limits {
    std::uint32_t max_features = 0, max_classes = 0, replay = 0, replay_size = 0;
    std::uint64_t max_bytes = 0;

    template <class V>
    void visit_options(V&& option) {
        option("max_features", max_features);
        option("max_classes", max_classes);
        option("max_bytes", max_bytes);
        option("replay", replay);
        option("replay_size", replay_size);
    }
};

}  // namespace manyclass

// The idf of tf-idf: the logarithm of the instances learned over those with the feature.
#pragma once

#include <array>
#include <cstdint>

#include "math/elementary.hpp"

namespace manyclass {

// Most features were seen a few times only, and the edges of a row come one after the other. So each
// logarithm is kept until the ratio of its place is another.
class Idf {
public:
    double of(std::uint64_t instances, std::uint32_t times_seen) {
        const double ratio =
            (1.0 + static_cast<double>(instances)) / (1.0 + static_cast<double>(times_seen));
        Kept& kept = kept_[times_seen < FEW ? times_seen : FEW];
        if (kept.ratio != ratio) kept = {ratio, natural_log(ratio)};
        return kept.log;
    }

private:
    static constexpr std::uint32_t FEW = 255;  // features seen more often share the last place

    struct Kept {
        double ratio = 0, log = 0;  // a ratio is above 0
    };
    std::array<Kept, FEW + 1> kept_;
};

}  // namespace manyclass

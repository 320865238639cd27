// The idf of tf-idf: the logarithm of the instances learned over those with the feature.
#pragma once

#include <array>
#include <cstdint>

#include "math/elementary.hpp"

namespace manyclass {

// Most features were seen a few times only. So each of their logarithms is kept until the ratio is
// another.
class Idf {
public:
    double of(double instances, std::uint32_t times_seen) {
        const double ratio = (1 + instances) / (1.0 + static_cast<double>(times_seen));
        if (times_seen >= kept_.size()) return natural_log(ratio);
        Kept& kept = kept_[times_seen];
        if (kept.ratio != ratio) kept = {ratio, natural_log(ratio)};
        return kept.log;
    }

private:
    struct Kept {
        double ratio = 0, log = 0;  // a ratio is above 0
    };
    std::array<Kept, 256> kept_;
};

}  // namespace manyclass

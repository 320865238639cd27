// The idf of tf-idf: the logarithm of the instances learned over those with the feature.
#pragma once

#include <array>
#include <cstdint>

#include "math/elementary.hpp"

namespace manyclass {

// Each logarithm is cached until other numbers replace it: most features were seen a few times
// only, and between two events all instances have the same number of instances learned.
class Idf {
public:
    double of(double instances, std::uint32_t times_seen) {
        Kept& kept = kept_[times_seen % kept_.size()];
        if (kept.instances != instances || kept.times_seen != times_seen)
            kept = {instances, log_of(instances, times_seen), times_seen};
        return kept.log;
    }

private:
    struct Kept {
        double instances = -1, log = 0;  // no number of instances is negative
        std::uint32_t times_seen = 0;
    };

    [[gnu::noinline]] static double log_of(double instances, std::uint32_t times_seen) {
        return natural_log((1 + instances) / (1.0 + static_cast<double>(times_seen)));
    }

    std::array<Kept, 1024> kept_;
};

}  // namespace manyclass

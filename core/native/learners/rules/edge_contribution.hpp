// The contribution of an edge to scores, and the new edges that contribute too little.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "math/elementary.hpp"
#include "storage/postings.hpp"

namespace manyclass {

// An edge contributes |weight|, times the idf of its feature if values are weighed by tf-idf: what
// its vote moves.
class EdgeContribution {
public:
    // Begin an event: from here on so many events are counted.
    void start(bool by_idf, std::uint64_t counted) {
        by_idf_ = by_idf;
        if (counted == counted_) return;
        known_.fill(-1);
        last_seen_ = 0;
        counted_ = counted;
    }

    // Return the contribution of a weight of 1.
    double scale(const Row& row) { return by_idf_ ? 1 + idf(row.times_seen) : 1.0; }

    static float of(float weight, double scale) {
        return static_cast<float>(std::fabs(static_cast<double>(weight)) * scale);
    }

private:
    static constexpr std::uint32_t FEW = 32;

    // Most features were seen a few times, and several edges of a row come one after the other: the
    // logarithms of the same numbers would be computed again.
    double idf(std::uint32_t times_seen) {
        if (times_seen < FEW) {
            double& known = known_[times_seen];
            if (known < 0) known = computed(times_seen);
            return known;
        }
        if (times_seen != last_seen_) last_idf_ = computed(times_seen);
        last_seen_ = times_seen;
        return last_idf_;
    }

    double computed(std::uint32_t times_seen) const {
        return natural_log((1.0 + static_cast<double>(counted_)) /
                           (1.0 + static_cast<double>(times_seen)));
    }

    bool by_idf_ = false;
    std::uint64_t counted_ = std::numeric_limits<std::uint64_t>::max();  // events
    std::array<double, FEW> known_{};
    std::uint32_t last_seen_ = 0;
    double last_idf_ = 0;
};

// Decides which edges an update makes. Near the budget a light edge costs twice, when it is made and
// when the budget removes it, so it is refused. A true class that no edge leads to gets all its
// edges: one event is enough to retrieve it.
// Ownership: the contribution is the budget's.
class NewEdges {
public:
    std::vector<std::uint32_t> unreached;  // true classes that no edge leads to

    // Refuse edges that contribute less; 0: none.
    void refuse_below(float least, EdgeContribution* contribution) {
        least_ = least;
        contribution_ = contribution;
    }

    bool admit(const Row& row, std::uint32_t cls, float weight) const {
        if (!(least_ > 0)) return true;
        if (EdgeContribution::of(weight, contribution_->scale(row)) >= least_) return true;
        return std::find(unreached.begin(), unreached.end(), cls) != unreached.end();
    }

private:
    float least_ = 0;
    EdgeContribution* contribution_ = nullptr;
};

}  // namespace manyclass

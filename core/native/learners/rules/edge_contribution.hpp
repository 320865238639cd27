// The contribution of an edge to scores, and the new edges that contribute too little.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "math/idf.hpp"
#include "storage/postings.hpp"

namespace manyclass {

// An edge contributes |weight|, times the idf of its feature if values are weighed by tf-idf: what
// its vote moves.
class EdgeContribution {
public:
    // Begin an event: from here on so many events are counted.
    void start(bool by_idf, std::uint64_t counted) {
        by_idf_ = by_idf;
        instances_ = static_cast<double>(counted);
        last_ = 0;
    }

    // Return the contribution of a weight of 1.
    double scale(const Row& row) {
        if (!by_idf_) return 1.0;
        if (last_ == 0 || row.times_seen != of_last_) {  // several edges of a row come one after the other
            of_last_ = row.times_seen;
            last_ = 1 + idf_.of(instances_, of_last_);
        }
        return last_;
    }

    static float of(float weight, double scale) {
        return static_cast<float>(std::fabs(static_cast<double>(weight)) * scale);
    }

private:
    bool by_idf_ = false;
    double instances_ = 0;
    Idf idf_;
    std::uint32_t of_last_ = 0;  // times seen of the row scaled last
    double last_ = 0;            // 0: none was
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

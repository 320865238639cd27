// One budget of edges for a whole index, spent by contribution: the edges that move the scores
// least go first, whichever feature they belong to.
//
// An edge contributes |weight|, times the idf of its feature if values are weighed by tf-idf: what
// its vote moves. While the edges are near `budget` times the features, a hand goes round the rows,
// a few for each event, and removes the edges that contribute less than a threshold. The threshold
// of a round is the quantile of the contributions counted in the round before by which the edges
// end the round at the budget. An edge made after the hand last passed its row is kept: it has a
// whole round to grow. An index of fewer edges than the floor is not limited: a few features may
// have to tell many classes apart.
//
//   row:  [ settled edges | new edges ]       the mass of the row is the number of settled edges
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "math/elementary.hpp"
#include "snapshot/visitor.hpp"
#include "storage/postings.hpp"
#include "storage/tables.hpp"

namespace manyclass {

class EdgeBudget {
public:
    // Continue the round after an event that made so many edges: the hand passes ROUND times as many,
    // and some more while the budget, which may be new, is exceeded by far.
    void sweep(Tables& tables, double budget, double floor, bool by_idf, std::uint64_t made) {
        const double most =
            std::max(budget * static_cast<double>(tables.features.count()), floor);
        if (!is_near(tables, most)) return;
        std::uint64_t left = made * ROUND;  // edges that the hand has still to pass
        if (static_cast<double>(tables.postings.edges()) > most * (1 + 1.0 / ROUND)) left += EXTRA;
        while (left > 0) {
            if (hand_ >= tables.features.end()) {
                begin_round(static_cast<double>(tables.postings.edges()), most);
                if (!is_near(tables, most)) return;
            }
            tables.postings.prefetch(hand_ + AHEAD);
            Row& row = tables.postings[hand_++];
            left -= std::min<std::uint64_t>(left, row.outdegree + 1u);
            if (row.outdegree > 0) sweep(tables, row, by_idf);
        }
    }

    // The sections of a learner with a budget.
    void visit(SnapshotVisitor& visitor) {
        const auto hand = visitor.matching<std::uint32_t>("budget_hand", 1);
        const auto threshold = visitor.matching<float>("budget_threshold", 1);
        const auto histogram = visitor.matching<std::uint64_t>("budget_histogram", BUCKETS);
        if (visitor.is_dumping()) {
            *hand.data = hand_;
            *threshold.data = threshold_;
            std::copy(histogram_.begin(), histogram_.end(), histogram.data);
        }
        if (!visitor.is_loading()) return;
        need(*hand.data < NO_ID, "budget_hand", "a hand is out of place");
        need(*threshold.data >= 0 && std::isfinite(*threshold.data), "budget_threshold",
             "it is not a contribution");
        hand_ = *hand.data;
        threshold_ = *threshold.data;
        std::copy_n(histogram.data, BUCKETS, histogram_.begin());
        for (const std::uint64_t count : histogram_)
            need(count <= LARGEST_COUNT, "budget_histogram", "no count can be so large");
    }

private:
    static constexpr std::uint64_t ROUND = 8;  // a round while the edges grow by this part of them
    static constexpr std::uint64_t EXTRA = 64;
    static constexpr std::uint32_t AHEAD = 16;  // rows that are fetched before they are swept
    static constexpr std::size_t BUCKETS = 2040;  // of contributions: 8 for an octave

    // The idf of features by the times that they were seen. Most of the features of a round were seen
    // a few times, and a sweep would compute the logarithm of the same numbers again.
    class Idf {
    public:
        double of(std::uint32_t times_seen, std::uint64_t counted) {
            if (counted != counted_) {
                known_.fill(-1);
                counted_ = counted;
            }
            if (times_seen >= FEW) return computed(times_seen);
            double& known = known_[times_seen];
            if (known < 0) known = computed(times_seen);
            return known;
        }

    private:
        static constexpr std::uint32_t FEW = 32;

        double computed(std::uint32_t times_seen) const {
            return natural_log((1.0 + static_cast<double>(counted_)) /
                               (1.0 + static_cast<double>(times_seen)));
        }

        std::uint64_t counted_ = std::numeric_limits<std::uint64_t>::max();  // events
        std::array<double, FEW> known_{};
    };

    static bool is_near(const Tables& tables, double most) {
        return static_cast<double>(tables.postings.edges()) > most * (1 - 1.0 / ROUND);
    }

    void sweep(Tables& tables, Row& row, bool by_idf) {
        const double scale = by_idf ? 1 + idf_.of(row.times_seen, tables.counted) : 1.0;
        const auto settled = static_cast<std::uint32_t>(row.mass);
        const float* const weights = tables.postings.edges(row).masses;
        tables.postings.remove_edges(row, [&](std::uint32_t at) {
            const auto contribution =
                static_cast<float>(std::fabs(static_cast<double>(weights[at])) * scale);
            if (at < settled && contribution < threshold_) return true;
            ++histogram_[bucket_of(contribution)];
            return false;
        });
        row.mass = row.outdegree;
    }

    // Set the threshold so that a round in which the edges grow by their part ends at `most`.
    void begin_round(double edges, double most) {
        double excess = edges + edges / ROUND - most;
        threshold_ = 0;
        for (std::size_t bucket = 0; excess > 0 && bucket + 1 < BUCKETS; ++bucket) {
            const auto here = static_cast<double>(histogram_[bucket]);
            const float low = lower_bound(bucket), high = lower_bound(bucket + 1);
            if (here > 0)
                threshold_ = low + (high - low) * static_cast<float>(std::min(1.0, excess / here));
            excess -= here;
        }
        histogram_.fill(0);
        hand_ = 0;
    }

    // The sign, which is 0, the exponent and three bits of the fraction.
    static std::size_t bucket_of(float contribution) {
        std::uint32_t bits;
        std::memcpy(&bits, &contribution, sizeof bits);
        return bits >> 20;
    }
    static float lower_bound(std::size_t bucket) {
        const auto bits = static_cast<std::uint32_t>(bucket << 20);
        float bound;
        std::memcpy(&bound, &bits, sizeof bound);
        return bound;
    }

    std::uint32_t hand_ = 0;    // the feature whose row is next
    float threshold_ = 0;       // of the round
    Idf idf_;
    std::array<std::uint64_t, BUCKETS> histogram_{};  // of the edges passed in the round
};

}  // namespace manyclass

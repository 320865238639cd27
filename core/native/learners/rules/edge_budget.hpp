// One budget of edges for a whole index, spent by contribution: the edges that move the scores
// least go first, whichever feature they belong to.
//
// While the edges are near `budget` times the features, a hand goes round the rows, a few for each
// event, and removes the edges that contribute less than a threshold. The threshold of a round is
// the quantile of the contributions counted in the round before by which the edges end the round at
// the budget. An edge made after the hand last passed its row is kept: it has a whole round to
// grow. Much lighter edges are not made at all: see NewEdges. An index of fewer edges than the
// floor is not limited: a few features may have to tell many classes apart.
//
//   row:  [ settled edges | new edges ]       the mass of the row is the number of settled edges
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "learners/rules/edge_contribution.hpp"
#include "snapshot/visitor.hpp"
#include "storage/postings.hpp"
#include "storage/tables.hpp"

namespace manyclass {

class EdgeBudget {
public:
    // Let the next update make edges that contribute at least half of the threshold; all edges
    // while there is room.
    void limit(NewEdges& edges, const Tables& tables, double budget, double floor, bool by_idf) {
        constexpr float PART = 0.5f;
        const bool is_limited = is_near(tables, most_edges(tables, budget, floor));
        contribution_.start(by_idf, tables.counted);
        edges.refuse_below(is_limited ? threshold_ * PART : 0, &contribution_);
    }

    // Continue the round after an event that made so many edges: the hand passes ROUND times as
    // many, and some more while the budget, which may be new, is exceeded by far.
    void sweep(Tables& tables, double budget, double floor, bool by_idf, std::uint64_t made) {
        const double most = most_edges(tables, budget, floor);
        if (!is_near(tables, most)) return;
        contribution_.start(by_idf, tables.counted);
        std::uint64_t left = made * ROUND;  // edges that the hand has still to pass
        if (static_cast<double>(tables.postings.edges()) > most * (1 + 1.0 / ROUND)) left += EXTRA;
        while (left > 0) {
            if (hand_ >= tables.features.end()) {
                begin_round(static_cast<double>(tables.postings.edges()), most);
                if (!is_near(tables, most)) return;
            }
            tables.postings.prefetch(hand_ + AHEAD);
            if (hand_ + EDGES_AHEAD < tables.features.end())
                tables.postings.prefetch_edges(tables.postings[hand_ + EDGES_AHEAD], LONGEST_ROW);
            Row& row = tables.postings[hand_++];
            left -= std::min<std::uint64_t>(left, row.outdegree + 1u);
            if (row.outdegree > 0) sweep(tables, row);
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
        need(*hand.data < NO_ID, "budget_hand", "a hand is out of range");
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
    static constexpr std::uint32_t AHEAD = 16, EDGES_AHEAD = 4;  // rows, fetched before a sweep
    static constexpr std::size_t BUCKETS = 2040;  // of contributions: 8 for an octave

    static double most_edges(const Tables& tables, double budget, double floor) {
        return std::max(budget * static_cast<double>(tables.features.count()), floor);
    }

    static bool is_near(const Tables& tables, double most) {
        return static_cast<double>(tables.postings.edges()) > most * (1 - 1.0 / ROUND);
    }

    void sweep(Tables& tables, Row& row) {
        const double scale = contribution_.scale(row);
        const auto settled = static_cast<std::uint32_t>(row.mass);
        const float* const weights = tables.postings.edges(row).masses;
        tables.postings.remove_edges(row, [&](std::uint32_t at) {
            const float contribution = EdgeContribution::of(weights[at], scale);
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
    EdgeContribution contribution_;
    std::array<std::uint64_t, BUCKETS> histogram_{};  // of the edges passed in the round
};

}  // namespace manyclass

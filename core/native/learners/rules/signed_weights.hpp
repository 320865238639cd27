// Postings whose edges hold signed weights, in no particular order but that settled ones come first
// (edge_budget.hpp). A full row keeps its heaviest edges: a new edge replaces the lightest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "learners/rules/edge_contribution.hpp"
#include "learners/rules/step_edges.hpp"
#include "storage/class_search.hpp"
#include "storage/postings.hpp"

namespace manyclass {

constexpr double LARGEST_WEIGHT = 1e30;

class SignedWeights {
public:
    // `mass_is_settled`: the mass of a row is the number of its settled edges.
    // `new_edges` decides which edges `add` and `add_by_variance` make, all without it.
    SignedWeights(Postings& rows, std::uint32_t max_outdegree, bool mass_is_settled = true,
                  const NewEdges* new_edges = nullptr)
        : rows_(rows),
          most_(max_outdegree),
          mass_is_settled_(mass_is_settled),
          new_edges_(new_edges) {}

    // Add to the weight of feature -> cls. An edge without weight is removed.
    void add(std::uint32_t feature, std::uint32_t cls, double gain) {
        Row& row = rows_[feature];
        const Postings::Edges edge = rows_.edges(row);
        const std::uint32_t at = class_search(cls, edge.classes, row.outdegree);
        if (at == row.outdegree) {
            make(row, cls, bounded(gain), 1);
            return;
        }
        move_weight(row, at, gain);
    }

    // Add to the weights of feature -> the class of each step, as `add` does for one after the other.
    void add_each(std::uint32_t feature, StepEdges& step_edges, double value) {
        Row& row = rows_[feature];
        bool is_found = step_edges.is_faster(row.outdegree);  // until an edge of the row moves
        if (is_found) step_edges.find(rows_.edges(row).classes, row.outdegree);
        for (std::size_t i = 0; i < step_edges.steps().size(); ++i) {
            const Step& step = step_edges.steps()[i];
            const double gain = step.gain * value;
            if (!is_found) {
                add(feature, step.cls, gain);
            } else if (const std::uint32_t at = step_edges[i]; at == StepEdges::NONE) {
                is_found = row.outdegree < most_;
                make(row, step.cls, bounded(gain), 1);
            } else {
                is_found = move_weight(row, at, gain);
            }
        }
    }

    // AROW's step for one weight: the weight moves by `gain` times its variance, and the variance
    // (1 for a new edge) shrinks by `certainty` times its square.
    void add_by_variance(std::uint32_t feature, std::uint32_t cls, double gain, double certainty) {
        Row& row = rows_[feature];
        const Postings::Edges edge = rows_.edges(row);
        const std::uint32_t at = class_search(cls, edge.classes, row.outdegree);
        const bool is_new = at == row.outdegree;
        const double variance = is_new ? 1.0 : static_cast<double>(edge.variances[at]);
        const auto left = static_cast<float>(variance - certainty * variance * variance);
        const double weight = is_new ? 0.0 : static_cast<double>(edge.masses[at]);
        const float moved = bounded(weight + gain * variance);
        if (is_new) {
            make(row, cls, moved, std::max(left, SMALLEST_MASS));
            return;
        }
        edge.masses[at] = moved;
        edge.variances[at] = std::max(left, SMALLEST_MASS);
        if (!is_something(moved)) remove(row, at);
    }

    double variance(std::uint32_t feature, std::uint32_t cls) const {
        const Row& row = rows_[feature];
        const auto edge = static_cast<const Postings&>(rows_).edges(row);
        const std::uint32_t at = class_search(cls, edge.classes, row.outdegree);
        return at == row.outdegree ? 1.0 : static_cast<double>(edge.variances[at]);
    }

    // OOZ: reduce the weight of feature -> cls by at most `most`; return the reduction.
    double take(std::uint32_t feature, std::uint32_t cls, double most) {
        Row& row = rows_[feature];
        const Postings::Edges edge = rows_.edges(row);
        const std::uint32_t at = class_search(cls, edge.classes, row.outdegree);
        if (at == row.outdegree) return 0;
        const auto before = static_cast<double>(edge.masses[at]);
        const auto left = static_cast<float>(before - std::min(most, before));
        edge.masses[at] = left;
        if (is_something(left)) return before - static_cast<double>(left);
        remove(row, at);
        return before;
    }

    // OOZ: add at most `most` to feature -> cls, rounded down to single precision; return the gain
    // of the row, less the weight of a replaced edge.
    double give(std::uint32_t feature, std::uint32_t cls, double most) {
        Row& row = rows_[feature];
        const Postings::Edges edge = rows_.edges(row);
        const std::uint32_t at = class_search(cls, edge.classes, row.outdegree);
        const bool is_new = at == row.outdegree;
        const double before = is_new ? 0.0 : static_cast<double>(edge.masses[at]);
        auto after = static_cast<float>(before + most);
        if (static_cast<double>(after) > before + most) after = std::nextafterf(after, 0.0f);
        if (is_new) return static_cast<double>(after) - insert(row, cls, after, 1);
        edge.masses[at] = after;
        return static_cast<double>(after) - before;
    }

    // Remove edges lighter than `least`, and equal ones beyond the first `equals`.
    void keep_heaviest(Row& row, float least, std::uint64_t& equals) {
        for (std::uint32_t at = 0; at < row.outdegree;) {
            const float weight = std::fabs(rows_.edges(row).masses[at]);
            if (weight > least || (weight == least && equals > 0)) {
                equals -= weight == least;
                ++at;
            } else {
                remove(row, at);
            }
        }
    }

    // Remove the edge at this index; the last edge of the row moves there. If the edge was settled,
    // the last settled edge moves there, and the last edge moves to where that one was.
    void remove(Row& row, std::uint32_t at) {
        if (mass_is_settled_ && at < row.mass) {
            row.mass -= 1;
            const auto last_settled = static_cast<std::uint32_t>(row.mass);
            copy(row, last_settled, at);
            at = last_settled;
        }
        copy(row, row.outdegree - 1u, at);
        rows_.drop_last(row);
        rows_.shrink(row);
    }

    // Weights are finite under all options.
    static float bounded(double weight) {
        return static_cast<float>(std::max(-LARGEST_WEIGHT, std::min(weight, LARGEST_WEIGHT)));
    }

    static bool is_something(float weight) { return std::fabs(weight) >= SMALLEST_MASS; }

private:
    // Add to the weight of an edge; remove the edge and return false if it has no weight left.
    bool move_weight(Row& row, std::uint32_t at, double gain) {
        float& mass = rows_.edges(row).masses[at];
        mass = bounded(static_cast<double>(mass) + gain);
        if (is_something(mass)) return true;
        remove(row, at);
        return false;
    }

    void copy(Row& row, std::uint32_t from, std::uint32_t to) {
        const Postings::Edges edge = rows_.edges(row);
        edge.classes[to] = edge.classes[from];
        edge.masses[to] = edge.masses[from];
        if (rows_.has_variances()) edge.variances[to] = edge.variances[from];
    }

    // Add an edge, unless it is refused.
    void make(Row& row, std::uint32_t cls, float weight, float variance) {
        if (new_edges_ == nullptr || new_edges_->admit(row, cls, weight))
            insert(row, cls, weight, variance);
    }

    // Add an edge. In a full row it replaces the lightest edge (the first of equal ones) if it is
    // heavier. Return the weight lost, of the replaced edge or of the new one.
    double insert(Row& row, std::uint32_t cls, float weight, float variance) {
        if (!is_something(weight)) return static_cast<double>(weight);
        double lost = 0;
        while (row.outdegree > most_) lost += remove_lightest(row);  // the limit was lowered
        if (row.outdegree == most_) {
            const std::uint32_t at = lightest(row);
            const float least = rows_.edges(row).masses[at];
            if (!(std::fabs(weight) > std::fabs(least))) return lost + static_cast<double>(weight);
            lost += remove_lightest(row);
        }
        rows_.append(row, cls, weight);
        if (rows_.has_variances()) rows_.edges(row).variances[row.outdegree - 1] = variance;
        return lost;
    }

    double remove_lightest(Row& row) {
        const std::uint32_t at = lightest(row);
        const auto lost = static_cast<double>(rows_.edges(row).masses[at]);
        remove(row, at);
        return lost;
    }

    // Return the index of the lightest edge, the first of equal ones. Sizes are compared by their
    // bits, which have the same order: a compiler makes vector instructions of that.
    std::uint32_t lightest(Row& row) {
        constexpr std::uint32_t BLOCK = 32;
        const float* const masses = rows_.edges(row).masses;
        std::int32_t least = std::numeric_limits<std::int32_t>::max();
        std::uint32_t lightest = 0;
        for (std::uint32_t begin = 0; begin < row.outdegree; begin += BLOCK) {
            const std::uint32_t end = std::min<std::uint32_t>(begin + BLOCK, row.outdegree);
            std::int32_t here = least;
            for (std::uint32_t at = begin; at < end; ++at)
                here = std::min(here, size_bits(masses[at]));
            if (here < least) {
                least = here;
                lightest = begin;
            }
        }
        while (size_bits(masses[lightest]) != least) ++lightest;
        return lightest;
    }

    static std::int32_t size_bits(float mass) {
        std::int32_t bits;
        std::memcpy(&bits, &mass, sizeof bits);
        return bits & std::numeric_limits<std::int32_t>::max();
    }

    Postings& rows_;
    const std::uint32_t most_;
    const bool mass_is_settled_;
    const NewEdges* const new_edges_;
};

}  // namespace manyclass

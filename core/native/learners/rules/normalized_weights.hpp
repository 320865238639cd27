// Postings whose edges share the feature mass: an edge's weight is its mass over the row's. Edges
// are sorted heaviest first, so that scoring reads the first and dropping removes the last.
#pragma once

#include <algorithm>
#include <cstdint>

#include "storage/class_search.hpp"
#include "storage/postings.hpp"

namespace manyclass {

constexpr double LARGEST_MASS = 1 << 16;  // single precision loses updates below 0.004
constexpr double LARGEST_SCALE = 1LL << 40;

class NormalizedWeights {
public:
    // Edges with a weight below `min_weight` are dropped; with `leak` their mass stays in the row.
    // A row with more mass than `mass_cap` (0: LARGEST_MASS) is halved.
    NormalizedWeights(Postings& postings, double min_weight, double mass_cap, bool leak)
        : rows_(postings),
          min_weight_(min_weight),
          mass_cap_(mass_cap > 0 ? std::min(mass_cap, LARGEST_MASS) : LARGEST_MASS),
          leak_(leak) {}

    // FSU (section 3.2): strengthen feature -> cls by value, which weakens the row's other edges.
    void strengthen(std::uint32_t feature, std::uint32_t cls, float value) {
        if (!(value >= SMALLEST_MASS)) return;
        Row& row = rows_[feature];
        const double gained = add(row, cls, value);
        // The gain of the edge instead of the value: rounding cannot separate the two masses.
        row.mass += gained;
        while (last_is_light(row)) drop_last(row);
        if (row.mass > mass_cap_) halve(row);
        rows_.shrink(row);
    }

    // EMA: every weight of the row shrinks by `step`, from 0 to 1, and feature -> cls gains it.
    // The row's mass is the scale of its masses: dividing it weakens all edges at once.
    void average(std::uint32_t feature, std::uint32_t cls, double step) {
        Row& row = rows_[feature];
        if (step >= 1) {  // the old edges vanish
            while (row.outdegree > 0) rows_.drop_last(row);
            row.mass = 0;
            step = 1;
        }
        row.mass = row.mass == 0 ? 1 : row.mass / (1 - step);
        const auto value = static_cast<float>(row.mass * step);
        if (value >= SMALLEST_MASS) add(row, cls, value);
        while (row.mass > LARGEST_SCALE) rescale(row);
        while (last_is_light(row) || last_is_nothing(row)) rows_.drop_last(row);
        rows_.shrink(row);
    }

private:
    // Add to a new or present edge and move it up; return the gain of its mass.
    [[gnu::always_inline]] double add(Row& row, std::uint32_t cls, float value) {
        Postings::Edges edge = rows_.edges(row);
        std::uint32_t at = class_search(cls, edge.classes, row.outdegree);
        if (at == row.outdegree) {
            if (row.outdegree == LONGEST_ROW) {
                drop_last(row);
                --at;
            }
            rows_.append(row, cls, 0);
            edge = rows_.edges(row);
        }
        const float before = edge.masses[at], mass = before + value;
        const std::uint32_t from = at;
        if (at > 0 && edge.masses[at - 1] < mass)
            at = static_cast<std::uint32_t>(
                std::partition_point(edge.masses, edge.masses + at,
                                     [mass](float heavier) { return heavier >= mass; }) -
                edge.masses);
        if (edge.masses[at] != before)  // else all of them are equal
            std::copy_backward(edge.masses + at, edge.masses + from, edge.masses + from + 1);
        std::copy_backward(edge.classes + at, edge.classes + from, edge.classes + from + 1);
        edge.masses[at] = mass;
        edge.classes[at] = cls;
        return static_cast<double>(mass) - static_cast<double>(before);
    }

    float last(Row& row) { return rows_.edges(row).masses[row.outdegree - 1]; }

    bool last_is_light(Row& row) {
        return row.outdegree > 0 && static_cast<double>(last(row)) / row.mass < min_weight_;
    }

    bool last_is_nothing(Row& row) { return row.outdegree > 0 && last(row) < SMALLEST_MASS; }

    void drop_last(Row& row) {
        const double lost = static_cast<double>(last(row));
        rows_.drop_last(row);
        if (leak_) return;
        row.mass -= lost;
        if (row.outdegree == 0) row.mass = 0;
    }

    void halve(Row& row) {
        const Postings::Edges edge = rows_.edges(row);
        while (row.mass > mass_cap_) {
            row.mass *= 0.5;
            for (std::uint32_t at = 0; at < row.outdegree; ++at) edge.masses[at] *= 0.5f;
        }
        while (last_is_nothing(row)) drop_last(row);
    }

    void rescale(Row& row) {
        constexpr double SMALLER = 1 / LARGEST_SCALE;  // a power of two: no rounding
        const Postings::Edges edge = rows_.edges(row);
        row.mass *= SMALLER;
        for (std::uint32_t at = 0; at < row.outdegree; ++at)
            edge.masses[at] *= static_cast<float>(SMALLER);
    }

    Postings& rows_;
    const double min_weight_, mass_cap_;
    const bool leak_;
};

}  // namespace manyclass

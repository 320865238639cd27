// The rows of the index: one per feature, its counters and its edges, heaviest first.
//
//   rows_    [ mass | at | times seen | last seen | outdegree | size class ]      24 bytes, by feature id
//                      |
//   cells_   ...[ c3 c7 c1 .  m3 m7 m1 . ]...    a block: class ids, then masses, as many of each as
//                                                its size class holds (here 4, of which 3 are used)
//
// A cell is the 8 bytes of one edge: half of the block's cells hold ids two by two, half masses.
// A row that outgrows its block moves to one of the next size class; the old one waits in a free
// list of its class. When a quarter of the cells is free, all blocks are packed anew.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "arena.hpp"

namespace manyclass {

constexpr std::uint32_t LONGEST_ROW = 65535;
constexpr double LARGEST_MASS = 1 << 16;  // single precision would swallow updates below 0.004
// Lighter than this a mass is none: whether numbers below it exist at all is up to the processor's
// mode, which any library in the process may set.
constexpr float SMALLEST_MASS = std::numeric_limits<float>::min();

// Capacities of the size classes: 0, 1, 2, ... 8, then four to an octave, up to LONGEST_ROW.
struct SizeClasses {
    std::array<std::uint32_t, 64> capacity{};
    int count = 0;
    constexpr SizeClasses() {
        for (std::uint32_t size = 0; size <= 8; ++size) capacity[count++] = size;
        for (std::uint32_t octave = 8; octave < LONGEST_ROW; octave *= 2)
            for (std::uint32_t step = 1; step <= 4; ++step) {
                const std::uint32_t size = octave + octave / 4 * step;
                capacity[count++] = size < LONGEST_ROW ? size : LONGEST_ROW;
            }
    }
    constexpr int at_least(std::uint32_t edges) const {
        int which = 0;
        while (capacity[which] < edges) ++which;
        return which;
    }
};
inline constexpr SizeClasses SIZE_CLASSES{};

struct Row {
    double mass = 0;              // the feature mass w'[f]
    std::uint32_t at = 0;         // its block's first cell
    std::uint32_t times_seen = 0;
    std::uint32_t last_seen = 0;  // the learn count's low 32 bits when it was last active in learning
    std::uint16_t outdegree = 0;
    std::uint8_t size_class = 0;
};
static_assert(sizeof(Row) == 24);

// What an update does beside adding.
struct UpdateRule {
    double min_weight;
    double memory;  // the most feature mass a row keeps
    bool leak;
};

class Rows {
public:
    struct Edges {
        std::uint32_t* classes;
        float* masses;
    };
    struct ConstEdges {
        const std::uint32_t* classes;
        const float* masses;
    };

    std::uint32_t end() const { return static_cast<std::uint32_t>(rows_.size()); }
    std::uint64_t edges() const { return edges_; }
    Row& operator[](std::uint32_t feature) { return rows_[feature]; }
    const Row& operator[](std::uint32_t feature) const { return rows_[feature]; }

    void prefetch(std::uint32_t feature) const { __builtin_prefetch(&rows_[feature]); }
    void prefetch_edges(const Row& row, std::uint32_t wanted) const {
        const char* ids = reinterpret_cast<const char*>(cells_.data() + row.at);
        const char* masses = ids + capacity(row) * 4;
        const std::uint32_t bytes = std::min<std::uint32_t>(row.outdegree, wanted) * 4;
        for (std::uint32_t at = 0; at < bytes; at += 64) {
            __builtin_prefetch(ids + at);
            __builtin_prefetch(masses + at);
        }
    }

    ConstEdges edges(const Row& row) const {
        const auto* ids = reinterpret_cast<const std::uint32_t*>(cells_.data() + row.at);
        return {ids, reinterpret_cast<const float*>(ids + capacity(row))};
    }

    // Where a class stands among the first `count` of a row; `count` when it is not there.
    static std::uint32_t place_of(std::uint32_t cls, const std::uint32_t* classes,
                                  std::uint32_t count) {
        std::uint32_t at = 0;
        while (at < count && classes[at] != cls) ++at;
        return at;
    }

    // Make the row of this id (one past the end, or one that was freed) an empty one.
    void start(std::uint32_t feature) {
        if (feature == rows_.size()) rows_.append(Row{});
        rows_[feature] = Row{};
    }

    void clear(std::uint32_t feature) {
        Row& row = rows_[feature];
        edges_ -= row.outdegree;
        release(row);
        row = Row{};
        pack_if_sparse();
    }

    // Feature-space update: strengthen feature -> cls by value, weaken the others, drop the light.
    void update(std::uint32_t feature, std::uint32_t cls, float value, const UpdateRule& rule) {
        if (!(value >= SMALLEST_MASS)) return;
        Row& row = rows_[feature];
        Edges edge = edges(row);
        std::uint32_t at = place_of(cls, edge.classes, row.outdegree);
        if (at == row.outdegree) {
            if (row.outdegree == LONGEST_ROW) {
                at = LONGEST_ROW - 1;
                drop_last(row, edge, rule.leak);
            }
            if (row.outdegree == capacity(row)) {
                grow(row);
                edge = edges(row);
            }
            edge.classes[at] = cls;
            edge.masses[at] = 0;
            ++row.outdegree;
            ++edges_;
        }
        const float before = edge.masses[at], mass = before + value;
        for (; at > 0 && edge.masses[at - 1] < mass; --at) {
            edge.masses[at] = edge.masses[at - 1];
            edge.classes[at] = edge.classes[at - 1];
        }
        edge.masses[at] = mass;
        edge.classes[at] = cls;
        // what the edge gained, not the value: so the two masses cannot drift apart by rounding
        row.mass += static_cast<double>(mass) - static_cast<double>(before);
        while (row.outdegree > 0 &&
               static_cast<double>(edge.masses[row.outdegree - 1]) / row.mass < rule.min_weight)
            drop_last(row, edge, rule.leak);
        if (row.mass > rule.memory) halve(row, edge, rule);
        shrink(row);
    }

    // Take the edges to the classes marked in `doomed` out of every row, and their mass with them.
    void forget_classes(const std::vector<bool>& doomed) {
        for (std::uint32_t feature = 0; feature < end(); ++feature) {
            Row& row = rows_[feature];
            Edges edge = edges(row);
            std::uint32_t kept = 0;
            double left = 0;
            for (std::uint32_t at = 0; at < row.outdegree; ++at) {
                if (doomed[edge.classes[at]]) {
                    row.mass -= static_cast<double>(edge.masses[at]);
                    continue;
                }
                left += static_cast<double>(edge.masses[at]);
                edge.classes[kept] = edge.classes[at];
                edge.masses[kept++] = edge.masses[at];
            }
            if (kept == row.outdegree) continue;
            edges_ -= row.outdegree - kept;
            row.outdegree = static_cast<std::uint16_t>(kept);
            row.mass = kept == 0 ? 0 : std::max(row.mass, left);  // rounding lifts no weight over 1
            shrink(row);
        }
        pack_if_sparse();
    }

    // A row as it was dumped, for the id one past the end.
    void load(const Row& counters, const std::uint32_t* classes, const float* masses) {
        rows_.append(counters);
        Row& row = rows_[rows_.size() - 1];
        row.size_class = static_cast<std::uint8_t>(SIZE_CLASSES.at_least(row.outdegree));
        row.at = extend(capacity(row));
        const Edges edge = edges(row);
        std::copy_n(classes, row.outdegree, edge.classes);
        std::copy_n(masses, row.outdegree, edge.masses);
        edges_ += row.outdegree;
    }

    std::size_t resident_bytes() const {
        std::size_t lists = 0;
        for (const auto& list : free_) lists += list.capacity() * sizeof(std::uint32_t);
        return rows_.resident_bytes() + cells_.resident_bytes() + lists;
    }

private:
    static std::uint32_t capacity(const Row& row) { return SIZE_CLASSES.capacity[row.size_class]; }

    Edges edges(const Row& row) {
        auto* ids = reinterpret_cast<std::uint32_t*>(cells_.data() + row.at);
        return {ids, reinterpret_cast<float*>(ids + capacity(row))};
    }

    void drop_last(Row& row, const Edges& edge, bool leak) {
        --row.outdegree;
        --edges_;
        if (!leak) row.mass -= static_cast<double>(edge.masses[row.outdegree]);
        if (row.outdegree == 0 && !leak) row.mass = 0;
    }

    void halve(Row& row, const Edges& edge, const UpdateRule& rule) {
        while (row.mass > rule.memory) {
            row.mass *= 0.5;
            for (std::uint32_t at = 0; at < row.outdegree; ++at) edge.masses[at] *= 0.5f;
        }
        while (row.outdegree > 0 && edge.masses[row.outdegree - 1] < SMALLEST_MASS)
            drop_last(row, edge, rule.leak);
    }

    void grow(Row& row) { move(row, row.size_class + 1); }

    // A row that lost half of its edges gives room back, with slack so that it does not swing.
    void shrink(Row& row) {
        if (row.outdegree * 2u < capacity(row))
            move(row, SIZE_CLASSES.at_least(row.outdegree + row.outdegree / 4));
    }

    void move(Row& row, int size_class) {
        Row moved = row;
        moved.size_class = static_cast<std::uint8_t>(size_class);
        moved.at = allocate(size_class);
        const Edges from = edges(row), to = edges(moved);
        std::copy_n(from.classes, row.outdegree, to.classes);
        std::copy_n(from.masses, row.outdegree, to.masses);
        release(row);
        row = moved;
        pack_if_sparse();
    }

    std::uint32_t allocate(int size_class) {
        auto& list = free_[size_class];
        const std::uint32_t cells = SIZE_CLASSES.capacity[size_class];
        if (list.empty()) return extend(cells);
        const std::uint32_t at = list.back();
        list.pop_back();
        free_cells_ -= cells;
        return at;
    }

    std::uint32_t extend(std::uint32_t cells) {
        if (cells_.size() + cells > 0xffffffffu) throw std::bad_alloc();  // 32 GiB of edges
        return static_cast<std::uint32_t>(cells_.extend(cells));
    }

    void release(const Row& row) {
        if (row.size_class == 0) return;
        free_[row.size_class].push_back(row.at);
        free_cells_ += capacity(row);
    }

    void pack_if_sparse() {
        if (cells_.size() < 65536 || free_cells_ < cells_.size() / 4) return;
        Arena<std::uint64_t> packed;
        packed.reserve(cells_.size() - free_cells_ + (cells_.size() - free_cells_) / 8);
        for (std::size_t feature = 0; feature < rows_.size(); ++feature) {
            Row& row = rows_[feature];
            const std::size_t at = packed.extend(capacity(row));
            std::copy_n(cells_.data() + row.at, capacity(row), packed.data() + at);
            row.at = static_cast<std::uint32_t>(at);
        }
        cells_.swap(packed);
        for (auto& list : free_) std::vector<std::uint32_t>().swap(list);
        free_cells_ = 0;
    }

    Arena<Row> rows_;
    Arena<std::uint64_t> cells_;
    std::array<std::vector<std::uint32_t>, 64> free_;
    std::size_t free_cells_ = 0;
    std::uint64_t edges_ = 0;
};

}  // namespace manyclass

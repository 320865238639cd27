// The rows of the index: one per feature, its counters and its edges. What the numbers mean, and in
// which order edges stand, is up to the learner (shares.hpp, weights.hpp).
//
//   rows_    [ mass | at | times seen | last seen | outdegree | size class ]      24 bytes, by feature id
//                      |
//   cells_   ...[ c3 c7 c1 .  m3 m7 m1 . ]...    a block: class ids, then masses, as many of each as
//                                                its size class holds (here 4, of which 3 are used);
//                                                a third run, of variances, if the learner has them
//
// A cell is 4 bytes. A row that outgrows its block moves to one of the next size class; the old one
// waits in a free list of its class. When a quarter of the cells is free, all blocks are packed anew.
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
// Cells are addressed by 32 bits. A test builds with fewer.
#ifdef MANYCLASS_TEST_CELLS
constexpr std::uint64_t MOST_CELLS = MANYCLASS_TEST_CELLS;
#else
constexpr std::uint64_t MOST_CELLS = 0xffffffffu;
#endif
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
    double mass = 0;              // the feature mass w'[f], or what another learner keeps of it
    std::uint32_t at = 0;         // its block's first cell
    std::uint32_t times_seen = 0;
    std::uint32_t last_seen = 0;  // the learn count's low 32 bits when it was last active in learning
    std::uint16_t outdegree = 0;
    std::uint8_t size_class = 0;
};
static_assert(sizeof(Row) == 24);

class Rows {
public:
    struct Edges {
        std::uint32_t* classes;
        float* masses;
        float* variances;  // nothing to read if the rows have none
    };
    struct ConstEdges {
        const std::uint32_t* classes;
        const float* masses;
        const float* variances;
    };

    explicit Rows(bool has_variances) : runs_(has_variances ? 3 : 2) {}

    bool has_variances() const { return runs_ == 3; }

    std::uint32_t end() const { return static_cast<std::uint32_t>(rows_.size()); }
    std::uint64_t edges() const { return edges_; }

    // Edges that an index may have between events. Blocks have room for at most twice the edges of
    // their rows, and less than a quarter of all cells is free: this many edges take two thirds of
    // the cells, and one event has the rest to grow in.
    std::uint64_t most_edges() const { return MOST_CELLS / (4 * runs_); }
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
        const auto* masses = reinterpret_cast<const float*>(ids + capacity(row));
        return {ids, masses, masses + capacity(row)};
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

    // The edges of a row, to change in place.
    Edges edges(Row& row) {
        auto* ids = reinterpret_cast<std::uint32_t*>(cells_.data() + row.at);
        auto* masses = reinterpret_cast<float*>(ids + capacity(row));
        return {ids, masses, masses + capacity(row)};
    }

    // One more edge, at the end of a row that is shorter than LONGEST_ROW.
    void append(Row& row, std::uint32_t cls, float mass) {
        if (row.outdegree == capacity(row)) move(row, row.size_class + 1);
        const Edges edge = edges(row);
        edge.classes[row.outdegree] = cls;
        edge.masses[row.outdegree] = mass;
        if (has_variances()) edge.variances[row.outdegree] = 1;
        ++row.outdegree;
        ++edges_;
    }

    // Take away the last edge; `shrink` gives back the room it leaves.
    void drop_last(Row& row) {
        --row.outdegree;
        --edges_;
    }

    // A row that lost half of its edges gives room back, with slack so that it does not swing.
    void shrink(Row& row) {
        if (row.outdegree * 2u < capacity(row))
            move(row, SIZE_CLASSES.at_least(row.outdegree + row.outdegree / 4));
    }

    // Take the edges to the classes marked in `doomed` out of every row. `settle` hears of each row
    // that lost some: the row, its mass without theirs, and the sum of the masses that are left.
    template <class F>
    void forget_classes(const std::vector<bool>& doomed, F&& settle) {
        for (std::uint32_t feature = 0; feature < end(); ++feature) {
            Row& row = rows_[feature];
            Edges edge = edges(row);
            std::uint32_t kept = 0;
            double without = row.mass, left = 0;
            for (std::uint32_t at = 0; at < row.outdegree; ++at) {
                if (doomed[edge.classes[at]]) {
                    without -= static_cast<double>(edge.masses[at]);
                    continue;
                }
                left += static_cast<double>(edge.masses[at]);
                edge.classes[kept] = edge.classes[at];
                if (has_variances()) edge.variances[kept] = edge.variances[at];
                edge.masses[kept++] = edge.masses[at];
            }
            if (kept == row.outdegree) continue;
            edges_ -= row.outdegree - kept;
            row.outdegree = static_cast<std::uint16_t>(kept);
            settle(row, without, left);
            shrink(row);
        }
        pack_if_sparse();
    }

    // A row as it was dumped, for the id one past the end.
    void load(const Row& counters, const std::uint32_t* classes, const float* masses,
              const float* variances) {
        rows_.append(counters);
        Row& row = rows_[rows_.size() - 1];
        row.size_class = static_cast<std::uint8_t>(SIZE_CLASSES.at_least(row.outdegree));
        row.at = extend(cells(row.size_class));
        const Edges edge = edges(row);
        std::copy_n(classes, row.outdegree, edge.classes);
        std::copy_n(masses, row.outdegree, edge.masses);
        if (has_variances()) std::copy_n(variances, row.outdegree, edge.variances);
        edges_ += row.outdegree;
    }

    std::size_t resident_bytes() const {
        std::size_t lists = 0;
        for (const auto& list : free_) lists += list.capacity() * sizeof(std::uint32_t);
        return rows_.resident_bytes() + cells_.resident_bytes() + lists;
    }

private:
    static std::uint32_t capacity(const Row& row) { return SIZE_CLASSES.capacity[row.size_class]; }
    std::uint32_t cells(int size_class) const { return SIZE_CLASSES.capacity[size_class] * runs_; }

    void move(Row& row, int size_class) {
        Row moved = row;
        moved.size_class = static_cast<std::uint8_t>(size_class);
        moved.at = allocate(size_class);
        const Edges from = edges(row), to = edges(moved);
        std::copy_n(from.classes, row.outdegree, to.classes);
        std::copy_n(from.masses, row.outdegree, to.masses);
        if (has_variances()) std::copy_n(from.variances, row.outdegree, to.variances);
        release(row);
        row = moved;
        pack_if_sparse();
    }

    std::uint32_t allocate(int size_class) {
        auto& list = free_[size_class];
        if (list.empty()) return extend(cells(size_class));
        const std::uint32_t at = list.back();
        list.pop_back();
        free_cells_ -= cells(size_class);
        return at;
    }

    std::uint32_t extend(std::uint32_t cells) {
        if (cells_.size() + cells > MOST_CELLS) throw std::bad_alloc();  // see most_edges
        return static_cast<std::uint32_t>(cells_.extend(cells));
    }

    void release(const Row& row) {
        if (row.size_class == 0) return;
        free_[row.size_class].push_back(row.at);
        free_cells_ += cells(row.size_class);
    }

    void pack_if_sparse() {
        if (cells_.size() < 131072 || free_cells_ < cells_.size() / 4) return;
        Arena<std::uint32_t> packed;
        const std::size_t used = cells_.size() - free_cells_;
        if (!packed.try_reserve(used + used / 8)) return;  // it can wait
        for (std::size_t feature = 0; feature < rows_.size(); ++feature) {
            Row& row = rows_[feature];
            const std::size_t at = packed.extend(cells(row.size_class));
            std::copy_n(cells_.data() + row.at, cells(row.size_class), packed.data() + at);
            row.at = static_cast<std::uint32_t>(at);
        }
        cells_.swap(packed);
        for (auto& list : free_) std::vector<std::uint32_t>().swap(list);
        free_cells_ = 0;
    }

    const std::uint32_t runs_;
    Arena<Row> rows_;
    Arena<std::uint32_t> cells_;
    std::array<std::vector<std::uint32_t>, 64> free_;
    std::size_t free_cells_ = 0;
    std::uint64_t edges_ = 0;
};

}  // namespace manyclass

// Postings: a row for each feature, with its counters and its edges to classes. The learner defines
// the meaning of the numbers and the order of the edges.
//
//   rows_    [ mass | at | times seen | last seen | outdegree | size class | half ]
//                      |                                        24 bytes, by feature id
//                      |
//   cells_   ...[ c3 c7 c1 .  m3 m7 m1 . ]...    a block: class ids, then masses, as many of each as
//                                                its size class holds (here 4, of which 3 are used);
//                                                a third run, of variances, if the learner has them
//
// A cell is 4 bytes. A row that outgrows its block moves to one of the next size class; the old one
// is linked into a free list of its class. When a quarter of the cells is free, all blocks move to
// the other half of the cells (moving.hpp), some of them with each block that is freed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "snapshot/visitor.hpp"
#include "storage/arena.hpp"
#include "storage/fetch_ahead.hpp"
#include "storage/moving.hpp"

namespace manyclass {

constexpr std::uint32_t LONGEST_ROW = 65535;
constexpr std::size_t OUTDEGREES = 1001;  // that are counted one by one
using Outdegrees = std::array<std::uint64_t, OUTDEGREES>;
// Cells are addressed by 32 bits. A test builds with fewer.
#ifdef MANYCLASS_TEST_CELLS
constexpr std::uint64_t MOST_CELLS = MANYCLASS_TEST_CELLS;
#else
constexpr std::uint64_t MOST_CELLS = 0xffffffffu;
#endif
// A lighter mass counts as 0: any library in the process may set a mode of the processor that drops
// subnormal numbers.
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
    double mass = 0;              // the feature mass w'[f], or a number of the learner's own
    std::uint32_t at = 0;         // its block's first cell
    std::uint32_t times_seen = 0;
    std::uint32_t last_seen = 0;  // the learn count's low 32 bits when it was last active in learning
    std::uint16_t outdegree = 0;
    std::uint8_t size_class = 0;
    std::uint8_t half = 0;        // of the cells, in which its block is
};
static_assert(sizeof(Row) == 24);

class Postings {
public:
    struct Edges {
        std::uint32_t* classes;
        float* masses;
        float* variances;  // not readable if the rows have none
    };
    struct ConstEdges {
        const std::uint32_t* classes;
        const float* masses;
        const float* variances;
    };

    struct Runs {  // of a snapshot
        std::uint64_t edges;
        Run<double> mass;
        Run<std::uint32_t> times_seen, last_seen;
        Run<std::uint16_t> outdegrees;
        Run<std::uint32_t> classes;
        Run<float> masses, variances;
    };

    Postings() { free_.fill(NO_BLOCK); }

    // Give each edge a variance. Call this before the first edge.
    void add_variances() { runs_ = 3; }
    bool has_variances() const { return runs_ == 3; }

    std::uint32_t end() const { return static_cast<std::uint32_t>(rows_.size()); }
    std::uint64_t edges() const { return edges_; }

    // Edges that an index may have between events. Blocks have room for at most twice the edges of
    // their rows, and less than a quarter of all cells is free: this many edges take two
    // thirds of the cells, and one event has the rest to grow in.
    std::uint64_t most_edges() const { return MOST_CELLS / (4 * runs_); }
    Row& operator[](std::uint32_t feature) { return rows_[feature]; }
    const Row& operator[](std::uint32_t feature) const { return rows_[feature]; }

    // The numbers of rows, free ids included, with 0, 1, ... edges; the last: that many or more.
    const Outdegrees& outdegrees() const { return outdegrees_; }

    void prefetch(std::uint32_t feature) const { __builtin_prefetch(&rows_[feature]); }
    void prefetch_edges(const Row& row, std::uint32_t wanted) const {
        const char* ids = reinterpret_cast<const char*>(cells_.data(row.half) + row.at);
        const char* masses = ids + capacity(row) * 4;
        const std::uint32_t bytes = std::min<std::uint32_t>(row.outdegree, wanted) * 4;
        for (std::uint32_t at = 0; at < bytes; at += 64) {
            fetch_ahead(ids + at);
            fetch_ahead(masses + at);
        }
    }

    ConstEdges edges(const Row& row) const {
        const auto* ids = reinterpret_cast<const std::uint32_t*>(cells_.data(row.half) + row.at);
        const auto* masses = reinterpret_cast<const float*>(ids + capacity(row));
        return {ids, masses, masses + capacity(row)};
    }

    // Make an empty row for this id, which is one past the end or was freed.
    void start(std::uint32_t feature) {
        if (feature == rows_.size()) {
            rows_.append(Row{});
            ++outdegrees_[0];
        }
        rows_[feature] = Row{};
    }

    void clear(std::uint32_t feature) {
        Row& row = rows_[feature];
        set_outdegree(row, 0);
        const Row old = row;
        row = Row{};
        release(old);
    }

    // The edges of a row, to change in place.
    Edges edges(Row& row) {
        auto* ids = reinterpret_cast<std::uint32_t*>(cells_.data(row.half) + row.at);
        auto* masses = reinterpret_cast<float*>(ids + capacity(row));
        return {ids, masses, masses + capacity(row)};
    }

    // Append an edge to a row that is shorter than LONGEST_ROW.
    void append(Row& row, std::uint32_t cls, float mass) {
        if (row.outdegree == capacity(row)) move(row, row.size_class + 1);
        const Edges edge = edges(row);
        edge.classes[row.outdegree] = cls;
        edge.masses[row.outdegree] = mass;
        if (has_variances()) edge.variances[row.outdegree] = 1;
        set_outdegree(row, row.outdegree + 1u);
        ++appended_;
    }

    // Remove the last edge; `shrink` releases its memory.
    void drop_last(Row& row) {
        set_outdegree(row, row.outdegree - 1u);
    }

    // Move a row that lost half of its edges to a smaller block, with slack against swinging.
    [[gnu::always_inline]] void shrink(Row& row) {
        if (row.outdegree * 2u < capacity(row))
            move(row, SIZE_CLASSES.at_least(row.outdegree + row.outdegree / 4));
    }

    // Remove the edges at the indices for which `gone` returns true; the others keep their order.
    template <class G>
    void remove_edges(Row& row, G&& gone) {
        const Edges edge = edges(row);
        std::uint32_t kept = 0;
        for (std::uint32_t at = 0; at < row.outdegree; ++at) {
            if (gone(at)) continue;
            if (kept < at) {
                edge.classes[kept] = edge.classes[at];
                edge.masses[kept] = edge.masses[at];
                if (has_variances()) edge.variances[kept] = edge.variances[at];
            }
            ++kept;
        }
        if (kept == row.outdegree) return;
        set_outdegree(row, kept);
        shrink(row);
    }

    std::uint64_t appended() const { return appended_; }  // edges since start; no state

    // Bytes of the edges by their number: the same for grown and loaded rows.
    std::uint64_t edge_bytes() const { return edges_ * (has_variances() ? 13 : 9); }

    // --- state ---------------------------------------------------------------------------------

    // `ids`: features, free ids included. The caller loads the rows, one after the other.
    Runs visit(SnapshotVisitor& visitor, std::uint64_t ids) const {
        Runs runs{};
        runs.mass = visitor.matching<double>("feature_mass", ids);
        runs.times_seen = visitor.matching<std::uint32_t>("feature_times_seen", ids);
        runs.last_seen = visitor.matching<std::uint32_t>("feature_last_seen", ids);
        runs.outdegrees = visitor.matching<std::uint16_t>("outdegrees", ids);
        runs.classes = visitor.run<std::uint32_t>("edge_classes", edges_);
        runs.edges = runs.classes.size;
        runs.masses = visitor.matching<float>("edge_masses", runs.edges);
        runs.variances =
            visitor.matching<float>("edge_variances", has_variances() ? runs.edges : 0);
        if (visitor.is_dumping()) dump(runs);
        return runs;
    }

    // Add the row of the next id, whose edges begin at `at` in the runs. Return the end of its
    // edges.
    std::uint64_t load(const Runs& runs, std::uint32_t feature, std::uint64_t at) {
        Row loaded;
        loaded.mass = runs.mass.data[feature];
        loaded.times_seen = runs.times_seen.data[feature];
        loaded.last_seen = runs.last_seen.data[feature];
        loaded.outdegree = runs.outdegrees.data[feature];
        need(runs.edges - at >= loaded.outdegree, "outdegrees", "edges are cut short");
        rows_.append(loaded);
        Row& row = rows_[rows_.size() - 1];
        give_block(row, SIZE_CLASSES.at_least(row.outdegree));
        const Edges edge = edges(row);
        std::copy_n(runs.classes.data + at, row.outdegree, edge.classes);
        std::copy_n(runs.masses.data + at, row.outdegree, edge.masses);
        if (has_variances()) std::copy_n(runs.variances.data + at, row.outdegree, edge.variances);
        edges_ += row.outdegree;
        ++outdegrees_[std::min<std::size_t>(row.outdegree, OUTDEGREES - 1)];
        return at + row.outdegree;
    }

    std::size_t resident_bytes() const { return rows_.resident_bytes() + cells_.resident_bytes(); }

private:
    void dump(const Runs& runs) const {
        std::uint64_t at = 0;
        for (std::uint32_t id = 0; id < end(); ++id) {
            const Row& row = rows_[id];
            runs.mass.data[id] = row.mass;
            runs.times_seen.data[id] = row.times_seen;
            runs.last_seen.data[id] = row.last_seen;
            runs.outdegrees.data[id] = row.outdegree;
            const ConstEdges edge = edges(row);
            std::copy_n(edge.classes, row.outdegree, runs.classes.data + at);
            std::copy_n(edge.masses, row.outdegree, runs.masses.data + at);
            if (has_variances())
                std::copy_n(edge.variances, row.outdegree, runs.variances.data + at);
            at += row.outdegree;
        }
    }

    static std::uint32_t capacity(const Row& row) { return SIZE_CLASSES.capacity[row.size_class]; }
    std::uint32_t cells(int size_class) const { return SIZE_CLASSES.capacity[size_class] * runs_; }

    void set_outdegree(Row& row, std::uint32_t outdegree) {
        --outdegrees_[std::min<std::size_t>(row.outdegree, OUTDEGREES - 1)];
        ++outdegrees_[std::min<std::size_t>(outdegree, OUTDEGREES - 1)];
        edges_ += outdegree;
        edges_ -= row.outdegree;
        row.outdegree = static_cast<std::uint16_t>(outdegree);
    }

    void move(Row& row, int size_class) {
        const Row old = row;
        copy_to(row, size_class);
        release(old);
    }

    // Move a row to a new block of this class.
    void copy_to(Row& row, int size_class) {
        Row moved = row;
        give_block(moved, size_class);
        const Edges from = edges(row), to = edges(moved);
        std::copy_n(from.classes, row.outdegree, to.classes);
        std::copy_n(from.masses, row.outdegree, to.masses);
        if (has_variances()) std::copy_n(from.variances, row.outdegree, to.variances);
        row = moved;
    }

    // Give a row a block of this class in the active half. Class 0 has no blocks: its rows point to
    // the begin of the cells, because any other address is lost when its half is released.
    void give_block(Row& row, int size_class) {
        row.size_class = static_cast<std::uint8_t>(size_class);
        row.half = size_class == 0 ? 0 : cells_.active();
        row.at = size_class == 0 ? 0 : allocate(size_class);
    }

    std::uint32_t allocate(int size_class) {
        std::uint32_t& first = free_[size_class];
        if (first == NO_BLOCK) return extend(cells(size_class));
        const std::uint32_t at = first;
        first = cells_.data(cells_.active())[at];
        free_cells_ -= cells(size_class);
        return at;
    }

    std::uint32_t extend(std::uint32_t cells) {
        if (cells_.size() + cells > MOST_CELLS) throw std::bad_alloc();  // see most_edges
        return static_cast<std::uint32_t>(cells_.extend(cells));
    }

    // Free the former block of a row and continue packing, which may move other blocks.
    void release(const Row& old) {
        if (old.size_class == 0) return;
        if (old.half == cells_.active()) {  // the other half goes as a whole
            cells_.data(old.half)[old.at] = free_[old.size_class];
            free_[old.size_class] = old.at;
            free_cells_ += cells(old.size_class);
        }
        pack_on(cells(old.size_class));
    }

    // Do a step of packing. All steps together move several times as much as was freed; after a
    // large block they are many, so that no event takes long.
    void pack_on(std::uint32_t freed) {
        constexpr std::int64_t PER_ROW = 8;  // the cost of a row beside its cells, in cells
        constexpr std::int64_t STEP = 1024, SHARE = 64;
        if (cells_.is_settled()) {
            if (cells_.size() < 131072 || free_cells_ < cells_.size() / 4) return;
            if (!cells_.begin_move(cells_.size() - free_cells_)) return;  // it can wait
            free_.fill(NO_BLOCK);
            free_cells_ = 0;
            packed_ = 0;
            owed_ = 0;
        }
        if (!cells_.is_moving()) {
            cells_.give_back();
            return;
        }
        owed_ += 8 * (freed + PER_ROW);
        std::int64_t left = std::min(owed_, std::max(STEP, owed_ / SHARE));
        owed_ -= left;
        for (; left > 0 && packed_ < rows_.size(); ++packed_) {
            if (packed_ + AHEAD < rows_.size()) prefetch_edges(rows_[packed_ + AHEAD], 1);
            Row& row = rows_[packed_];
            left -= PER_ROW;
            if (row.size_class == 0 || row.half == cells_.active()) continue;
            copy_to(row, row.size_class);
            left -= cells(row.size_class);
        }
        owed_ += left;  // a last row may have cost more than was left
        if (packed_ == rows_.size()) cells_.end_move();
    }

    static constexpr std::uint32_t NO_BLOCK = 0xffffffffu;  // not the begin of a block
    static constexpr std::size_t AHEAD = 8;  // rows that packing fetches before it moves them

    std::uint32_t runs_ = 2;
    Arena<Row> rows_;
    Moving<std::uint32_t> cells_;
    // By size class, the first free block of the active half; its first cell is where the next is.
    std::array<std::uint32_t, 64> free_;
    std::size_t free_cells_ = 0;  // of the active half
    std::size_t packed_ = 0;      // during a move: blocks of rows below it are in the active half
    std::int64_t owed_ = 0;       // cells that packing has still to move for blocks freed before
    Outdegrees outdegrees_{};
    std::uint64_t edges_ = 0, appended_ = 0;
};

}  // namespace manyclass

// Classes that were forgotten while edges to them are still in postings. Their ids are given to no
// other class, and stand in no ranking, until a sweep over all rows has removed the edges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "snapshot/visitor.hpp"
#include "storage/postings.hpp"

namespace manyclass {

class RetiredClasses {
public:
    bool empty() const { return ids_.empty(); }
    std::size_t size() const { return ids_.size(); }
    bool has(std::uint32_t cls) const { return !ids_.empty() && is_retired_[cls]; }
    std::uint64_t rows_swept() const { return rows_swept_; }  // no state

    // A class got the id one past the end.
    void extend() { is_retired_.push_back(false); }

    void add(std::uint32_t cls) {
        ids_.push_back(cls);
        is_retired_[cls] = true;
    }

    // Remove the edges to retired classes from the next rows: `clean` is called for each. After a
    // round over all rows, `release` the ids of the classes that were retired before it began.
    template <class F, class G>
    void sweep(Postings& postings, F&& clean, G&& release) {
        constexpr std::uint32_t ROWS_PER_EVENT = 64, EDGES_AHEAD = 16;  // fetched from memory
        if (ids_.empty()) return;
        if (sweeping_ == 0) sweeping_ = static_cast<std::uint32_t>(ids_.size());
        const std::uint32_t rows = std::min(postings.end() - swept_, ROWS_PER_EVENT);
        for (std::uint32_t i = 0; i < rows; ++i)
            postings.prefetch_edges(postings[swept_ + i], EDGES_AHEAD);
        for (std::uint32_t i = 0; i < rows; ++i) clean(postings[swept_++]);
        rows_swept_ += rows;
        if (swept_ < postings.end()) return;
        const auto freed = ids_.begin() + static_cast<std::ptrdiff_t>(sweeping_);
        std::for_each(ids_.begin(), freed, [&](std::uint32_t id) {
            release(id);
            is_retired_[id] = false;
        });
        ids_.erase(ids_.begin(), freed);
        swept_ = sweeping_ = 0;
    }

    // Visit the ids; `load` takes them in.
    Run<std::uint32_t> visit(SnapshotVisitor& visitor) {
        Run<std::uint32_t> run = visitor.run<std::uint32_t>("class_retired", ids_.size());
        if (visitor.is_dumping()) std::copy(ids_.begin(), ids_.end(), run.data);
        return run;
    }

    // Visit the position of the sweep; `features`: rows, free ids included.
    void visit_hands(SnapshotVisitor& visitor, std::uint64_t features) {
        std::uint64_t swept = swept_, sweeping = sweeping_;
        visitor.count(Count::swept, swept);
        visitor.count(Count::sweeping, sweeping);
        if (!visitor.is_loading()) return;
        need((swept == 0 || swept < features) && sweeping <= ids_.size() &&
                 (sweeping != 0 || swept == 0),
             "counts", "a hand of eviction is out of range");
        swept_ = static_cast<std::uint32_t>(swept);
        sweeping_ = static_cast<std::uint32_t>(sweeping);
    }

    // Take in ids as they were dumped; `is_named` says whether an id has a name.
    template <class F>
    void load(const Run<std::uint32_t>& run, std::uint64_t classes, F&& is_named) {
        is_retired_.assign(classes, false);
        for (std::uint64_t i = 0; i < run.size; ++i) {
            const std::uint32_t id = run.data[i];
            need(id < classes && !is_named(id) && !is_retired_[id], "class_retired",
                 "a retired class has a name, or is there twice");
            add(id);
        }
    }

private:
    std::vector<std::uint32_t> ids_;  // in the order of retirement
    std::vector<bool> is_retired_;    // by class id; a bit each stays in the cache
    std::uint32_t sweeping_ = 0;      // that will be released when `swept_`, the next row, is the end
    std::uint32_t swept_ = 0;
    std::uint64_t rows_swept_ = 0;
};

}  // namespace manyclass

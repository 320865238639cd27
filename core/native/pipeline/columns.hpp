// The names behind the columns of CSR arrays, with the ids an index gave them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "storage/vocabulary.hpp"

namespace manyclass {

// Several threads may use the same columns: ids are found once and kept in relaxed atomics, all of
// which mean the same index. Each stands beside the count of names removed when it was found: after
// further removals the id is compared with the column's name before it is used again. Who uses them
// holds the lock that `meet` gives; it is taken after that of the index, features before classes.
class Columns {
public:
    Columns(std::string bytes, std::vector<std::uint64_t> ends)
        : Columns(std::make_shared<const Names>(Names{std::move(bytes), std::move(ends)})) {}

    std::size_t size() const { return ids_.size(); }

    std::string_view name(std::size_t column) const {
        const std::uint64_t begin = column == 0 ? 0 : names_->ends[column - 1];
        return std::string_view(names_->bytes).substr(begin, names_->ends[column] - begin);
    }

    // The same names with the ids of one part of an ensemble, all of whose parts keep theirs at once.
    // Valid as long as these columns.
    Columns& of_part(std::size_t part) {
        const std::lock_guard<std::mutex> lock(parts_mutex_);
        std::unique_ptr<Columns>& found = parts_[part];
        if (found == nullptr) found.reset(new Columns(names_));
        return *found;
    }

    // Before use, with the index locked at least for reading: drop ids of another owner, which is
    // an index and whether the columns are its features or its classes, and those of a removal
    // count whose lower half would come again.
    [[nodiscard]] std::shared_lock<std::shared_mutex> meet(std::uint64_t owner,
                                                           const Vocabulary& names) {
        const std::uint64_t era = names.removals() >> 32;
        while (true) {
            std::shared_lock<std::shared_mutex> lock(mutex_);
            if (owner == owner_ && era == era_) return lock;
            lock.unlock();
            const std::unique_lock<std::shared_mutex> change(mutex_);
            forget();
            owner_ = owner;
            era_ = era;
        }
    }

    std::uint32_t id(std::size_t column, const Vocabulary& names) {
        const std::uint64_t known = ids_[column].load(std::memory_order_relaxed);
        auto id = static_cast<std::uint32_t>(known);
        if (id != NO_ID && known >> 32 == (names.removals() & NO_ID)) return id;
        if (id == NO_ID || names.name(id) != name(column)) id = names.find(name(column));
        set(column, id, names);
        return id;
    }

    void prefetch(std::size_t column) const { __builtin_prefetch(&ids_[column]); }

    // The id of an earlier use, which another name may have by now; or NO_ID.
    std::uint32_t id_before(std::size_t column) const {
        return static_cast<std::uint32_t>(ids_[column].load(std::memory_order_relaxed));
    }

    void set(std::size_t column, std::uint32_t id, const Vocabulary& names) {
        ids_[column].store(names.removals() << 32 | id, std::memory_order_relaxed);
    }

private:
    struct Names {
        std::string bytes;
        std::vector<std::uint64_t> ends;
    };

    explicit Columns(std::shared_ptr<const Names> names)
        : names_(std::move(names)), ids_(names_->ends.size()) {
        forget();
    }

    void forget() {
        for (auto& id : ids_) id.store(NO_ID, std::memory_order_relaxed);
    }

    std::shared_ptr<const Names> names_;
    std::vector<std::atomic<std::uint64_t>> ids_;  // removals when it was found, id
    std::shared_mutex mutex_;
    std::uint64_t owner_ = 0;
    std::uint64_t era_ = 0;
    std::mutex parts_mutex_;
    std::map<std::size_t, std::unique_ptr<Columns>> parts_;
};

// Rows of CSR arrays over columns; rows of classes have no values. Ownership: the caller's.
struct CsrRows {
    Columns* columns;
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const float* values;
    std::int64_t count;
};

}  // namespace manyclass

// The names of the columns of CSR arrays, with their ids in a learner.
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

// Several threads may use the same columns: ids are found once and kept in relaxed atomics, all for
// the same learner. Each id is stored with the count of removed names when it was found; after
// further removals it is compared with the column's name before it is used again. Callers hold the
// lock that `meet` returns, which is taken after that of the learner; features before classes.
class Columns {
public:
    Columns(std::string bytes, std::vector<std::uint64_t> ends)
        : Columns(std::make_shared<const Names>(Names{std::move(bytes), std::move(ends)})) {}

    std::size_t size() const { return ids_.size(); }

    std::string_view name(std::size_t column) const {
        const std::uint64_t begin = column == 0 ? 0 : names_->ends[column - 1];
        return std::string_view(names_->bytes).substr(begin, names_->ends[column] - begin);
    }

    // Return the same names with the ids of one part of a committee; each part has ids of its own.
    // Valid as long as these columns.
    Columns& of_part(std::size_t part) {
        const std::lock_guard<std::mutex> lock(parts_mutex_);
        std::unique_ptr<Columns>& found = parts_[part];
        if (found == nullptr) found.reset(new Columns(names_));
        return *found;
    }

    // Call before use, with the learner locked at least for reading. Drop the ids of another owner
    // (a learner, and whether the columns are its features or classes), and ids whose count of
    // removals could repeat in its lower half.
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

    // Return the id of an earlier use, which another name may have by now; or NO_ID.
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

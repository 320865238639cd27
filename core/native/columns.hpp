// The names behind the columns of CSR arrays, with the ids an index gave them.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "names.hpp"

namespace manyclass {

// Several threads may use the same columns: ids are found once and kept in relaxed atomics, all of
// which mean the same index in the same generation (no id freed since). Who uses them holds the
// lock that `meet` gives; it is taken after that of the index, features before classes.
class Columns {
public:
    Columns(std::string bytes, std::vector<std::uint64_t> ends)
        : bytes_(std::move(bytes)), ends_(std::move(ends)), ids_(ends_.size()) {
        forget();
    }

    std::size_t size() const { return ends_.size(); }

    std::string_view name(std::size_t column) const {
        const std::uint64_t begin = column == 0 ? 0 : ends_[column - 1];
        return std::string_view(bytes_).substr(begin, ends_[column] - begin);
    }

    // Before use, with the index locked at least for reading: drop ids of another time or owner,
    // which is an index and whether the columns are its features or its classes.
    [[nodiscard]] std::shared_lock<std::shared_mutex> meet(std::uint64_t owner,
                                                           std::uint64_t generation) {
        while (true) {
            std::shared_lock<std::shared_mutex> lock(mutex_);
            if (owner == owner_ && generation == generation_) return lock;
            lock.unlock();
            const std::unique_lock<std::shared_mutex> change(mutex_);
            forget();
            owner_ = owner;
            generation_ = generation;
        }
    }

    std::uint32_t id(std::size_t column, const Names& names) {
        std::uint32_t id = ids_[column].load(std::memory_order_relaxed);
        if (id != NO_ID) return id;
        id = names.find(name(column));
        if (id != NO_ID) set(column, id);
        return id;
    }

    void set(std::size_t column, std::uint32_t id) {
        ids_[column].store(id, std::memory_order_relaxed);
    }

private:
    void forget() {
        for (auto& id : ids_) id.store(NO_ID, std::memory_order_relaxed);
    }

    std::string bytes_;
    std::vector<std::uint64_t> ends_;
    std::vector<std::atomic<std::uint32_t>> ids_;
    std::shared_mutex mutex_;
    std::uint64_t owner_ = 0;
    std::uint64_t generation_ = 0;
};

}  // namespace manyclass

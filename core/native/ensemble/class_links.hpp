// The classes of a member's index in the ensemble's own table.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "storage/vocabulary.hpp"

namespace manyclass {

// The id in the table of each class of a member is found by name once and kept, beside the count of
// names that both had removed then: after further removals the two names are compared again.
// Threads: any number, each with both engines locked for reading, and with the lock that `meet`
// gives, which is taken after theirs.
class ClassLinks {
public:
    // Before use: make room for every class of the member.
    [[nodiscard]] std::shared_lock<std::shared_mutex> meet(const Vocabulary& member,
                                                           const Vocabulary& table) {
        const std::uint64_t era = removals(member, table) >> 32;
        while (true) {
            std::shared_lock<std::shared_mutex> lock(mutex_);
            if (links_.size() >= member.end() && era == era_) return lock;
            lock.unlock();
            const std::unique_lock<std::shared_mutex> change(mutex_);
            if (links_.size() >= member.end() && era == era_) continue;  // by another thread
            // twice as many, so that a growing member rarely has to make room
            std::vector<std::atomic<std::uint64_t>>(2 * std::size_t{member.end()} + 16)
                .swap(links_);
            for (auto& link : links_) link.store(NO_ID, std::memory_order_relaxed);
            era_ = era;
        }
    }

    // The id in the table of a class of the member; NO_ID where the table does not have it.
    std::uint32_t id(std::uint32_t cls, const Vocabulary& member, const Vocabulary& table) {
        const std::uint64_t link = links_[cls].load(std::memory_order_relaxed);
        const std::uint64_t now = removals(member, table) & NO_ID;
        auto id = static_cast<std::uint32_t>(link);
        if (id != NO_ID && link >> 32 == now) return id;
        if (id == NO_ID || table.name(id) != member.name(cls)) id = table.find(member.name(cls));
        links_[cls].store(now << 32 | id, std::memory_order_relaxed);
        return id;
    }

private:
    // Both counts only rise: an equal sum means that neither has.
    static std::uint64_t removals(const Vocabulary& member, const Vocabulary& table) {
        return member.removals() + table.removals();
    }

    std::vector<std::atomic<std::uint64_t>> links_;  // by class of the member: removals, id
    std::shared_mutex mutex_;
    std::uint64_t era_ = 0;
};

}  // namespace manyclass

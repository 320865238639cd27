// The titles of classes by name, as answers have them. Without titles, they cost nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/native/pipeline/reader_slots.hpp"
#include "service/http/native/json_string.hpp"

namespace manyclass::http {

// Threads: any may read; one at a time changes them.
class Titles {
public:
    // Give a class this title; an empty one removes it.
    void put(std::string_view name, std::string_view title) {
        std::unique_ptr<Entry> entry;
        if (!title.empty()) {
            entry = std::make_unique<Entry>(Entry{std::string(name), ",\"title\":"});
            append_string(entry->member, title);
        }
        const std::unique_lock<ReaderSlots> lock(lock_);
        entries_.erase(name);
        if (entry) {
            const std::string_view key = entry->name;
            entries_.emplace(key, std::move(entry));
        }
        count_ = entries_.size();
    }

    // Swap all titles for those of another table, which no other thread uses.
    void swap(Titles& other) {
        const std::unique_lock<ReaderSlots> lock(lock_);
        entries_.swap(other.entries_);
        count_ = entries_.size();
        other.count_ = other.entries_.size();
    }

    // Append the member `title` of a class that has a title, with a comma before it.
    void append(std::string& out, std::string_view name) const {
        if (count_.load(std::memory_order_relaxed) == 0) return;
        const std::shared_lock<ReaderSlots> lock(lock_);
        const auto found = entries_.find(name);
        if (found != entries_.end()) out += found->second->member;
    }

    std::size_t size() const { return count_; }

private:
    struct Entry {
        std::string name, member;
    };

    mutable ReaderSlots lock_;
    std::unordered_map<std::string_view, std::unique_ptr<Entry>> entries_;  // by the entry's name
    std::atomic<std::size_t> count_{0};
};

}  // namespace manyclass::http

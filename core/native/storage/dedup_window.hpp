// The ids of the events learned last, so that a retry is known for what it is.
//
//   ring_    oldest overwritten first:  [ key | fingerprint | seq ] ...
//   slots_   key -> index in the ring + 1, open addressing, at most half full
#pragma once

#include <cstdint>
#include <vector>

#include "storage/probing.hpp"

namespace manyclass {

// 128 bits of a hash of the id: two ids never meet in practice.
struct Key {
    std::uint64_t high, low;
    bool operator==(const Key& other) const { return high == other.high && low == other.low; }
};

struct Remembered {
    Key key;
    std::uint64_t fingerprint, seq;
};

class DedupWindow {
public:
    explicit DedupWindow(std::size_t capacity) : capacity_(capacity), slots_(64, 0) {}

    std::size_t size() const { return ring_.size(); }

    const Remembered* find(const Key& key) const {
        for (std::size_t at = home(key); slots_[at] != 0; at = next(at))
            if (ring_[slots_[at] - 1].key == key) return &ring_[slots_[at] - 1];
        return nullptr;
    }

    // Remember an id that is not there yet; the oldest is forgotten when there is no room.
    void add(const Remembered& entry) {
        if (ring_.size() < capacity_) {
            ring_.push_back(entry);
            if (ring_.size() * 2 > slots_.size()) grow();
            else insert(ring_.size() - 1);
            return;
        }
        remove(oldest_);
        ring_[oldest_] = entry;
        insert(oldest_);
        oldest_ = oldest_ + 1 == capacity_ ? 0 : oldest_ + 1;
    }

    // The entries, oldest first.
    void copy(Remembered* out) const {
        for (std::size_t i = 0; i < ring_.size(); ++i)
            out[i] = ring_[(oldest_ + i) % ring_.size()];
    }

private:
    std::size_t home(const Key& key) const { return key.low & (slots_.size() - 1); }
    std::size_t next(std::size_t at) const { return next_slot(at, slots_.size()); }

    void insert(std::size_t index) {
        std::size_t at = home(ring_[index].key);
        while (slots_[at] != 0) at = next(at);
        slots_[at] = static_cast<std::uint32_t>(index + 1);
    }

    void remove(std::size_t index) {
        std::size_t at = home(ring_[index].key);
        while (slots_[at] != index + 1) at = next(at);
        close_gap(
            slots_, at, [this](std::uint32_t slot) { return home(ring_[slot - 1].key); },
            [](std::uint32_t slot) { return slot == 0; });
    }

    void grow() {
        slots_.assign(slots_.size() * 2, 0);
        for (std::size_t index = 0; index < ring_.size(); ++index) insert(index);
    }

    std::size_t capacity_;
    std::size_t oldest_ = 0;
    std::vector<Remembered> ring_;
    std::vector<std::uint32_t> slots_;
};

}  // namespace manyclass

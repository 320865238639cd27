// Positions by key: a hash table of one update.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace manyclass {

class PositionTable {
public:
    static constexpr std::uint32_t NONE = 0xffffffffu;

    // Remove all keys; make room for `most` keys.
    void start(std::size_t most) {
        std::size_t size = 16;
        int bits = 4;
        for (; size < 2 * most; size *= 2) ++bits;
        slots_.assign(size, Slot{0, NONE});
        shift_ = 64 - bits;
    }

    // Return the position of a key, to read or set; NONE for a new key.
    std::uint32_t& operator[](std::uint64_t key) {
        std::size_t at = (key * 0x9e3779b97f4a7c15u) >> shift_;
        while (slots_[at].position != NONE && slots_[at].key != key) at = (at + 1) % slots_.size();
        slots_[at].key = key;
        return slots_[at].position;
    }

    // Return the position of a key; NONE for a key that was not set.
    std::uint32_t find(std::uint64_t key) const {
        std::size_t at = (key * 0x9e3779b97f4a7c15u) >> shift_;
        while (slots_[at].position != NONE && slots_[at].key != key) at = (at + 1) % slots_.size();
        return slots_[at].position;
    }

private:
    struct Slot {
        std::uint64_t key;
        std::uint32_t position;
    };
    std::vector<Slot> slots_;
    int shift_ = 60;
};

}  // namespace manyclass

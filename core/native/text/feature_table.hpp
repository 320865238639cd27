// The indices of the features of an instance while it is read: repeated names meet here.
//
//   slots_   [ tag | index+1 ][ 0 ][ tag | index+1 ] ...     at the tag, or behind it
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string_view>
#include <utility>

#include "storage/vocabulary.hpp"

namespace manyclass {

// A table of indices by tags. The caller has the names and compares them.
class FeatureTable {
public:
    struct Slot {
        std::uint32_t tag, index_1;
    };

    // The slots as they are, for a caller that keeps this in registers.
    struct View {
        Slot* slots;
        std::size_t mask;
        std::uint64_t seed;

        // No client foresees which names have equal tags, and no result depends on it.
        std::uint64_t hash_of(std::uint64_t key) const {
            return mix(key ^ seed, 0x9e3779b97f4a7c15ull);
        }

        // The slot of the feature with this tag for which `is_same(index)`, or the free one for it.
        template <class IsSame>
        Slot& find(std::uint32_t tag, IsSame&& is_same) const {
            for (std::size_t at = tag & mask;; at = (at + 1) & mask) {
                Slot& slot = slots[at];
                if (slot.index_1 == 0 || (slot.tag == tag && is_same(slot.index_1 - 1)))
                    return slot;
            }
        }
    };

    View view() const { return {slots_.get(), mask_, seed_}; }
    std::uint64_t hash_of(std::string_view name) const { return hash_name(name, seed_); }
    static std::uint32_t tag_of(std::uint64_t hash) {
        return static_cast<std::uint32_t>(hash >> 32);
    }

    // Begin an empty table that has room for `expected` features before it grows.
    void begin(std::size_t expected) {
        std::size_t size = 64;
        while (size < expected * 2) size *= 2;
        if (room_ < size || (room_ > MOST_KEPT && size <= MOST_KEPT)) {
            slots_.reset(new Slot[size]);
            room_ = size;
        }
        std::memset(static_cast<void*>(slots_.get()), 0, size * sizeof(Slot));
        mask_ = size - 1;
        left_ = size / 2;
    }

    template <class IsSame>
    Slot& find(std::uint32_t tag, IsSame&& is_same) const {
        return view().find(tag, is_same);
    }

    // Fill the free slot that `find` gave just before.
    void fill(Slot& slot, std::uint32_t tag, std::size_t index) {
        slot = {tag, static_cast<std::uint32_t>(index + 1)};
        --left_;
    }

    // Note that the caller filled slots itself.
    void filled(std::size_t count) { left_ -= count; }

    // Make room for some more features, before they are sought.
    void expect(std::size_t count) {
        if (left_ < count) grow(count);
    }

private:
    static constexpr std::size_t MOST_KEPT = 262'144;

    [[gnu::noinline]] void grow(std::size_t count) {
        const std::size_t former_size = mask_ + 1, filled = former_size / 2 - left_;
        std::size_t size = former_size * 4;
        while (size < (filled + count) * 2) size *= 2;
        std::unique_ptr<Slot[]> former(new Slot[size]());
        former.swap(slots_);
        room_ = size;
        mask_ = size - 1;
        left_ = size / 2 - filled;
        const auto is_same = [](std::size_t) { return false; };
        for (std::size_t at = 0; at < former_size; ++at)
            if (former[at].index_1 != 0) find(former[at].tag, is_same) = former[at];
    }

    static std::uint64_t random_seed() {
        std::random_device device;
        return std::uint64_t{device()} << 32 | device();
    }

    std::uint64_t seed_ = random_seed();
    std::unique_ptr<Slot[]> slots_;
    std::size_t room_ = 0;  // slots
    std::size_t mask_ = 0;  // of the number of slots used now, a power of two
    std::size_t left_ = 0;  // features that may be added before more slots are used
};

}  // namespace manyclass

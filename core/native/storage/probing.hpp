// Linear probing: a table of slots where an entry stands at its home, or behind it without a gap.
#pragma once

#include <cstddef>
#include <vector>

namespace manyclass {

inline std::size_t next_slot(std::size_t at, std::size_t slots) {
    return at + 1 == slots ? 0 : at + 1;
}

// Empty a slot and move up what it would cut off from its home. `home_of` is the home of a slot's
// entry, `is_empty` tells an empty slot.
template <class Slot, class H, class E>
void close_gap(std::vector<Slot>& slots, std::size_t gap, H&& home_of, E&& is_empty) {
    const auto distance = [&](std::size_t from, std::size_t to) {
        return to >= from ? to - from : to + slots.size() - from;
    };
    for (std::size_t at = next_slot(gap, slots.size()); !is_empty(slots[at]);
         at = next_slot(at, slots.size())) {
        if (distance(home_of(slots[at]), at) < distance(gap, at)) continue;
        slots[gap] = slots[at];
        gap = at;
    }
    slots[gap] = Slot{};
}

}  // namespace manyclass

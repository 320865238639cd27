// A hand that goes round over ids and picks the next one to evict.
#pragma once

#include <algorithm>
#include <cstdint>

#include "names.hpp"

namespace manyclass {

// How long an id has not been used, in events, and how often it was before. In order of eviction.
struct Idle {
    std::uint32_t age;  // 0: in use by the event being learned, which cannot lose it
    std::uint64_t uses;
    std::uint32_t id;
    bool operator<(const Idle& other) const {
        if (age != other.age) return age > other.age;
        if (uses != other.uses) return uses < other.uses;
        return id < other.id;
    }
};

// Picks the id idle longest among the next WINDOW ids only: what an eviction costs does not depend
// on how many ids there are. The hand's place decides what is evicted next: it is state.
class Clock {
public:
    static constexpr std::uint32_t WINDOW = 64;

    std::uint32_t hand() const { return hand_; }
    void set_hand(std::uint32_t hand) { hand_ = hand; }
    std::uint64_t looked_at() const { return looked_at_; }  // ids, by all picks; no state

    // The id idle longest in the next window of the ids below `end` that has one not in use; NO_ID
    // after a whole round, with the hand where it was. `idle_of` gives an unused id the age 0 too.
    template <class F>
    std::uint32_t pick(std::uint32_t end, F&& idle_of) {
        for (std::uint32_t looked = 0; looked < end;) {
            const std::uint32_t window = std::min(WINDOW, end - looked);
            Idle first{0, 0, NO_ID};
            for (std::uint32_t i = 0; i < window; ++i) {
                const Idle each = idle_of(hand_);
                if (each.age != 0 && each < first) first = each;
                hand_ = hand_ + 1 == end ? 0 : hand_ + 1;
            }
            looked += window;
            looked_at_ += window;
            if (first.id != NO_ID) return first.id;
        }
        return NO_ID;
    }

private:
    std::uint32_t hand_ = 0;
    std::uint64_t looked_at_ = 0;
};

}  // namespace manyclass

// The clock algorithm (second chance): picks the next id to evict.
#pragma once

#include <algorithm>
#include <cstdint>

#include "storage/vocabulary.hpp"

namespace manyclass {

// The idleness of an id as one number: the higher bits count the events since it was last used, the
// lower ones are larger the less often it was used before. IN_USE for an id of the event being
// learned, which cannot lose it.
using Idleness = std::uint64_t;
constexpr Idleness IN_USE = 0;

inline Idleness idleness(std::uint32_t age, std::uint64_t uses) {
    constexpr std::uint64_t MOST_USES = 0xffffffffu;
    if (age == 0) return IN_USE;
    return static_cast<std::uint64_t>(age) << 32 | (MOST_USES - std::min(uses, MOST_USES));
}

// Picks the id idle longest among the next WINDOW ids only, so the cost of an eviction does not
// depend on the number of ids. The hand decides which id is evicted next: it is part of the state.
class EvictionClock {
public:
    static constexpr std::uint32_t WINDOW = 64;

    std::uint32_t hand() const { return hand_; }
    void set_hand(std::uint32_t hand) { hand_ = hand; }
    std::uint64_t looked_at() const { return looked_at_; }  // ids, by all picks; no state

    // The id idle longest, of equal ones the first that the hand meets, in the next window of the
    // ids below `end` that has one not IN_USE; NO_ID after a whole round, with the hand where it
    // was.
    template <class F>
    std::uint32_t pick(std::uint32_t end, F&& idleness_of) {
        for (std::uint32_t looked = 0; looked < end;) {
            const std::uint32_t window = std::min(WINDOW, end - looked);
            Idleness most = IN_USE;
            std::uint32_t picked = NO_ID;
            for (std::uint32_t i = 0; i < window; ++i) {
                const Idleness each = idleness_of(hand_);
                picked = each > most ? hand_ : picked;
                most = std::max(each, most);
                hand_ = hand_ + 1 == end ? 0 : hand_ + 1;
            }
            looked += window;
            looked_at_ += window;
            if (picked != NO_ID) return picked;
        }
        return NO_ID;
    }

private:
    std::uint32_t hand_ = 0;
    std::uint64_t looked_at_ = 0;
};

}  // namespace manyclass

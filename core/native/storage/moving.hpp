// Two arenas, one of which is left for the other a few values at a time.
//
//   half 0   a a . a . . a a       values are added to the active half only; a value in the other
//   half 1   a a a a               one is moved over when the owner comes to it
//
// Packing a large arena at once would hold up everything. Here the owner begins a move, moves some
// values with each change it makes, ends the move, and then gives the old half back piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/arena.hpp"

namespace manyclass {

template <class T>
class Moving {
public:
    std::uint8_t active() const { return active_; }
    T* data(std::uint8_t half) { return halves_[half].data(); }
    const T* data(std::uint8_t half) const { return halves_[half].data(); }

    // Of the active half.
    std::size_t size() const { return halves_[active_].size(); }
    std::size_t extend(std::size_t count) { return halves_[active_].extend(count); }

    bool is_settled() const { return phase_ == Phase::settled; }
    bool is_moving() const { return phase_ == Phase::moving; }

    // Turn to the other half, which will take so many values. It has room for three eighths more, so
    // that it need not grow before a quarter of it is unused and the next move begins. False, with
    // nothing changed, when the system has no memory for it.
    bool begin_move(std::size_t count) {
        if (!halves_[active_ ^ 1].try_reserve(count + count / 8 * 3)) return false;
        active_ ^= 1;
        phase_ = Phase::moving;
        return true;
    }

    // Nothing is left in the other half.
    void end_move() {
        Arena<T>& old = halves_[active_ ^ 1];
        old.shrink(old.size());
        phase_ = Phase::giving_back;
        give_back();
    }

    // After `end_move`: give one more piece of the other half back to the system.
    void give_back() {
        constexpr std::size_t PIECE = (std::size_t{1} << 20) / sizeof(T);
        Arena<T>& old = halves_[active_ ^ 1];
        if (old.capacity() > PIECE) {
            old.give_back(PIECE);
            return;
        }
        Arena<T>().swap(old);
        phase_ = Phase::settled;
    }

    std::size_t resident_bytes() const {
        return halves_[0].resident_bytes() + halves_[1].resident_bytes();
    }

private:
    enum class Phase { settled, moving, giving_back };

    Arena<T> halves_[2];
    std::uint8_t active_ = 0;
    Phase phase_ = Phase::settled;
};

}  // namespace manyclass

// Random numbers, the same on every machine.
#pragma once

#include <cstdint>

namespace manyclass {

// Steele, Lea and Flood's SplitMix64: one word of state, the same numbers everywhere.
inline std::uint64_t next_random(std::uint64_t& state) {
    std::uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// A number below `end`, which is less than 2^32 times smaller than what it is drawn from.
inline std::uint64_t random_below(std::uint64_t& state, std::uint64_t end) {
    return static_cast<std::uint64_t>(
        (static_cast<unsigned __int128>(next_random(state)) * end) >> 64);
}

}  // namespace manyclass

// Finds the index of a class among the class ids of a row, by vector instructions. A row of IND may
// have 65,535 edges, and each update searches the rows of all active features.
#pragma once

#include <cstdint>

namespace manyclass {

// Four class ids, at any address. A vector type of GCC and Clang, compiled for any processor: left
// to itself, the compiler takes twice the time.
using FourIds [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = std::uint32_t;

inline bool any(FourIds matches) {
    using TwoHalves [[gnu::vector_size(16)]] = long long;
    const auto halves = (TwoHalves)matches;
    return (halves[0] | halves[1]) != 0;
}

// Return the index of a class among `count` ids, not before `at`; `count` if it is absent.
[[gnu::noinline]] inline std::uint32_t class_search_from(std::uint32_t at, std::uint32_t cls,
                                                         const std::uint32_t* classes,
                                                         std::uint32_t count) {
    constexpr std::uint32_t STRIDE = 32;
    const FourIds wanted = {cls, cls, cls, cls};
    const auto four = [&](std::uint32_t at) {
        return (FourIds)(*reinterpret_cast<const FourIds*>(classes + at) == wanted);
    };
    for (; at + STRIDE <= count; at += STRIDE)
        if (any(four(at) | four(at + 4) | four(at + 8) | four(at + 12) | four(at + 16) |
                four(at + 20) | four(at + 24) | four(at + 28)))
            break;
    while (at + 4 <= count && !any(four(at))) at += 4;
    while (at < count && classes[at] != cls) ++at;
    return at;
}

// Return the index of a class among `count` ids; `count` if it is absent. Most rows are short, and
// in sorted ones the class is often among the first.
inline std::uint32_t class_search(std::uint32_t cls, const std::uint32_t* classes,
                                  std::uint32_t count) {
    constexpr std::uint32_t FIRST = 4;
    const std::uint32_t first = count < FIRST ? count : FIRST;
    for (std::uint32_t at = 0; at < first; ++at)
        if (classes[at] == cls) return at;
    return first == count ? count : class_search_from(first, cls, classes, count);
}

}  // namespace manyclass

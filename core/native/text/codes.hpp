// Code points of Unicode: their kinds, and their folded forms by NFKC_Casefold.
#pragma once

#include <cstdint>

#include "text/unicode_tables.hpp"

namespace manyclass::unicode {

constexpr char32_t DOT_ABOVE = 0x307, ZERO_WIDTH_JOINER = 0x200d;

inline std::uint16_t entry_of(char32_t code) {
    if (code >= END) {
        if (code < FIRST_IGNORED || code > LAST_IGNORED) return 0;
        code = ZERO_WIDTH_JOINER;  // ignored too
    }
    return ENTRIES[BLOCKS[code / BLOCK] * BLOCK + code % BLOCK];
}

// The kind of a code point that a fold gave.
inline Kind kind_of(char32_t code) { return KINDS[entry_of(code)]; }

// Call `take(code, kind)` with each code point of the folded form of one.
template <class Take>
void fold(char32_t code, Take&& take) {
    const std::uint16_t entry = entry_of(code);
    if (entry < FIRST_MOVE) return take(code, KINDS[entry]);
    if (entry < FIRST_SEQUENCE) {
        code += static_cast<char32_t>(MOVES[entry - FIRST_MOVE]);
        return take(code, kind_of(code));
    }
    const char32_t* const sequence = &SEQUENCES[entry - FIRST_SEQUENCE];
    for (char32_t index = 1; index <= sequence[0]; ++index)
        take(sequence[index], kind_of(sequence[index]));
}

}  // namespace manyclass::unicode

// Canonical decomposition and composition of folded code points: NFC.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "text/codes.hpp"

namespace manyclass::unicode {

struct Folded {
    char32_t code;
    Kind kind;
};

// The syllables of Hangul are computed, as The Unicode Standard defines it in section 3.12.
namespace hangul {
constexpr char32_t SYLLABLES = 0xac00, LEADS = 0x1100, VOWELS = 0x1161, TAILS = 0x11a7;
constexpr char32_t LEAD_COUNT = 19, VOWEL_COUNT = 21, TAIL_COUNT = 28;

inline bool is_syllable(char32_t code) {
    return code - SYLLABLES < LEAD_COUNT * VOWEL_COUNT * TAIL_COUNT;
}

// The syllable that two parts make; 0 if they make none.
inline char32_t composed(char32_t first, char32_t second) {
    if (first - LEADS < LEAD_COUNT && second - VOWELS < VOWEL_COUNT)
        return SYLLABLES + ((first - LEADS) * VOWEL_COUNT + second - VOWELS) * TAIL_COUNT;
    const bool open = is_syllable(first) && (first - SYLLABLES) % TAIL_COUNT == 0;
    return open && second - TAILS - 1 < TAIL_COUNT - 1 ? first + second - TAILS : 0;
}
}  // namespace hangul

// The composition with this result, which is COMPOSED.
inline const Composition& composition_of(char32_t result) {
    const auto* const found = std::lower_bound(
        std::begin(BY_RESULT), std::end(BY_RESULT), result,
        [](std::uint16_t index, char32_t code) { return COMPOSITIONS[index].result < code; });
    return COMPOSITIONS[*found];
}

// The code point that two make; 0 if they make none.
inline char32_t composed(char32_t first, char32_t second) {
    if (const char32_t syllable = hangul::composed(first, second)) return syllable;
    const auto* const found = std::lower_bound(
        std::begin(COMPOSITIONS), std::end(COMPOSITIONS), Composition{first, second, 0},
        [](const Composition& one, const Composition& other) {
            return one.first != other.first ? one.first < other.first : one.second < other.second;
        });
    const bool is_there = found != std::end(COMPOSITIONS) && found->first == first &&
                          found->second == second;
    return is_there ? found->result : 0;
}

// Call `take(code, kind)` with each code point of the canonical decomposition of a code point;
// syllables of Hangul stay.
template <class Take>
void decompose(char32_t code, Take&& take) {
    const Kind kind = kind_of(code);
    if (!(kind.bits & COMPOSED)) return take(code, kind);
    const Composition& parts = composition_of(code);
    decompose(parts.first, take);
    take(parts.second, kind_of(parts.second));
}

// Brings a run of code points to NFC, of which all but the first are attached. U+0307 behind
// an i goes: it is part of the lower case of the Turkish İ.
class Composer {
public:
    void normalize(std::vector<Folded>& run) {
        apart_.clear();
        const auto take = [this](char32_t code, Kind kind) { apart_.push_back({code, kind}); };
        for (const Folded& each : run) decompose(each.code, take);
        order();
        drop_dots();
        run.clear();
        compose(run);
        if (apart_.capacity() > MOST_KEPT) std::vector<Folded>().swap(apart_);
    }

private:
    static constexpr std::size_t MOST_KEPT = 1024, NONE = static_cast<std::size_t>(-1);

    static int class_of(const Folded& of) { return of.kind.combining_class; }

    // Sort the marks between two code points of class 0 by their classes.
    void order() {
        auto begin = apart_.begin();
        while (begin != apart_.end()) {
            begin = std::find_if(begin, apart_.end(), class_of);
            const auto end = std::find_if(begin, apart_.end(),
                                          [](const Folded& of) { return class_of(of) == 0; });
            std::stable_sort(begin, end, [](const Folded& one, const Folded& other) {
                return class_of(one) < class_of(other);
            });
            begin = end;
        }
    }

    void drop_dots() {
        bool dotted = false;  // behind an i, with no mark above it in between
        const auto is_dropped = [&dotted](const Folded& of) {
            if (of.code == DOT_ABOVE) return dotted;
            if (class_of(of) == 0) dotted = of.code == 'i';
            if (class_of(of) == 230) dotted = false;  // another mark above
            return false;
        };
        std::size_t kept = 0;
        for (const Folded& each : apart_)
            if (!is_dropped(each)) apart_[kept++] = each;
        apart_.resize(kept);
    }

    void compose(std::vector<Folded>& run) const {
        std::size_t starter = NONE;  // the last code point of class 0 in `run`
        for (const Folded& each : apart_) {
            if (starter != NONE) {
                const bool behind = run.size() == starter + 1;
                const bool open = behind || (class_of(run.back()) != 0 &&
                                             class_of(run.back()) < class_of(each));
                const char32_t made = open ? composed(run[starter].code, each.code) : 0;
                if (made != 0) {
                    run[starter] = {made, kind_of(made)};
                    continue;
                }
            }
            if (class_of(each) == 0) starter = run.size();
            run.push_back(each);
        }
    }

    std::vector<Folded> apart_;
};

}  // namespace manyclass::unicode

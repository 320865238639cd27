"""Write core/native/text/unicode_tables.hpp from the Unicode Character Database.

The database is that of Debian's package `unicode-data`, of one fixed version, so that a text has
the same features on every machine. With --check, fail if the file is not what would be written.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

VERSION = "15.0.0"
DATABASE = Path("/usr/share/unicode")
WRITTEN = Path(__file__).parent.parent / "core/native/text/unicode_tables.hpp"

WIDTH = 100  # of a line
BLOCK = 32
PLAIN_PLANES = 0x32400  # beyond, nothing but the ignorable block has properties
IGNORED = range(0xE0000, 0xE1000)

# The bits of a code point that stays as it is when it is folded.
WORD, MARK, UNSPACED, PICTOGRAPH, TONE, REGIONAL, ATTACHED, MAYBE, COMPOSED = (
    1 << bit for bit in range(9)
)

Sequence = tuple[int, ...]


class Database:
    """The properties that the analysis of texts needs, by code point."""

    def __init__(self) -> None:
        self.folded = {
            code: sequence_of(fields[1])
            for code, fields in rows_of("DerivedNormalizationProps.txt", "NFKC_CF")
        }
        self.categories = dict[int, str]()
        self.classes = dict[int, int]()
        self.decompositions = dict[int, Sequence]()
        self._read_characters()
        self.maybe = codes_of("DerivedNormalizationProps.txt", "NFC_QC", "M")
        self.broken = codes_of("DerivedNormalizationProps.txt", "NFC_QC", "N")
        self.excluded = codes_of("DerivedNormalizationProps.txt", "Full_Composition_Exclusion")
        self.joiners = codes_of("PropList.txt", "Join_Control")
        self.bits = {
            WORD: self._word_characters(),
            MARK: {code for code, category in self.categories.items() if category[0] == "M"},
            UNSPACED: self._unspaced(),
            PICTOGRAPH: codes_of("emoji/emoji-data.txt", "Extended_Pictographic"),
            TONE: codes_of("emoji/emoji-data.txt", "Emoji_Modifier"),
            REGIONAL: codes_of("PropList.txt", "Regional_Indicator"),
            ATTACHED: {*self.classes} | self.maybe,
            MAYBE: self.maybe,
            COMPOSED: {*self.decompositions} - {*self.folded} - self.excluded,
        }

    def _read_characters(self) -> None:
        first = 0
        for code, fields in rows_of("UnicodeData.txt"):
            name, category, combining_class, _, decomposition = fields[:5]
            if name.endswith(", First>"):
                first = code
            codes = range(first, code + 1) if name.endswith(", Last>") else (code,)
            self.categories.update(dict.fromkeys(codes, category))
            if combining_class != "0":
                self.classes[code] = int(combining_class)
            if decomposition and decomposition[0] != "<":
                self.decompositions[code] = sequence_of(decomposition)

    def _word_characters(self) -> set[int]:
        """Return the characters of words by UTS #18, annex C."""
        alphabetic = codes_of("DerivedCoreProperties.txt", "Alphabetic")
        others = {
            code
            for code, category in self.categories.items()
            if category[0] == "M" or category in ("Nd", "Pc")
        }
        return alphabetic | others | self.joiners

    def _unspaced(self) -> set[int]:
        """Return the letters of scripts that have no spaces between words."""
        letters = {
            code
            for code, category in self.categories.items()
            if category[0] == "L" or category == "Nl"
        }
        scripts = ("Han", "Hiragana", "Katakana", "Bopomofo", "Nushu", "Tangut")
        found = codes_of("PropList.txt", "Ideographic") | codes_of("LineBreak.txt", "SA")
        found = found.union(*(codes_of("Scripts.txt", script) for script in scripts))
        for code, fields in rows_of("ScriptExtensions.txt"):  # signs of kana that Han has too
            if {*fields[0].split()} <= {"Hani", "Hira", "Kana", "Bopo"}:
                found.add(code)
        return found & letters

    def bits_of(self, code: int) -> int:
        """Return the property bits of a code point."""
        return sum(bit for bit, codes in self.bits.items() if code in codes)

    def check(self) -> None:
        """Raise AssertionError unless what the native code relies on is so."""
        results = {code for sequence in self.folded.values() for code in sequence}
        assert not results & {*self.folded}, "a folded sequence folds again"
        assert not results & self.broken, "a folded sequence is not in NFC"
        stable = {*self.bits[WORD]} | results
        assert not self.broken - {*self.folded} & stable, "a character that stays is not in NFC"
        assert all(self.folded[code] == () for code in (*IGNORED, 0x200C, 0x200D))
        beyond = {code for code in self.folded if code >= PLAIN_PLANES} - {*IGNORED}
        beyond |= {code for codes in self.bits.values() for code in codes if code >= PLAIN_PLANES}
        assert beyond <= {*IGNORED}, "a code point behind the tables has properties"
        firsts = {parts[0] for parts in self.decompositions.values() if len(parts) == 2}
        signs = {chr(code) for code in firsts if code < 128 and code not in self.bits[WORD]}
        assert signs == {*"<=>"}, "words.hpp knows another set of signs that compose"
        attached = {*self.classes} - {*self.folded}
        assert attached <= self.bits[MARK], "a character with a class is no mark"


def rows_of(file: str, *wanted: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each code point of a file, and its fields; only those whose first fields are wanted."""
    for line in (DATABASE / file).read_text(encoding="utf-8").splitlines():
        codes, *fields = (field.strip() for field in line.partition("#")[0].split(";"))
        if fields and fields[: len(wanted)] == [*wanted]:
            first, _, last = codes.partition("..")
            for code in range(int(first, 16), int(last or first, 16) + 1):
                yield code, fields


def codes_of(file: str, *wanted: str) -> set[int]:
    """Return the code points of a file whose first fields are wanted."""
    return {code for code, _ in rows_of(file, *wanted)}


def sequence_of(text: str) -> Sequence:
    """Return the code points that a field names."""
    return tuple(int(code, 16) for code in text.split())


class Tables:
    """The numbers of the header."""

    def __init__(self, database: Database) -> None:
        folded = {code: each for code, each in database.folded.items() if code not in IGNORED}
        moves = Counter(each[0] - code for code, each in folded.items() if len(each) == 1)
        self.moves = [move for move, _ in sorted(moves.items(), key=lambda each: (-each[1], each))]
        sequences = dict.fromkeys(each for each in folded.values() if len(each) != 1)
        kept = (code for code in range(PLAIN_PLANES) if code not in folded)
        kinds = dict.fromkeys((database.bits_of(c), database.classes.get(c, 0)) for c in kept)
        self.kinds = sorted(kinds)
        self.first_move = len(self.kinds)
        self.first_sequence = self.first_move + len(self.moves)
        of_kind = {kind: number for number, kind in enumerate(self.kinds)}
        of_move = {move: number for number, move in enumerate(self.moves, self.first_move)}
        of_sequence = dict[Sequence, int]()
        self.sequences = list[int]()
        for sequence in sequences:
            of_sequence[sequence] = self.first_sequence + len(self.sequences)
            self.sequences += (len(sequence), *sequence)

        def entry_of(code: int) -> int:
            sequence = folded.get(code)
            if sequence is None:
                return of_kind[database.bits_of(code), database.classes.get(code, 0)]
            if len(sequence) == 1:
                return of_move[sequence[0] - code]
            return of_sequence[sequence]

        blocks = dict[Sequence, int]()
        self.blocks = [
            blocks.setdefault(tuple(map(entry_of, range(begin, begin + BLOCK))), len(blocks))
            for begin in range(0, PLAIN_PLANES, BLOCK)
        ]
        self.entries = [entry for block in blocks for entry in block]
        self.compositions = sorted(
            (*parts, code)
            for code, parts in database.decompositions.items()
            if code in database.bits[COMPOSED]
        )


def numbers(kind: str, name: str, values: Iterable[object]) -> str:
    """Return the C++ of an array."""
    lines = [""]
    for value in values:
        if len(lines[-1]) + len(item := f"{value},") > WIDTH:
            lines.append("")
        lines[-1] += item
    filled = "\n".join(lines)
    return f"inline constexpr {kind} {name}[] = {{\n{filled}\n}};\n"


def runs(name: str, values: list[int]) -> str:
    """Return the C++ of an array that is written as its runs: -3,7 for three sevens."""
    written = list[int]()
    for value, run in groupby(values):
        count = len([*run])
        written += (-count, value) if count > 1 else (value,)
    return (
        numbers("std::int16_t", f"{name}_RUNS", written)
        + f"inline constexpr Expanded<{len(values)}> {name}({name}_RUNS);\n"
    )


def header() -> str:
    """Return the text of the header."""
    database = Database()
    database.check()
    tables = Tables(database)
    composed = [f"{{{first},{second},{code}}}" for first, second, code in tables.compositions]
    by_result = sorted(range(len(composed)), key=lambda index: tables.compositions[index][2])
    return f"""\
// Made by `make unicode` from the Unicode Character Database {VERSION}; codes.hpp reads it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace manyclass::unicode {{

// An entry below FIRST_MOVE is the number of a kind: the code point stays. Below FIRST_SEQUENCE it
// is that of a move to the one code point that it is folded to; else the index of a sequence.
inline constexpr std::uint16_t FIRST_MOVE = {tables.first_move}, \
FIRST_SEQUENCE = {tables.first_sequence};
inline constexpr char32_t BLOCK = {BLOCK};
inline constexpr char32_t END = {PLAIN_PLANES};  // behind it only FIRST_IGNORED to LAST_IGNORED
inline constexpr char32_t FIRST_IGNORED = {IGNORED[0]}, LAST_IGNORED = {IGNORED[-1]};

enum : std::uint16_t {{  // of a code point that stays as it is
    WORD = {WORD},        // a character of words, by UTS #18
    MARK = {MARK},
    UNSPACED = {UNSPACED},    // a letter of a script without spaces between words
    PICTOGRAPH = {PICTOGRAPH},
    TONE = {TONE},       // of skin, behind a pictograph
    REGIONAL = {REGIONAL},   // a half of a flag
    ATTACHED = {ATTACHED},   // may change when it comes behind others, or change them
    MAYBE = {MAYBE},     // may compose with the one before it
    COMPOSED = {COMPOSED},  // of others, by COMPOSITIONS
}};
struct Kind {{
    std::uint16_t bits;
    std::uint8_t combining_class;
}};
{numbers("Kind", "KINDS", (f"{{{bits},{of}}}" for bits, of in tables.kinds))}
// The array that runs of numbers give: a negative number is the length of a run of the next.
template <int SIZE>
struct Expanded {{
    std::uint16_t all[SIZE] = {{}};

    template <int COUNT>
    constexpr explicit Expanded(const std::int16_t (&runs)[COUNT]) {{
        std::uint16_t* end = all;
        for (const std::int16_t *at = runs; at != runs + COUNT; ++at) {{
            int length = *at < 0 ? -*at++ : 1;
            while (length--) *end++ = static_cast<std::uint16_t>(*at);
        }}
    }}
    constexpr std::uint16_t operator[](std::size_t index) const {{ return all[index]; }}
}};

// By the code point divided by {BLOCK}: the block of its entry.
{runs("BLOCKS", tables.blocks)}
{runs("ENTRIES", tables.entries)}
{numbers("std::int32_t", "MOVES", tables.moves)}
// The number of code points of each sequence, and behind it these.
{numbers("char32_t", "SEQUENCES", tables.sequences)}
// Canonical compositions, without those of Hangul, by their parts; and their indices by result.
struct Composition {{
    char32_t first, second, result;
}};
{numbers("Composition", "COMPOSITIONS", composed)}
{numbers("std::uint16_t", "BY_RESULT", by_result)}
}}  // namespace manyclass::unicode
"""


def main(options: list[str]) -> int:
    first_line, _, _ = (DATABASE / "LineBreak.txt").read_text(encoding="utf-8").partition("\n")
    if f"-{VERSION}.txt" not in first_line:
        sys.exit(f"the database must be of version {VERSION}, but {DATABASE} has {first_line}")
    text = header()
    if options == ["--check"]:
        if WRITTEN.read_text(encoding="utf-8") != text:
            sys.exit(f"{WRITTEN.name} is not what the database gives; `make unicode` writes it")
        return 0
    WRITTEN.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

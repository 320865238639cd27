"""The reference of the analyses of texts, written for clarity: core/native/text/ is to equal it.

It has the properties of characters from `unicodedata2`, of the Unicode version of the tables, and
from short lists below; `make unicode-check` compares both with ICU.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import unicodedata2

from manyclass.core.text import TextAnalysis

LONGEST_NAME = 4096  # bytes
SHORTEST, LONGEST, WEIGHT = 4, 4, 1.0  # runs of characters
WORDS_WITH_RUNS = 64  # the first different ones of a text
MOST_SIGNS = 3
JOINER = "\u200d"
CODE = re.compile(f"[A-Za-z0-9+/=_.-]{{{LONGEST_NAME + 1},}}")  # an image in base64, or a rule
LONG_WORD = (LONGEST_NAME + 1) * "x"


def in_place_of(code: re.Match[str]) -> str:
    """Return a word that is too long for a name in place of a long code; a rule stays."""
    is_long = sum(map(str.isalnum, code[0])) > LONGEST_NAME
    return f" {LONG_WORD} " if is_long else code[0]


def characters_of(ranges: str) -> frozenset[str]:
    """Return the characters of ranges of code points, as `41-5a 61-7a`."""
    found = set[str]()
    for each in ranges.split():
        first, _, last = each.partition("-")
        found |= {chr(code) for code in range(int(first, 16), int(last or first, 16) + 1)}
    return frozenset(found)


IGNORABLE = characters_of(
    "ad 34f 61c 115f-1160 17b4-17b5 180b-180f 200b-200f 202a-202e 2060-206f 3164 fe00-fe0f feff"
    " ffa0 fff0-fff8 1bca0-1bca3 1d173-1d17a e0000-e0fff"
)
ENCLOSED = characters_of("24b6-24e9 1f130-1f149 1f150-1f169 1f170-1f189")  # alphabetic symbols
PICTOGRAPHS = characters_of(
    "a9 ae 203c 2049 2122 2139 2194-2199 21a9-21aa 231a-231b 2328 2388 23cf 23e9-23f3 23f8-23fa"
    " 24c2 25aa-25ab 25b6 25c0 25fb-25fe 2600-2605 2607-2612 2614-2685 2690-2705 2708-2712 2714"
    " 2716 271d 2721 2728 2733-2734 2744 2747 274c 274e 2753-2755 2757 2763-2767 2795-2797 27a1"
    " 27b0 27bf 2934-2935 2b05-2b07 2b1b-2b1c 2b50 2b55 3030 303d 3297 3299 1f000-1f0ff"
    " 1f10d-1f10f 1f12f 1f16c-1f171 1f17e-1f17f 1f18e 1f191-1f19a 1f1ad-1f1e5 1f201-1f20f 1f21a"
    " 1f22f 1f232-1f23a 1f23c-1f23f 1f249-1f3fa 1f400-1f53d 1f546-1f64f 1f680-1f6ff 1f774-1f77f"
    " 1f7d5-1f7ff 1f80c-1f80f 1f848-1f84f 1f85a-1f85f 1f888-1f88f 1f8ae-1f8ff 1f90c-1f93a"
    " 1f93c-1f945 1f947-1faff 1fc00-1fffd"
)
TONES = characters_of("1f3fb-1f3ff")
REGIONAL = characters_of("1f1e6-1f1ff")
_IDEOGRAPHS = characters_of(  # Han, Hiragana, Katakana, Bopomofo, Tangut, Khitan, Nushu
    "3005-3007 3021-3029 3031-3035 3038-303c 3041-3096 309d-309f 30a1-30fa 30fc-30ff 3105-312f"
    " 31a0-31bf 31f0-31ff 3400-4dbf 4e00-9fff f900-faff ff66-ff9d 16fe0-16fe1 16fe3 17000-18d08"
    " 1aff0-1b2fb 20000-323af"
)
_SYLLABIC = characters_of(  # Thai, Lao, Myanmar, Khmer, scripts of Tai languages, Ahom
    "e00-eff 1000-109f 1780-17ff 1950-19df 1a20-1aaf a9e0-a9ff aa60-aadf 11700-1174f"
)

UNSPACED = _IDEOGRAPHS | _SYLLABIC


def category(character: str) -> str:
    return str(unicodedata2.category(character))


def is_mark(character: str) -> bool:
    return category(character)[0] == "M"


def is_word(character: str) -> bool:
    """Return whether a folded character belongs to words, by UTS #18."""
    known = category(character)
    return known[0] in "LM" or known in ("Nd", "Nl", "Pc") or character in ENCLOSED


def is_unspaced(character: str) -> bool:
    return character in UNSPACED and (category(character)[0] == "L" or category(character) == "Nl")


def casefolded(character: str) -> str:
    """Return NFKC_Casefold of one character: definition D147 of The Unicode Standard."""
    if category(character) == "Cn" and character not in IGNORABLE:
        return character  # a newer Python may know it already
    text = unicodedata2.normalize("NFD", character)
    while True:
        folded = unicodedata2.normalize("NFKC", text.casefold())
        folded = "".join(each for each in folded if each not in IGNORABLE)
        if folded == text:
            return folded
        text = folded


folded = cache(casefolded)


def is_pictograph(character: str) -> bool:
    return character in PICTOGRAPHS and folded(character) == character


def composed(text: str) -> str:
    """Return NFC of a folded text, in which no dot is above an i."""
    kept, dotted = [], False
    for character in unicodedata2.normalize("NFD", text):
        if character == "\u0307" and dotted:
            continue
        above = unicodedata2.combining(character)
        if above == 0:
            dotted = character == "i"
        elif above == 230:
            dotted = False
        kept.append(character)
    return str(unicodedata2.normalize("NFC", "".join(kept)))


def prepared(text: str) -> str:
    """Return the folded text in NFC, with joiners only where they join two pictographs."""
    given = [
        each
        for character in text
        for each in ((JOINER,) if character == JOINER else folded(character))
    ]
    kept = list[str]()
    is_emoji = False
    for place, character in enumerate(given):
        if character == JOINER:
            while place < len(given) and given[place] == JOINER:
                place += 1
            behind = given[place] if place < len(given) else ""
            if is_emoji and behind and is_pictograph(behind) and kept[-1] != JOINER:
                kept.append(JOINER)
            continue
        is_emoji = is_pictograph(character) or (character in TONES and is_emoji)
        kept.append(character)
    return composed("".join(kept))


@dataclass
class Word:
    text: str
    plain: bool = True  # no letter of a script without spaces, no emoji
    dotted: bool = False
    signs: str = ""


def words_of(text: str) -> Iterator[Word]:
    """Yield the words of a text."""
    ready = prepared(text)
    at = 0
    while at < len(ready):
        begin, character = at, ready[at]
        at += 1
        if is_pictograph(character):
            word = character
            while at < len(ready) and (ready[at] in TONES or ready[at] == JOINER):
                if ready[at] == JOINER:
                    word += ready[at + 1]
                    at += 1
                at += 1
            yield Word(word, plain=False)
        elif character in REGIONAL:
            if ready[at : at + 1] in REGIONAL:
                at += 1
                yield Word(ready[begin:at], plain=False)
        elif is_unspaced(character):
            while at < len(ready) and is_mark(ready[at]):
                at += 1
            yield Word(ready[begin:at], plain=False)
        elif is_word(character):
            while at < len(ready) and is_of_plain_word(ready[at]):
                at += 1
            signs = re.compile("[+#]*").match(ready, at)
            yield Word(
                ready[begin:at],
                dotted=ready[max(0, begin - 1) : begin] == "."
                and not (begin > 1 and hides_stop(ready[begin - 2])),
                signs=signs[0] if signs and len(signs[0]) <= MOST_SIGNS else "",
            )


def is_of_plain_word(character: str) -> bool:
    return is_word(character) and not is_unspaced(character) and not is_pictograph(character)


def hides_stop(character: str) -> bool:
    """Return whether a full stop behind this character does not begin a token."""
    return character == "." or (is_word(character) and not is_pictograph(character))


def runs_of(word: str) -> Iterator[str]:
    """Yield the runs of characters of a word."""
    marked = f"<{word}>"
    for begin in range(len(marked)):
        for length in range(SHORTEST, LONGEST + 1):
            if begin + length <= len(marked) and length < len(marked):
                yield "~" + marked[begin : begin + length]


def unmarked(word: str) -> str:
    """Return a word without its marks."""
    parts = [
        each if "\uac00" <= each <= "\ud7a3" else unicodedata2.normalize("NFD", each)
        for each in word
    ]
    return "".join(each for part in parts for each in part if not is_mark(each))


class Features:
    """The features of an instance, in the order of their first occurrence."""

    def __init__(self, analysis: TextAnalysis, most: int) -> None:
        self.counts = dict[str, int]()
        self.runs = set[str]()
        self._with_runs = set[str]()  # words
        self.long_words = 0
        self.truncated = False
        self._analysis, self._most = analysis, most
        self._bytes, self._most_bytes = 0, 64 * most + 65_536

    def read(self, text: str, prefix: str = "") -> None:
        before: str | None = None
        for word in words_of(CODE.sub(in_place_of, text)):
            if self.truncated:
                return
            if len((prefix + word.text).encode()) > LONGEST_NAME:
                self.long_words += 1
                continue
            self._read_word(word, before, prefix)
            before = word.text

    def _read_word(self, word: Word, before: str | None, prefix: str) -> None:
        self._count(prefix + word.text)
        plain = unmarked(word.text)
        if self._analysis.unmarked and plain not in ("", word.text):
            self._count(prefix + plain)
        if self._analysis.symbols and (word.dotted or word.signs):
            self._count(prefix + "." * word.dotted + word.text + word.signs)
        if len(self._with_runs) < WORDS_WITH_RUNS:
            self._with_runs.add(prefix + word.text)
        if self._analysis.characters and prefix + word.text in self._with_runs:
            for run in runs_of(word.text):
                self.runs.add(prefix + run)
                self._count(prefix + run)
        if self._analysis.pairs and before is not None:
            self._count(f"{prefix}{before} {word.text}")

    def _count(self, name: str) -> None:
        if self.truncated or len(name.encode()) > LONGEST_NAME:
            return
        if name in self.counts:
            self.counts[name] += 1
        elif len(self.counts) == self._most or self._bytes + len(name.encode()) > self._most_bytes:
            self.truncated = True
        else:
            self.counts[name] = 1
            self._bytes += len(name.encode())

    def values(self) -> dict[str, float]:
        return {
            name: WEIGHT * count if name in self.runs else float(count)
            for name, count in self.counts.items()
        }


def features_of(
    analysis: TextAnalysis, text: str | Mapping[str, str], most: int = 1 << 32
) -> Features:
    """Return the features of a text, or of the texts of fields."""
    features = Features(analysis, most)
    if isinstance(text, str):
        features.read(text)
    else:
        for field, each in text.items():
            features.read(each, f"{field}:")
    return features

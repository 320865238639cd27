"""Text analyses: how a text becomes features, equally for ranking and learning.

    words       runs of letters, digits and underscores, in lower case
    pairs       two neighbouring words, joined by a space
    characters  runs of 3 to 5 characters of each word, worth 0.4, beside the words
    unspaced    each character of a script without spaces between words is a word
    normalized  NFKC and case folding in place of lower case

The analysis is part of the state that learned by it. A release that adds a part, or changes the
features of one, raises the version in rules.py: an older release would rank by other features.
"""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import pairwise
from typing import Self

from manyclass.core.errors import InstanceError
from manyclass.core.instance import LONGEST_NAME

Features = list[str] | dict[str, float]  # of a list, each is worth 1

# A longer text is read in slices, so that the event loop can run in between.
SLICE_CHARACTERS = 65_536
# NFKC takes quadratic time for marks in a row, and may make 18 characters of one.
NORMALIZED_CHARACTERS = 512
SHORTEST, LONGEST = 3, 5  # runs of characters, with the marks < and > at the ends of a word
CHARACTERS_WEIGHT = 0.4  # beside words worth 1: equal worth gains less
RUNS_AT_ONCE = 8192
LONGEST_CACHED = 20  # a word whose runs are worth remembering

# Han, Hiragana, Katakana, Bopomofo
_IDEOGRAPHS = (
    "\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U000323af\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\uff66-\uff9d\U0001aff0-\U0001b16f\u3105-\u312f\u31a0-\u31bf"
)
# Thai and Lao, Myanmar, Khmer, Myanmar Extended-B and -A: letters and marks that belong to them
_SYLLABIC = [
    chr(code)
    for block in (
        range(0x0E00, 0x0F00),
        range(0x1000, 0x10A0),
        range(0x1780, 0x1800),
        range(0xA9E0, 0xAA00),
        range(0xAA60, 0xAA80),
    )
    for code in block
]


def _of_category(initial: str) -> str:
    return "".join(each for each in _SYLLABIC if unicodedata.category(each).startswith(initial))


_UNSPACED = _IDEOGRAPHS + _of_category("L")
_MARKS = "\u3099\u309a\uff9e\uff9f" + _of_category("M")
_WORD = re.compile(r"\w+")
_WORD_OR_CHARACTER = re.compile(rf"[{_UNSPACED}][{_MARKS}]*|[^\W{_UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class TextAnalysis:
    """The parts of an analysis; words always belong to it."""

    pairs: bool = False
    characters: bool = False
    unspaced: bool = False
    normalized: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the analysis of a text as `words+pairs`; ValueError."""
        first, *parts = (part.strip() for part in text.split("+"))
        if first != "words" or not {*parts} <= {*PARTS} or len({*parts}) < len(parts):
            raise ValueError(f"{text!r} must be {ALLOWED}")
        return cls(**dict.fromkeys(parts, True))

    def __str__(self) -> str:
        """Return the text that `parse` reads, with the parts in one order."""
        return "+".join(["words", *(part for part in PARTS if getattr(self, part))])

    def features_of(self, text: str, most: int = sys.maxsize) -> Features:
        """Return the features of a text, repeats of words and pairs included.

        Raises InstanceError for more than `most`, before it makes many more.
        """
        if len(text) <= self._at_once(text) and not self.characters:
            words = self._found(self._folded(text))
            self._check(words, most)
            return self._with_pairs(words)
        steps = self.steps(text, most)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                features: Features = end.value
                return features

    def steps(self, text: str, most: int = sys.maxsize) -> Generator[None, None, Features]:
        """Return the same as `features_of`, yielding after each slice of the work."""
        words: list[str] = []
        for found in self.words_by_slice(text):
            words += found
            self._check(words, most)
            yield
        features = self._with_pairs(words)
        if not self.characters:
            return features
        values = dict[str, float](Counter(features))
        runs = yield from _runs(words, most - len(features), most)
        values.update((run, CHARACTERS_WEIGHT * times) for run, times in runs.items())
        return values

    def is_long(self, text: str) -> bool:
        """Return whether `steps` has to be used, so that the event loop can run in between."""
        is_slow = self.characters or (self.normalized and not text.isascii())
        return len(text) > (SLICE_CHARACTERS // 8 if is_slow else SLICE_CHARACTERS)

    def words_by_slice(self, text: str) -> Iterator[list[str]]:
        """Yield the words of the text, slice by slice.

        A word that spans several slices is in the list of the last one.
        """
        begun = ""  # a word that may go on in the next slice
        for piece in self._slices(text):
            folded = begun + self._folded(piece)
            words = self._found(folded)
            begun = ""
            if words and folded.endswith(words[-1]):
                # The engine refuses a longer name, so the rest of it is not needed.
                begun = words.pop()[: LONGEST_NAME + 1]
            yield words
        if begun:
            yield [begun]

    def _found(self, folded: str) -> list[str]:
        if self.unspaced and not folded.isascii():
            return _WORD_OR_CHARACTER.findall(folded)
        return _WORD.findall(folded)

    def _folded(self, text: str) -> str:
        if not self.normalized or text.isascii():
            return text.lower()
        # Case folding may leave sequences that NFKC composes.
        return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())

    def _with_pairs(self, words: list[str]) -> list[str]:
        if not self.pairs:
            return words
        return words + [f"{first} {second}" for first, second in pairwise(words)]

    def _check(self, words: list[str], most: int) -> None:
        """Raise InstanceError if the words make more features than `most`."""
        if (2 * len(words) - 1 if self.pairs else len(words)) > most:
            raise _too_many(most)

    def _slices(self, text: str) -> Iterator[str]:
        """Cut the text behind blanks if possible.

        The lower case of a Greek letter depends on its neighbours, but not beyond a blank.
        """
        most = self._at_once(text)
        begin = 0
        while len(text) - begin > most:
            end = begin + most
            blank = text.rfind(" ", begin, end) + 1
            end = blank or (_before_composed(text, begin, end) if self.normalized else end)
            yield text[begin:end]
            begin = end
        yield text[begin:]

    def _at_once(self, text: str) -> int:
        """Return the length of a slice."""
        if self.normalized and not text.isascii():
            return NORMALIZED_CHARACTERS
        return SLICE_CHARACTERS


PARTS = tuple(part.name for part in fields(TextAnalysis))
ALLOWED = f"words, or words with any of {', '.join(PARTS)}, as words+pairs"
WORDS_AND_PAIRS = TextAnalysis(pairs=True)  # of states that do not name their analysis
DEFAULT_TEXT = TextAnalysis(pairs=True, unspaced=True, normalized=True)  # of new stores


def features_of(text: str) -> list[str]:
    """Return the lower-cased words of the text and its word bigrams, repeats included.

    A word is a run of Unicode letters, digits and underscores; a bigram is joined by one space.
    """
    return [*WORDS_AND_PAIRS.features_of(text)]


def _runs(words: list[str], room: int, most: int) -> Generator[None, None, Counter[str]]:
    """Return the runs of characters of the words; yield after each slice of the work.

    Raises InstanceError for more different runs than `room`.
    """
    runs = Counter[str]()
    begin = 0
    while begin < len(words):
        found: list[str] = []
        while begin < len(words) and len(found) < RUNS_AT_ONCE:
            found += _runs_of(words[begin])
            begin += 1
        runs.update(found)
        if len(runs) > room:
            raise _too_many(most)
        yield
    return runs


def _runs_of(word: str) -> tuple[str, ...]:
    """Return the runs of characters of a word, each behind a ~, but for the whole word.

    No word or pair has a ~, so a run never means the same as one of them.
    """
    if len(word) <= LONGEST_CACHED:
        return _cached_runs_of(word)
    return _made_runs_of(word[: LONGEST_NAME + 1])  # the engine refuses a longer word


def _made_runs_of(word: str) -> tuple[str, ...]:
    marked = f"<{word}>"
    size = len(marked)
    return tuple(
        [
            "~" + marked[begin : begin + length]
            for length in range(SHORTEST, min(LONGEST, size - 1) + 1)
            for begin in range(size - length + 1)
        ]
    )


_cached_runs_of = lru_cache(8192)(_made_runs_of)  # 10 MB or less


def _too_many(most: int) -> InstanceError:
    return InstanceError(f"An instance has at most {most} features.")


def _before_composed(text: str, begin: int, end: int) -> int:
    """Return the last place up to `end` where NFKC of both sides is that of the whole.

    If a hundred marks in a row stand there, return `end`.
    """
    for place in range(end, max(begin, end - 100), -1):
        before, after = text[max(begin, place - 4) : place], text[place : place + 1]
        folded = unicodedata.normalize("NFKC", after)
        apart = unicodedata.normalize("NFKC", before) + folded
        if not unicodedata.combining(folded[0]) and apart == unicodedata.normalize(
            "NFKC", before + after
        ):
            return place
    return end

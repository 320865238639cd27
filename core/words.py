"""Word prediction: instances whose class is a word and whose features are its neighbours.

A feature is written as a pattern, with `_` for the gap and `*` for any word:
`of the _`, `of * _`, `the _ of`. Words contain neither sign, so patterns are unambiguous.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

# Offsets of a feature's words from the gap: six neighbours, then nine conjunctions.
PATTERNS: Final[tuple[tuple[int, ...], ...]] = (
    (-1,),
    (-2,),
    (-3,),
    (1,),
    (2,),
    (3,),
    (-2, -1),
    (-3, -2),
    (-3, -2, -1),
    (1, 2),
    (2, 3),
    (1, 2, 3),
    (-1, 1),
    (-2, -1, 1),
    (-1, 1, 2),
)

REACH: Final = 3  # words on each side of the gap
BEYOND: Final = (".",) * REACH

# Letters and digits only, so "fifty-four" is two words and so is "Elliot's". Other rules were tried
# on the whole of Jane Austen; docs/measurements.md compares them.
WORD = re.compile(r"[^\W_]+")
PARAGRAPH = re.compile(r"\n\s*\n")
# A stop, closing signs, and a next word that does not begin in lower case:
# `"Where?" said she` is one sentence.
SENTENCE_END = re.compile(r"[.!?]+[\"'\u2019\u201d)\]]*\s+(?=[^a-z\s]*[A-Z0-9])")
ABBREVIATIONS: Final = frozenset({"Mr", "Mrs", "Ms", "Dr", "St", "Messrs", "Esq", "Col", "Capt"})


def sentences(text: str, word: re.Pattern[str] = WORD) -> Iterator[list[str]]:
    """Yield the words of each sentence in order, with their case, without punctuation."""
    for paragraph in PARAGRAPH.split(text):
        start = 0
        for end in SENTENCE_END.finditer(paragraph):
            words = word.findall(paragraph, start, end.start())
            if words and words[-1] in ABBREVIATIONS:
                continue
            start = end.end()
            if words:
                yield words
        words = word.findall(paragraph, start)
        if words:
            yield words


def instances(words: Sequence[str]) -> Iterator[tuple[list[str], str]]:
    """Yield (features, word) for each word of a sentence."""
    within = _with_ends(words)
    for gap, word in enumerate(words, REACH):
        yield _features(within, gap), word


def with_gap(sentence: str) -> tuple[list[str], int]:
    """Return the words of a sentence with one gap `_`, and the position of the gap."""
    before, _, after = sentence.partition("_")
    left = WORD.findall(before)
    return [*left, "_", *WORD.findall(after)], len(left)


def features(words: Sequence[str], gap: int) -> list[str]:
    """Return the fifteen patterns around the position `gap` of a sentence."""
    return _features(_with_ends(words), gap + REACH)


def _features(words: Sequence[str], gap: int) -> list[str]:
    return [pattern(words, gap, offsets) for offsets in PATTERNS]


def _with_ends(words: Sequence[str]) -> list[str]:
    """Put full stops around the words, so that patterns include the ends of a sentence."""
    return [*BEYOND, *words, *BEYOND]


def pattern(words: Sequence[str], gap: int, offsets: tuple[int, ...]) -> str:
    """Return the pattern of the words at these offsets from the gap: `of * _`."""
    first, last = min(offsets[0], 0), max(offsets[-1], 0)
    return " ".join(
        "_" if offset == 0 else words[gap + offset] if offset in offsets else "*"
        for offset in range(first, last + 1)
    )

"""Word prediction: a text becomes instances whose class is a word and whose features are around it.

A feature is written as the pattern it stands for, the gap being `_` and a word left open `*`:
`of the _`, `of * _`, `the _ of`. A word holds neither sign, so that no two patterns read the same.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

# Where the words of a feature stand, counted from the gap. Six neighbours, then nine conjunctions.
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

# Letters and digits only, so "fifty-four" is two words and so is "Elliot's": counted whole, such
# forms are many and rare, and a word seldom seen is seldom predicted.
WORD = re.compile(r"[^\W_]+")
PARAGRAPH = re.compile(r"\n\s*\n")
# A stop, whatever closes with it, and a next word that does not begin in lower case:
# `"Where?" said she` is one sentence.
SENTENCE_END = re.compile(r"[.!?]+[\"'\u2019\u201d)\]]*\s+(?=[^a-z\s]*[A-Z0-9])")
ABBREVIATIONS: Final = frozenset({"Mr", "Mrs", "Ms", "Dr", "St", "Messrs", "Esq", "Col", "Capt"})


def sentences(text: str) -> Iterator[list[str]]:
    """The words of each sentence, in the order of the text; case is kept, punctuation is not."""
    for paragraph in PARAGRAPH.split(text):
        start = 0
        for end in SENTENCE_END.finditer(paragraph):
            words = WORD.findall(paragraph, start, end.start())
            if words and words[-1] in ABBREVIATIONS:
                continue
            start = end.end()
            if words:
                yield words
        words = WORD.findall(paragraph, start)
        if words:
            yield words


def instances(words: Sequence[str]) -> Iterator[tuple[list[str], str]]:
    """For each word of a sentence: the features around it, and the word itself."""
    for gap, word in enumerate(words):
        yield features(words, gap), word


def features(words: Sequence[str], gap: int) -> list[str]:
    """The patterns around the place `gap`; those that reach over an end are left out."""
    return [
        pattern(words, gap, places)
        for places in PATTERNS
        if gap + places[0] >= 0 and gap + places[-1] < len(words)
    ]


def with_gap(sentence: str) -> tuple[list[str], int]:
    """The words of a sentence that has one `_` for a word, and the place of that gap."""
    before, _, after = sentence.partition("_")
    left = WORD.findall(before)
    return [*left, "_", *WORD.findall(after)], len(left)


def pattern(words: Sequence[str], gap: int, places: tuple[int, ...]) -> str:
    """How the words at these places read around the gap: `of * _`."""
    first, last = min(places[0], 0), max(places[-1], 0)
    return " ".join(
        "_" if place == 0 else words[gap + place] if place in places else "*"
        for place in range(first, last + 1)
    )

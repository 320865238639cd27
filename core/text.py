"""Converts a text to features, equally for ranking and learning."""

import re
from collections.abc import Iterator
from itertools import chain, islice, pairwise

# A longer text is read in slices, so that the event loop can run in between.
SLICE_CHARACTERS = 65_536

_WORD = re.compile(r"\w+")


def features_of(text: str) -> list[str]:
    """Return the lower-cased words of the text and its word bigrams, repeats included.

    A word is a run of Unicode letters, digits and underscores; a bigram is joined by one space.
    """
    return with_pairs([*chain.from_iterable(words_by_slice(text))])


def with_pairs(words: list[str]) -> list[str]:
    """Return the features of a text with these words."""
    return words + [f"{first} {second}" for first, second in pairwise(words)]


def most_words(features: int) -> int:
    """Return the largest number of words of a text with at most so many features."""
    return (features + 1) // 2  # n words make 2n - 1 features


def has_more_features(text: str, most: int) -> bool:
    """Return whether the text has more than `most` features, without creating them."""
    limit = most_words(most)
    if len(text) <= limit:
        return False  # a character is one word at most
    words = _WORD.finditer(text.lower())
    return next(islice(words, limit, None), None) is not None


def words_by_slice(text: str) -> Iterator[list[str]]:
    """Yield the lower-cased words of the text, slice by slice.

    A word that spans several slices is in the list of the last one.
    """
    begun: list[str] = []  # parts of a word that may go on in the next slice
    for piece in _slices(text):
        lowered = piece.lower()
        words = _WORD.findall(lowered)
        goes_on = bool(words) and lowered.endswith(words[-1])
        if begun:
            if words and lowered.startswith(words[0]):
                begun.append(words.pop(0))
            if words or not goes_on:
                words.insert(0, "".join(begun))
                begun = []
            else:
                goes_on = False  # the whole slice is part of one word
        if goes_on:
            begun = [words.pop()]
        yield words
    if begun:
        yield ["".join(begun)]


def _slices(text: str) -> Iterator[str]:
    """Cut the text behind blanks if possible.

    The lower case of a Greek letter depends on its neighbours, but not beyond a blank.
    """
    begin = 0
    while len(text) - begin > SLICE_CHARACTERS:
        end = begin + SLICE_CHARACTERS
        end = text.rfind(" ", begin, end) + 1 or end
        yield text[begin:end]
        begin = end
    yield text[begin:]

"""Text -> features, the same way when ranking and when learning."""

import re
from itertools import islice, pairwise

_WORD = re.compile(r"\w+")


def features_of(text: str) -> list[str]:
    """The lower-cased words of the text and its pairs of neighbouring words, repeats included.

    A word is a run of Unicode letters, digits and underscores; a pair is joined by one space.
    """
    words = _WORD.findall(text.lower())
    return words + [f"{first} {second}" for first, second in pairwise(words)]


def has_more_features(text: str, most: int) -> bool:
    """Whether the text has more than `most` features, found out without making them."""
    most_words = (most + 1) // 2  # n words make 2n - 1 features
    if len(text) <= most_words:
        return False  # a character is one word at most
    words = _WORD.finditer(text.lower())
    return next(islice(words, most_words, None), None) is not None

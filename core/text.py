"""Text -> features, the same way when ranking and when learning."""

import re
from itertools import pairwise

_WORD = re.compile(r"\w+")


def features_of(text: str) -> list[str]:
    """The lower-cased words of the text and its pairs of neighbouring words, repeats included.

    A word is a run of Unicode letters, digits and underscores; a pair is joined by one space.
    """
    words = _WORD.findall(text.lower())
    return words + [f"{first} {second}" for first, second in pairwise(words)]

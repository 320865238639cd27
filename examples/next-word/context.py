"""The features of a word that comes next: the one, two and three words before it."""

from collections.abc import Sequence

REACH = 3  # words before the next one


def context(words: Sequence[str]) -> list[str]:
    """Return the features of the word that follows these.

    Words further back also count alone, with a `*` for each word between: `was * *`.
    """
    last = [".", *words][-REACH:]
    sequences = [" ".join(last[start:]) for start in range(len(last))]
    alone = [word + " *" * (len(last) - 1 - place) for place, word in enumerate(last)]
    return sorted({*sequences, *alone})

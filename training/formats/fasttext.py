"""fastText's format: classes that begin with `__label__`, and words.

    __label__hockey __label__sports the goalie stopped the puck

The words are read as a text, as the service reads `"text"`: the line above teaches the features of
{"text": "the goalie stopped the puck"}.
"""

from collections.abc import Iterable, Iterator

from manyclass.core.text import features_of
from manyclass.training.formats.given import Given, Held, Rejected, each, words
from manyclass.training.lines import Line, LineFault

LABEL = "__label__"


def read(lines: Iterable[Line]) -> Iterator[Given | Rejected]:
    """Yield the instance of each line."""
    return each(lines, _held)


def _held(text: str) -> Held:
    said = words(text)
    classes = [word.removeprefix(LABEL) for word in said if word.startswith(LABEL)]
    if not classes:
        raise LineFault(f"no true class: no word begins with {LABEL}")
    return [*features_of(" ".join(word for word in said if not word.startswith(LABEL)))], [*classes]

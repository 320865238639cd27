"""fastText's format: classes that begin with `__label__`, and words.

    __label__hockey __label__sports the goalie stopped the puck

The words are read as a text, as the service reads `"text"`: the line above teaches the features of
{"text": "the goalie stopped the puck"}.
"""

from collections.abc import Iterable, Iterator

from manyclass.training.formats.given import Given, Parsed, Rejected, parse, words
from manyclass.training.lines import Line, LineFault

LABEL = "__label__"


def read(lines: Iterable[Line]) -> Iterator[Given | Rejected]:
    """Yield the instance of each line."""
    return parse(lines, _parse_line)


def _parse_line(text: str) -> Parsed:
    tokens = words(text)
    classes = [token.removeprefix(LABEL) for token in tokens if token.startswith(LABEL)]
    if not classes:
        raise LineFault(f"no true class: no word begins with {LABEL}")
    return " ".join(token for token in tokens if not token.startswith(LABEL)), [*classes]

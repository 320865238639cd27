"""Origins of rows: file, line and the beginning of the text."""

from array import array

import numpy as np

from manyclass.training.formats.given import Given
from manyclass.training.rows import Ids, Rows

LONGEST = 80  # letters kept of a text
FEATURES = 8  # shown of an instance without a text


class Origins:
    """Files, lines and beginnings of texts of rows, in the order of reading."""

    def __init__(self) -> None:
        self._files = Ids()
        self._file_of = array("i")
        self._numbers = array("q")
        self._texts: list[str | None] = []

    def add(self, given: Given) -> None:
        """Add the origin of the next row."""
        self._file_of.append(self._files[given.line.file])
        self._numbers.append(given.line.number)
        text = given.text
        if isinstance(text, dict):
            named = (f"{_first_words(name)}: {_first_words(each)}" for name, each in text.items())
            self._texts.append(shortened("  ".join(named)))
        else:
            self._texts.append(None if text is None else _first_words(text))

    def line(self, row: int) -> str:
        """Return the number of the line, with the name of its file if there are several files."""
        number = str(self._numbers[row])
        if len(self._files) == 1:
            return number
        return f"{list(self._files)[self._file_of[row]]}:{number}"

    def beginning(self, row: int, rows: Rows) -> str:
        """Return the beginning of the row's text, or its heaviest features."""
        text = self._texts[row]
        return _heaviest(row, rows) if text is None else text


def _first_words(text: str) -> str:
    return shortened(" ".join(text.split(None, LONGEST)[:LONGEST]))


def _heaviest(row: int, rows: Rows) -> str:
    begin, end = rows.indptr[row : row + 2]
    heaviest = begin + np.argsort(-np.abs(rows.values[begin:end]), kind="stable")[:FEATURES]
    pairs = [(rows.features[rows.indices[at]], float(rows.values[at])) for at in heaviest]
    shown = (name if value == 1 else f"{name}:{value:.3g}" for name, value in pairs)
    return shortened(" ".join(shown))


def shortened(text: str, letters: int = LONGEST) -> str:
    """Return the text, or its beginning with an ellipsis if it is longer."""
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…"

"""The results of `manyclass rank`: lines of JSON, or a table with the columns of the input."""

import csv
from collections.abc import Callable, Sequence
from io import StringIO
from typing import IO, Final, Protocol

import msgspec
import typer

from manyclass.cli.batches import Item
from manyclass.cli.connection import WRONG_USE, complain
from manyclass.cli.request_lines import Body
from manyclass.client.types import RankedClass, Ranking, Rankings
from manyclass.training.lines import Line
from manyclass.training.tables.record import Cell
from manyclass.training.tables.source import Row

LINE_COLUMNS: Final = ("id", "text", "features")  # of a table of results of JSON lines

_ENCODER = msgspec.json.Encoder()


class Output(Protocol):
    """Writes the results of instances, in order."""

    def write(self, items: Sequence[Item], answer: Rankings) -> None:
        """Write the result of each item."""


class RankedLine(msgspec.Struct, omit_defaults=True):
    """A line of the results. `seq` is the number of the last event applied before the ranking.

    `withheld` is the old name of `abstained`, until 1.0.
    """

    id: str
    ranked: tuple[RankedClass, ...]
    confidence: float | None
    seq: int
    abstained: bool = False
    withheld: bool = False


class LineOutput:
    """Writes a line of JSON for each result."""

    def __init__(self, opened: IO[bytes]) -> None:
        self._opened = opened

    def write(self, items: Sequence[Item], answer: Rankings) -> None:
        """Write the result of each item."""
        lines = (
            RankedLine(
                result.id,
                result.ranked,
                result.confidence,
                answer.seq,
                result.abstained,
                result.abstained,
            )
            for result in answer.results
        )
        self._opened.write(_ENCODER.encode_lines(lines))
        self._opened.flush()


class TableOutput:
    """Writes CSV: the columns of the input, the confidence, and each class with its score."""

    def __init__(self, opened: IO[bytes], classes: int, delimiter: Callable[[], str]) -> None:
        """`delimiter` is called before the first row is written."""
        self._opened = opened
        self._classes = classes
        self._delimiter = delimiter
        self._columns: Sequence[str] = ()  # of the input

    def write(self, items: Sequence[Item], answer: Rankings) -> None:
        """Write the row of each item with its result."""
        written = StringIO()
        rows = csv.writer(written, delimiter=self._delimiter())
        if not self._columns:
            self._columns = _columns_of(items[0][0])
            rows.writerow([*self._columns, *self._result_names()])
        for (line, body), result in zip(items, answer.results, strict=True):
            if _columns_of(line) != self._columns:
                complain(f"{line.file}: its columns are not those of the first file")
                raise typer.Exit(WRONG_USE)
            rows.writerow([*_cells_of(line, body, result), *self._cells(result)])
        self._opened.write(written.getvalue().encode())

    def _result_names(self) -> list[str]:
        names = ["confidence"]
        for number in range(1, self._classes + 1):
            names += [f"class_{number}", f"score_{number}"]
        prefix = ""
        while any(prefix + name in self._columns for name in names):
            prefix += "new_"  # of a table that was ranked before
        return [prefix + name for name in names]

    def _cells(self, result: Ranking) -> list[str]:
        cells = ["" if result.confidence is None else f"{result.confidence:.6f}"]
        for each in result.ranked[: self._classes]:
            cells += [each.name, f"{each.score:.6f}"]
        return cells + [""] * (1 + 2 * self._classes - len(cells))


def _columns_of(line: Line) -> Sequence[str]:
    return line.names if isinstance(line, Row) else LINE_COLUMNS


def _cells_of(line: Line, body: Body, result: Ranking) -> list[str]:
    if isinstance(line, Row):
        return [_text(cell) for cell in line.cells]
    text = msgspec.json.decode(body["text"]) if "text" in body else ""
    if not isinstance(text, str):  # the texts of fields
        text = bytes(body["text"]).decode()
    return [result.id, text, bytes(body.get("features", b"")).decode()]


def _text(cell: Cell) -> str:
    """Return a cell of the input as one text; a list as JSON, so that its items stay apart."""
    return cell if isinstance(cell, str) else msgspec.json.encode(cell).decode()

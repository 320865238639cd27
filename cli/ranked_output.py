"""The results of `manyclass rank`: lines of JSON, or a table with the columns of the input."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import IO, Final, Protocol, cast

import msgspec
import typer

from manyclass.cli.batches import Item
from manyclass.cli.connection import WRONG_USE, complain
from manyclass.cli.request_lines import Body
from manyclass.cli.table_writers import TableWriter
from manyclass.client.types import RankedClass, Ranking, Rankings
from manyclass.core.text_fields import without_nulls
from manyclass.training.formats.given import Text
from manyclass.training.lines import Line
from manyclass.training.tables.columns import as_option
from manyclass.training.tables.record import Cell, Fields
from manyclass.training.tables.source import Row
from manyclass.training.vectors import packed, vector_of_json

VECTOR: Final = "vector"
LINE_COLUMNS: Final = ("id", "text", "features", VECTOR)  # of a table of results of JSON lines
DECISION: Final = "decision"  # the column of a run with limits, as the page Import writes it
_TEXTS: Final = ("class_", "title_", DECISION)  # in the names of columns of texts
AUTOMATIC, UNSURE = "automatic", "let a person decide"

Kept = Text  # a cell of the input; that of a text may have fields

_ENCODER = msgspec.json.Encoder()
_KEPT = msgspec.json.Decoder(list[Kept])


class Output(Protocol):
    """Writes the results of instances, in order."""

    def write(self, items: Sequence[Item], answer: Rankings) -> None:
        """Write the result of each item."""

    def end(self) -> None:
        """Write what was kept until the end."""


class RankedLine(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A line of the results. `seq` is the number of the last event applied before the ranking.

    A line without an id that does not wait for a label has none here.
    """

    id: str = ""
    ranked: tuple[RankedClass, ...]
    confidence: float | None
    seq: int
    abstained: bool = False


class LineOutput:
    """Writes a line of JSON for each result."""

    def __init__(self, opened: IO[bytes]) -> None:
        self._opened = opened

    def write(self, items: Sequence[Item], answer: Rankings) -> None:
        """Write the result of each item."""
        lines = (
            RankedLine(
                id=result.id,
                ranked=result.ranked,
                confidence=result.confidence,
                seq=answer.seq,
                abstained=result.abstained,
            )
            for result in answer.results
        )
        self._opened.write(_ENCODER.encode_lines(lines))
        self._opened.flush()

    def end(self) -> None:
        """Do nothing: each result is written at once."""


class TableOutput:
    """Writes a table: the columns of the input, the decision if there are limits, the confidence,
    and each class with its score, with its title if a class has one, and with its probability if
    that was asked for.

    A text of fields has a column for each field. The last row may have a new one, so that all rows
    are kept until the end. JSON lines without vectors have no column of them.
    """

    def __init__(
        self,
        kept: IO[bytes],
        classes: int,
        probabilities: bool,
        decides: bool,
        writer: Callable[[Collection[str]], TableWriter],
    ) -> None:
        """`kept` has the rows until the end, when `writer` is called with columns of numbers."""
        self._kept = kept
        self._classes = classes
        self._about = (DECISION, "confidence") if decides else ("confidence",)
        probability = ["probability"] if probabilities else []
        self._of_class = ["class", "title", *probability, "score"]
        self._has_titles = self._has_vectors = False
        self._writer = writer
        self._columns: Sequence[str] = ()  # of the input
        self._fields: dict[int, dict[str, None]] = {}  # the names of fields in a column
        self._plain: set[int] = set()  # columns with a text without fields

    def write(self, items: Sequence[Item], answer: Rankings) -> None:
        """Keep the row of each item with its result."""
        self._columns = self._columns or _columns_of(items[0][0])
        rows: list[list[Kept]] = []
        for (line, body), result in zip(items, answer.results, strict=True):
            if _columns_of(line) != self._columns:
                complain(f"{line.file}: its columns are not those of the first file")
                raise typer.Exit(WRONG_USE)
            cells = _cells_of(line, body, result)
            self._has_vectors |= VECTOR in body
            if dict in map(type, cells):
                for at, cell in enumerate(cells):
                    if isinstance(cell, dict):
                        self._fields.setdefault(at, {}).update(dict.fromkeys(cell))
            rows.append([*cells, *self._cells(result)])
        self._kept.write(_ENCODER.encode_lines(rows))

    def end(self) -> None:
        """Write all rows, and print how to read fields again."""
        if not self._columns:
            return
        if self._fields:
            for cells in self._rows():
                self._plain |= {
                    at for at in self._fields if cells[at] and isinstance(cells[at], str)
                }
        names = [name for at in range(len(self._columns)) for name in self._names(at)]
        own = self._result_names(names)
        table = self._writer([each for each in own if not any(text in each for text in _TEXTS)])
        table.write([*names, *own])
        for row in map(self._spread_row, self._rows()):
            table.write(row)
        table.end()
        if self._fields:
            self._say_fields(names)

    def _rows(self) -> Iterator[list[Kept]]:
        self._kept.seek(0)
        return map(_KEPT.decode, self._kept)

    def _spread_row(self, cells: list[Kept]) -> list[str]:
        """Return the cells of the result: texts, since each field has its own column."""
        spread = map(self._spread, range(len(self._columns)), cells)
        is_spread = self._fields or self._lacks_vectors
        whole = chain.from_iterable(spread) if is_spread else cells[: len(self._columns)]
        return cast(list[str], [*whole, *self._shown(cells[len(self._columns) :])])

    def _shown(self, cells: list[Kept]) -> list[Kept]:
        """Return the cells of a result without those of titles, if no class has one."""
        if self._has_titles:
            return cells
        first, title = len(self._about), self._of_class.index("title")
        return [
            cell
            for at, cell in enumerate(cells)
            if at < first or (at - first) % len(self._of_class) != title
        ]

    def _names(self, at: int) -> list[str]:
        """Return the columns of the result in place of a column of the input."""
        if self._is_left_out(at):
            return []
        is_plain = at not in self._fields or at in self._plain
        return [*([self._columns[at]] if is_plain else []), *self._fields.get(at, ())]

    def _spread(self, at: int, cell: Kept) -> list[Kept]:
        """Return the cells of the result in place of a cell of the input."""
        if self._is_left_out(at):
            return []
        if at not in self._fields:
            return [cell]
        fields = cell if isinstance(cell, dict) else {}
        plain = [cell if isinstance(cell, str) else ""] if at in self._plain else []
        return [*plain, *(fields.get(name, "") for name in self._fields[at])]

    @property
    def _lacks_vectors(self) -> bool:
        return self._columns is LINE_COLUMNS and not self._has_vectors

    def _is_left_out(self, at: int) -> bool:
        return self._lacks_vectors and LINE_COLUMNS[at] == VECTOR

    def _say_fields(self, names: Sequence[str]) -> None:
        before, options = 0, []
        for at in range(len(self._columns)):
            many = len(self._names(at))
            if at in self._fields:
                first = before + many - len(self._fields[at])
                options += [as_option(each, names) for each in range(first, before + many)]
            before += many
        read = " ".join(f"--text-column {option}" for option in options)
        plain = [self._columns[at] for at in self._fields if at in self._plain]
        complain(
            f"each field of a text has a column of its own: {read} --fields reads them"
            + (f"; texts without fields are in column {plain[0]}" if plain else "")
        )

    def _result_names(self, columns: Sequence[str]) -> list[str]:
        names = [*self._about]
        for number in range(1, self._classes + 1):
            names += [f"{each}_{number}" for each in self._shown_of_class]
        prefix = ""
        while any(prefix + name in columns for name in names):
            prefix += "new_"  # of a table that was ranked before
        return [prefix + name for name in names]

    @property
    def _shown_of_class(self) -> list[str]:
        return [each for each in self._of_class if each != "title" or self._has_titles]

    def _cells(self, result: Ranking) -> list[str]:
        about = {
            DECISION: UNSURE if result.abstained else AUTOMATIC,
            "confidence": _number(result.confidence),
        }
        cells = [about[name] for name in self._about]
        for each in result.ranked[: self._classes]:
            self._has_titles |= each.title is not None
            of_class = {
                "class": each.name,
                "title": each.title or "",
                "probability": _number(each.probability),
                "score": _number(each.score),
            }
            cells += [of_class[name] for name in self._of_class]
        most = len(self._about) + len(self._of_class) * self._classes
        return cells + [""] * (most - len(cells))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6f}"


def _columns_of(line: Line) -> Sequence[str]:
    return line.names if isinstance(line, Row) else LINE_COLUMNS


def _cells_of(line: Line, body: Body, result: Ranking) -> Sequence[Kept]:
    if isinstance(line, Row):
        return [_kept(cell, line.text) for cell in line.cells]
    text: Kept = without_nulls(msgspec.json.decode(body["text"])) if "text" in body else ""
    vector = packed(vector_of_json(body[VECTOR])) if VECTOR in body else ""
    return [result.id, text, bytes(body.get("features", b"")).decode(), vector]


def _kept(cell: Cell, text: Text) -> Kept:
    """Return a cell of the input as one text, or the fields of the text.

    A list is JSON, so that its items stay apart, and so is an object.
    """
    if isinstance(cell, str):
        return cell
    if isinstance(cell, list):
        return _ENCODER.encode(cell).decode()
    return cell.texts if isinstance(cell, Fields) and cell.texts is text else cell.notation

"""The rows of a table as JSON lines."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path, PurePath

import msgspec

from manyclass.training.lines import STANDARD_INPUT, FileFault, Line, Source
from manyclass.training.recognition import not_csv
from manyclass.training.tables import delimited, objects, parquet, spreadsheet
from manyclass.training.tables.columns import Columns, choose, column_names, listed
from manyclass.training.tables.delimited import (
    decoded,
    encoding_of,
    given_delimiter,
    likely_delimiter,
)
from manyclass.training.tables.guard import MARK, unguarded
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.record import Cell, Record, TableError, text_of

SAMPLED_ROWS = 10  # read before the columns are chosen

_ENCODER = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Row(Line):
    """A row of a table; its bytes are an event or an instance of JSON."""

    names: Sequence[str] = ()
    cells: Sequence[Cell] = ()


class TableFault(FileFault):
    """A table that its layout does not fit, or a damaged one."""


class TableSource(Source):
    """The rows of a table as JSON lines, events of POST /learn or instances of POST /rank.

    A row is {"text": ..., "classes": [...], "event_id": ...}, or {"text": ..., "id": ...} if it is
    not to be labelled. Iteration raises FileFault, which is a TableFault where the columns of the
    layout are not there.
    """

    def __init__(
        self,
        file: str,
        format: str,
        layout: Layout,
        labelled: bool = True,
        guessed: Callable[[str], None] = lambda guess: None,
    ) -> None:
        """`guessed` is called with a text about columns that the layout does not name."""
        super().__init__(file)
        self._format = format
        self._layout = layout
        self._labelled = labelled
        self._guessed = guessed
        self.delimiter = ""  # of CSV, once its beginning was read

    def check(self) -> None:
        """Raise what iteration would at its beginning; a pipe, which is read once, is not read."""
        if self.file != STANDARD_INPUT and Path(self.file).is_file():
            self._guessed, guessed = (lambda guess: None), self._guessed
            try:
                next(iter(self), None)
            finally:
                self._guessed, self.position = guessed, 0

    def __iter__(self) -> Iterator[Line]:
        try:
            yield from self._rows()
        except OSError as error:
            raise FileFault(self.name, error.strerror or str(error)) from error
        except TableError as error:
            raise TableFault(self.name, str(error)) from error

    def _rows(self) -> Iterator[Row]:
        records: Iterator[Record] = filter(lambda record: record.is_filled, self._records())
        header = next(records, None) if self._has_header else None
        if header and MARK in header.cells:
            mark = header.cells.index(MARK)
            [header], records = unguarded([header], mark), unguarded(records, mark)
        sample = list(islice(records, SAMPLED_ROWS))
        if header is None:
            width = max((len(record.cells) for record in sample), default=0)
            names = [f"column {number}" for number in range(1, width + 1)]
        elif header.fault:
            raise TableError(f"line {header.number}: {header.fault}")
        else:
            names = column_names(header.cells)
        if not sample:
            raise TableError(self._without_rows(() if header is None else names))
        columns = choose(self._layout, names, sample, self._labelled)
        if columns.guess:
            self._guessed(columns.guess)
        for record in chain(sample, records):
            if header is None or record.cells != header.cells:  # files put together repeat it
                yield self._row(record, names, columns)

    def _without_rows(self, names: Sequence[str]) -> str:
        if not names:
            return "it is empty"
        remedy = "" if self._format == "parquet" else ": if it has none, add --no-header"
        return f"it has a header and no rows ({listed(names)}){remedy}"

    @property
    def _has_header(self) -> bool:
        return self._layout.header or self._format in ("jsonl", "parquet")

    def _records(self) -> Iterator[Record]:
        if self._format == "parquet":
            if self.file == STANDARD_INPUT:
                raise TableError("Parquet is read from a file, not from standard input")
            yield from parquet.records(Path(self.file))
            return
        if self._format == "jsonl":
            yield from objects.records(self._lines())
            return
        with self._plain() as plain:
            begin, self.begin = self.begin, b""  # the format need not be recognised
            if self._format == "xlsx":
                yield from spreadsheet.records(plain)
            else:
                if likely := not_csv(begin):
                    raise TableError(f"this looks like {likely}")
                encoding = encoding_of(begin, self._layout.encoding)
                self.delimiter = self._delimiter(decoded(begin, encoding))
                yield from delimited.records(plain, encoding, self.delimiter)

    def _lines(self) -> Iterator[Line]:
        for line in super().__iter__():
            self.begin = b""
            yield line

    def _delimiter(self, begin: str) -> str:
        if self._layout.delimiter is not None:
            return given_delimiter(self._layout.delimiter)
        return "\t" if ".tsv" in PurePath(self.file).suffixes else likely_delimiter(begin)

    def _row(self, record: Record, names: Sequence[str], columns: Columns) -> Row:
        missing = len(names) - len(record.cells)
        cells = [*record.cells, *[""] * missing]
        text = " ".join(filter(None, (text_of(cells[at]) for at in columns.text)))
        classes = self._classes([cells[at] for at in columns.classes])
        fault = record.fault
        if not fault and any(cells[len(names) :]):
            fault = (
                f"it has {len(cells)} cells, the header has {len(names)} ({listed(names)}): a text"
                " that holds the delimiter needs quotes, or give another --delimiter"
            )
        if not fault and self._labelled and not text.strip():
            fault = f"no text: {listed([names[at] for at in columns.text])} is empty"
        if not fault and self._labelled and not classes:
            fault = f"no class: {listed([names[at] for at in columns.classes])} is empty"
        if fault:
            return Row(self.name, record.number, None, fault, record.lines, names, cells)
        id = "" if columns.id is None else text_of(cells[columns.id])
        body: dict[str, object] = {"text": text}
        if self._labelled:
            body["classes"] = classes
        if id:
            body["event_id" if self._labelled else "id"] = id
        data, filled = _ENCODER.encode(body), cells[: len(names)]
        return Row(self.name, record.number, data, "", record.lines, names, filled)

    def _classes(self, cells: Sequence[Cell]) -> list[str]:
        separator = self._layout.class_separator
        found: list[str] = []
        for cell in cells:
            for each in [cell] if isinstance(cell, str) else cell:
                found += each.split(separator) if separator else [each]
        return list(dict.fromkeys(filter(None, (each.strip() for each in found))))

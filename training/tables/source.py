"""The rows of a table as JSON lines."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path, PurePath

import msgspec

from manyclass.training.compression import inner_name
from manyclass.training.encodings import EncodingFault, decoded, encoding_of
from manyclass.training.json_lines import LEFT_OUT_LABELS, REJECTED_ANSWERS, REJECTING
from manyclass.training.lines import STANDARD_INPUT, FileFault, Line, Source
from manyclass.training.recognition import not_csv
from manyclass.training.tables import delimited, objects, parquet, spreadsheet
from manyclass.training.tables.columns import Columns, choose, column_names, listed
from manyclass.training.tables.delimited import (
    declared_delimiter,
    given_delimiter,
    likely_delimiter,
)
from manyclass.training.tables.guard import MARK, unguarded
from manyclass.training.tables.header import separated
from manyclass.training.tables.labels import LabelFault, labels
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.record import Cell, Record, TableError, Unusable, text_of

SAMPLED_ROWS = 10  # read before the columns are chosen
REPEATED_HEADERS = "repeated header"
NO_LABELS = "row without a class"

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
        super().__init__(file, layout.encoding)
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
        self.left_out.clear()
        try:
            yield from self._rows()
        except OSError as error:
            raise FileFault(self.name, error.strerror or str(error)) from error
        except (TableError, EncodingFault) as error:
            raise TableFault(self.name, str(error)) from error

    def _rows(self) -> Iterator[Row]:
        records: Iterator[Record] = (each for each in self._records() if each.is_filled)
        header: Record | None = None
        if self._has_names:
            header = next(records, None)
        elif self._layout.header:
            header, titles, records = separated(records, self._layout)
            for title in titles:
                self._guessed(f"line {title.number} is a title above the header: it is left out")
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
        if columns.said:
            self._guessed(columns.said)
        for record in chain(sample, records):
            if header is not None and self._is_header(record, header, names):
                self.left_out[REPEATED_HEADERS] += 1
            elif columns.answer is not None and self._is_rejected(record, columns.answer):
                self.left_out[REJECTED_ANSWERS] += 1
            else:
                yield from self._row(record, names, columns)

    def _without_rows(self, names: Sequence[str]) -> str:
        if not names:
            return "it is empty"
        remedy = "" if self._format == "parquet" else ": if it has none, add --no-header"
        return f"it has a header and no rows ({listed(names)}){remedy}"

    @property
    def _has_names(self) -> bool:
        """True if the format itself names its columns."""
        return self._format in ("jsonl", "parquet")

    def _is_header(self, record: Record, header: Record, names: Sequence[str]) -> bool:
        """Return whether a record repeats the header, as in files that were put together.

        TableError if another file begins with it, whose columns are others.
        """
        if self._has_names:
            return False
        if record.cells == header.cells:
            return True
        its_names = column_names(record.cells)
        if record.begins_file and not {*its_names}.isdisjoint(names):
            if its_names == names:
                return True
            raise TableError(
                f"another file begins at line {record.number}, with other columns"
                f" ({listed(its_names)}): give the files one by one"
            )
        return False

    def _is_rejected(self, record: Record, answer: int) -> bool:
        return answer < len(record.cells) and text_of(record.cells[answer]).strip() in REJECTING

    def _records(self) -> Iterator[Record]:
        if self._format == "parquet":
            yield from parquet.records(self.file)
            return
        if self._format == "jsonl":
            yield from objects.records(self._lines())
            return
        is_spreadsheet = self._format == "xlsx"
        with self._plain(keeps_spreadsheet=is_spreadsheet) as plain:
            begin, self.begin = self.begin, b""  # the format need not be recognised
            if is_spreadsheet:
                yield from spreadsheet.records(plain)
            else:
                if likely := not_csv(begin):
                    raise TableError(f"this looks like {likely}")
                encoding = encoding_of(begin, self._layout.encoding)
                text = decoded(begin, encoding)
                declared = declared_delimiter(text)
                self.delimiter = self._delimiter(text, declared)
                for record in delimited.records(plain, encoding, self.delimiter):
                    if declared is None or record.number > 1:
                        yield record

    def _lines(self) -> Iterator[Line]:
        for line in super().__iter__():
            self.begin = b""
            yield line

    def _delimiter(self, begin: str, declared: str | None) -> str:
        if self._layout.delimiter is not None:
            return given_delimiter(self._layout.delimiter)
        if declared is not None:
            return given_delimiter(declared)
        is_tsv = PurePath(inner_name(self.file)).suffix.lower() == ".tsv"
        return "\t" if is_tsv else likely_delimiter(begin)

    def _row(self, record: Record, names: Sequence[str], columns: Columns) -> Iterator[Row]:
        """Yield the row of a record, unless it is left out."""
        missing = len(names) - len(record.cells)
        cells = [*record.cells, *[""] * missing]
        text = " ".join(filter(None, (text_of(cells[at]) for at in columns.text)))
        fault = record.fault or _fault_of(cells, names, columns)
        found: list[str] = []
        if not fault and self._labelled:
            if not text.strip():
                fault = f"no text: {listed([names[at] for at in columns.text])} is empty"
            else:
                try:
                    found = labels(cells, names, columns, self._layout.class_separator)
                except LabelFault as error:
                    fault = str(error)
        if not fault and self._labelled:
            taught = [name for name in found if name not in self._layout.left_out]
            if not taught and (found or columns.one_hot):
                self.left_out[LEFT_OUT_LABELS if found else NO_LABELS] += 1
                return
            if not taught:
                fault = f"no class: {listed([names[at] for at in columns.classes])} is empty"
            found = taught
        if fault:
            yield Row(self.name, record.number, None, fault, record.lines, "", names, cells)
            return
        id = "" if columns.id is None else text_of(cells[columns.id])
        body: dict[str, object] = {"text": text}
        if self._labelled:
            body["classes"] = found
        if id:
            body["event_id" if self._labelled else "id"] = id
        data, filled = _ENCODER.encode(body), cells[: len(names)]
        yield Row(self.name, record.number, data, "", record.lines, "", names, filled)


def _fault_of(cells: Sequence[Cell], names: Sequence[str], columns: Columns) -> str:
    """Return why cells cannot be used as they are; empty if they can be."""
    if any(cells[len(names) :]):
        return (
            f"it has {len(cells)} cells, the header has {len(names)} ({listed(names)}): a text"
            " that holds the delimiter needs quotes, or give another --delimiter"
        )
    for at in (*columns.text, *([] if columns.id is None else [columns.id])):
        cell = cells[at]
        if not isinstance(cell, str):
            kind = cell.kind if isinstance(cell, Unusable) else "a list"
            return f"column {listed([names[at]])} holds {kind} in place of a text"
    return ""

"""The rows of a table as JSON lines."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path, PurePath

import msgspec
from msgspec.structs import replace

from manyclass.training.compression import inner_name
from manyclass.training.encodings import EncodingFault, decoded
from manyclass.training.formats.given import Given, Rejected, Text
from manyclass.training.json_lines import LEFT_OUT_LABELS, REJECTED_ANSWERS, REJECTING
from manyclass.training.lines import (
    NO_CLASS,
    STANDARD_INPUT,
    FileFault,
    Line,
    LineFault,
    Source,
)
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
from manyclass.training.tables.record import (
    Cell,
    Fields,
    Record,
    TableError,
    is_filled,
    text_of,
)
from manyclass.training.vectors import VectorFile, packed, vector_of_cell

SAMPLED_ROWS = 10  # read before the columns are chosen
REPEATED_HEADERS = "repeated header"
NO_LABELS = "row without a class"

_ENCODER = msgspec.json.Encoder()


class Row(Line, frozen=True):
    """A row of a table, an event or an instance; without `classes` it is only ranked."""

    names: Sequence[str] = ()
    cells: Sequence[Cell] = ()
    text: Text = ""
    classes: list[str] | None = None
    id: str = ""
    source: str = ""
    ranked_id: str = ""
    vector: str = ""  # base64 of float32

    @property
    def data(self) -> bytes:
        """The row as JSON: {"text": ..., "classes": [...], "event_id": ...}, or {"text": ...,
        "id": ...} if it is only ranked, and perhaps "vector" and "source"; {"id": ..., "classes":
        [...]} if it labels a ranked instance. LineFault if it has a fault.
        """
        if self.fault:
            raise LineFault(self.fault)
        body: dict[str, object] = {"id": self.ranked_id} if self.ranked_id else {"text": self.text}
        if self.vector:
            body["vector"] = self.vector
            if not self.text:
                body = {"vector": self.vector}
        if self.classes is not None:
            body["classes"] = self.classes
        if self.id:
            body["id" if self.classes is None else "event_id"] = self.id
        if self.source:
            body["source"] = self.source
        return _ENCODER.encode(body)


class TableFault(FileFault):
    """A table that its layout does not fit, or a damaged one."""


def rows_given(rows: Iterable[Line]) -> Iterator[Given | Rejected]:
    """Yield the instance of each row of a table; its classes may be none."""
    for row in rows:
        if not isinstance(row, Row) or row.fault:
            yield Rejected(row, row.fault)
        else:
            yield Given(row, [], [*(row.classes or ())], 1.0, row.text)


class TableSource(Source):
    """The rows of a table, events of POST /learn or instances of POST /rank.

    Iteration raises FileFault, which is a TableFault where the columns of the layout are not there.
    """

    def __init__(
        self,
        file: str,
        format: str,
        layout: Layout,
        labelled: bool = True,
        guessed: Callable[[str], None] = lambda guess: None,
        vectors: VectorFile | None = None,
    ) -> None:
        """`guessed` is called with a text about what the layout does not say. `vectors` has those
        of all rows, in order.
        """
        super().__init__(file, layout.encoding, guessed)
        self._vectors = vectors
        self._format = format
        self._layout = layout
        self._labelled = labelled
        self.delimiter = ""  # of CSV, once its beginning was read

    def check(self) -> None:
        """Raise what iteration would at its beginning, and for another number of vectors than rows;
        a pipe, which is read once, is not read.
        """
        if self.file != STANDARD_INPUT and Path(self.file).is_file():
            self._guessed, guessed = (lambda guess: None), self._guessed
            try:
                if self._vectors is None:
                    next(iter(self), None)
                else:
                    self._vectors.count(self)
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
        else:
            header, titles, records = separated(records, self._layout, self._guessed)
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
        repeated = None if self._has_names else header
        if self._vectors is not None:
            self._vectors.begin()
        for record in chain(sample, records):
            if repeated is not None and _is_header(record, repeated, names):
                self.left_out[REPEATED_HEADERS] += 1
                continue
            vector = ""
            if self._vectors is not None:
                record, vector = self._with_vector(record, self._vectors)
            if columns.answer is not None and self._is_rejected(record, columns.answer):
                self.left_out[REJECTED_ANSWERS] += 1
            elif row := self._row(record, names, columns, vector):
                yield row
        if self._vectors is not None:
            self._vectors.end(self.name)

    def _with_vector(self, record: Record, vectors: VectorFile) -> tuple[Record, str]:
        """Return a record with the fault of its vector, or with its vector."""
        try:
            vector = vectors.next_of(self.name)
        except LineFault as error:
            return replace(record, fault=record.fault or str(error)), ""
        return record, "" if vector is None else packed(vector)

    def _without_rows(self, names: Sequence[str]) -> str:
        if not names:
            return "it is empty"
        remedy = "" if self._has_names else ": if it has none, add --no-header"
        return f"it has a header and no rows ({listed(names)}){remedy}"

    @property
    def _has_names(self) -> bool:
        """True if the format itself names its columns."""
        return self._format in ("jsonl", "parquet", "arrow")

    def _is_rejected(self, record: Record, answer: int) -> bool:
        return answer < len(record.cells) and text_of(record.cells[answer]).strip() in REJECTING

    def _records(self) -> Iterator[Record]:
        if self._format in ("parquet", "arrow"):
            yield from parquet.records(self.file, self._layout.vector)
            return
        if self._format == "jsonl":
            yield from objects.records(self._lines(), self._layout.vector)
            return
        is_spreadsheet = self._format == "xlsx"
        with self._plain(keeps_spreadsheet=is_spreadsheet) as plain:
            begin, self.begin = self.begin, b""  # the format need not be recognised
            if is_spreadsheet:
                yield from spreadsheet.records(plain, self._layout.sheet, self._guessed)
            else:
                if likely := not_csv(begin):
                    raise TableError(f"this looks like {likely}")
                encoding = self._encoding_of_begin()
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

    def _row(
        self, record: Record, names: Sequence[str], columns: Columns, vector: str
    ) -> Row | None:
        """Return the row of a record with its vector, which a column may have; None if it is left
        out.
        """
        cells = record.cells
        if len(cells) < len(names):
            cells = [*cells, *[""] * (len(names) - len(cells))]
        fault = record.fault or _fault_of(cells, names, columns)
        if not fault and columns.vector is not None and is_filled([cells[columns.vector]]):
            try:
                vector = packed(vector_of_cell(text_of(cells[columns.vector])))
            except LineFault as error:
                fault = f"column {listed([names[columns.vector]])}: {error}"
        found: list[str] | None = None
        if not fault and self._labelled:
            fault = _without_instance(cells, names, columns) if not vector else ""
            if not fault:
                try:
                    found = labels(cells, names, columns, self._layout.class_separator)
                except LabelFault as error:
                    fault = str(error)
        if not fault and found is not None:
            taught = found
            if left_out := self._layout.left_out:
                taught = [name for name in found if name not in left_out]
            if not taught and (found or columns.one_hot or columns.ranked_id is not None):
                self.left_out[LEFT_OUT_LABELS if found else NO_LABELS] += 1
                return None
            if not taught:
                fault = f"{NO_CLASS}: {_are_empty(columns.classes, names)}"
            found = taught
        if fault:
            return Row(self.name, record.number, None, fault, record.lines, "", names, cells)
        id = "" if columns.id is None else text_of(cells[columns.id])
        source = "" if columns.source is None else text_of(cells[columns.source]).strip()
        labelled = "" if columns.ranked_id is None else text_of(cells[columns.ranked_id]).strip()
        text = self._text(cells, names, columns)
        if len(cells) > len(names):
            cells = cells[: len(names)]
        file, number, lines = self.name, record.number, record.lines
        row = (file, number, None, "", lines, "", names, cells, text, found, id, source)
        return Row(*row, labelled, vector)

    def _text(self, cells: Sequence[Cell], names: Sequence[str], columns: Columns) -> Text:
        """Return the filled cells of the text, joined by blanks, or as fields."""
        if len(columns.text) == 1:
            cell = cells[columns.text[0]]
            if isinstance(cell, Fields):
                return cell.texts
            if not self._layout.fields:
                return text_of(cell)
        texts = [text_of(cells[at]) for at in columns.text]
        if not self._layout.fields:
            return " ".join(filter(None, texts))
        fields = {names[at]: text for at, text in zip(columns.text, texts, strict=True)}
        return {name: text for name, text in fields.items() if text.strip()} or fields


def _without_instance(cells: Sequence[Cell], names: Sequence[str], columns: Columns) -> str:
    """Return the fault of a row without an instance; empty if it has one."""
    what, instance = "text", columns.text
    if columns.ranked_id is not None:
        what, instance = "id", (columns.ranked_id,)
    elif not columns.text and columns.vector is not None:
        what, instance = "vector", (columns.vector,)
    if is_filled([cells[at] for at in instance]):
        return ""
    return f"no {what}: {_are_empty(instance, names)}"


def _are_empty(columns: Sequence[int], names: Sequence[str]) -> str:
    return f"{listed([names[at] for at in columns])} {'is' if len(columns) == 1 else 'are'} empty"


def _is_header(record: Record, header: Record, names: Sequence[str]) -> bool:
    """Return whether a record repeats the header, as in files that were put together.

    TableError if another file begins with it, whose columns are others.
    """
    if record.cells == header.cells:
        return True
    if not record.begins_file:
        return False
    its_names = column_names(record.cells)
    if {*its_names}.isdisjoint(names):
        return False
    if its_names == names:
        return True
    raise TableError(
        f"another file begins at line {record.number}, with other columns"
        f" ({listed(its_names)}): give the files one by one"
    )


def _fault_of(cells: Sequence[Cell], names: Sequence[str], columns: Columns) -> str:
    """Return why cells cannot be used as they are; empty if they can be."""
    if len(cells) > len(names) and any(cells[len(names) :]):
        return (
            f"it has {len(cells)} cells, the header has {len(names)} ({listed(names)}): a text"
            " that holds the delimiter needs quotes, or give another --delimiter"
        )
    for at in columns.plain:
        cell = cells[at]
        if isinstance(cell, str) or (isinstance(cell, Fields) and columns.text == (at,)):
            continue
        name = listed([names[at]])
        if isinstance(cell, Fields) and at in columns.text:
            return f"column {name} holds the fields of a whole text: give no other --text-column"
        kind = "a list" if isinstance(cell, list) else cell.kind
        values = ", with other values than texts," if kind == Fields.kind else ""
        return f"column {name} holds {kind}{values} in place of a text"
    return ""

"""Writes the rows of a table: CSV, or a workbook of Excel, whose cells are never formulas."""

import csv
from collections.abc import Callable, Collection, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Annotated, Final, Protocol

import typer

from manyclass.cli.connection import FAILED, complain
from manyclass.cli.run_summary import counted

Bom = Annotated[
    bool,
    typer.Option(
        "--bom",
        help="Begin the table with a byte order mark, by which Excel reads its letters right.",
    ),
]
TABLES: Final = (".csv", ".tsv", ".xlsx")  # suffixes of files that are tables
MOST_ROWS: Final = 2**20  # of a sheet
LONGEST_CELL: Final = 32_767  # letters

Delimiter = Callable[[], str]


class TableWriter(Protocol):
    """Writes rows of texts, the header first, and is ended after the last."""

    def write(self, row: Sequence[str]) -> None:
        """Write a row."""

    def end(self) -> None:
        """Write what was kept until the end."""


class CsvWriter:
    """Writes CSV in UTF-8."""

    def __init__(
        self,
        opened: IO[bytes],
        delimiter: str,
        has_mark: bool = False,
        numbers: Collection[str] = (),
    ) -> None:
        """Begin the file with a byte order mark, by which Excel knows UTF-8, if it `has_mark`.

        Columns named as in `numbers` have numbers, with a decimal comma if the delimiter is `;`: a
        spreadsheet divides cells by `;` where a comma divides a number.
        """
        self._text = TextIOWrapper(opened, "utf-8-sig" if has_mark else "utf-8", newline="")
        self._write = csv.writer(self._text, delimiter=delimiter).writerow
        self._numbers = numbers if delimiter == ";" else ()
        self._columns: frozenset[int] | None = None

    def write(self, row: Sequence[str]) -> None:
        """Write a row."""
        if self._columns is None:
            self._columns = _columns_of(row, self._numbers)
        elif self._columns:
            row = [
                cell.replace(".", ",") if column in self._columns else cell
                for column, cell in enumerate(row)
            ]
        self._write(row)

    def end(self) -> None:
        """Leave the file open."""
        self._text.detach()


class WorkbookWriter:
    """Writes a workbook with one sheet. Cells are texts, so that none of them is computed."""

    def __init__(self, opened: IO[bytes], folder: Path, numbers: Collection[str] = ()) -> None:
        """Columns named as in `numbers` have numbers. Rows wait for the end in `folder`."""
        from xlsxwriter import Workbook  # imported where it is needed: most runs write no workbook

        self._workbook = Workbook(opened, {"constant_memory": True, "tmpdir": str(folder)})
        self._sheet = self._workbook.add_worksheet()
        self._numbers = numbers
        self._columns: frozenset[int] = frozenset()
        self._rows = 0
        self._cut = 0

    def write(self, row: Sequence[str]) -> None:
        """Write a row. Ends the command if the sheet is full."""
        if self._rows == MOST_ROWS:
            complain(f"a sheet has at most {MOST_ROWS:,} rows: name the file .csv")
            raise typer.Exit(FAILED)
        for column, cell in enumerate(row):
            if self._rows and column in self._columns and cell:
                self._sheet.write_number(self._rows, column, float(cell))
            elif cell:
                self._cut += len(cell) > LONGEST_CELL
                self._sheet.write_string(self._rows, column, cell[:LONGEST_CELL])
        if not self._rows:
            self._columns = _columns_of(row, self._numbers)
        self._rows += 1

    def end(self) -> None:
        """Write the workbook, and print how many cells were cut."""
        whole = f"A1:XFD{MOST_ROWS}"
        self._sheet.ignore_errors({"number_stored_as_text": whole})  # 007 stays a text
        self._workbook.close()
        if self._cut:
            complain(
                f"{counted(self._cut, 'cell')} of more than {LONGEST_CELL:,} letters, which Excel"
                " cannot hold: the rest is cut; name the file .csv to keep it"
            )


def writer_of(
    out: Path,
    opened: IO[bytes],
    delimiter: Delimiter,
    has_mark: bool,
    numbers: Collection[str] = (),
) -> TableWriter:
    """Return the writer for a file by its suffix, one of TABLES. `delimiter` is that of CSV."""
    if out.suffix.lower() == ".xlsx":
        return WorkbookWriter(opened, out.absolute().parent, numbers)
    return CsvWriter(opened, delimiter(), has_mark, numbers)


def _columns_of(header: Sequence[str], numbers: Collection[str]) -> frozenset[int]:
    return frozenset(at for at, name in enumerate(header) if name in numbers)

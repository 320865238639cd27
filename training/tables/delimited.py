"""CSV: cells between delimiters, quoted where they hold a delimiter, a quote or a line's end."""

import csv
import re
from collections.abc import Iterator, Sequence
from functools import partial
from io import StringIO, TextIOWrapper
from itertools import chain, islice, tee
from operator import methodcaller
from typing import BinaryIO, Final

from manyclass.training.encodings import ESCAPED, UTF8, not_decoded
from manyclass.training.lines import LONGEST_LINE
from manyclass.training.tables.record import Record, TableError

DELIMITERS: Final = (",", ";", "\t", "|")  # found by themselves; the console finds the same
NAMES_OF_DELIMITERS: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}
SNIFFED_RECORDS = 10
MOST_TITLES: Final = 5  # rows above the header
_SEPARATOR = re.compile(r'"?sep=(.)"?(?=[\r\n]|$)', re.IGNORECASE)  # a first line, for Excel
MARK: Final = "\ufeff"  # in front of a file that was put behind another one
_HAS_MARK: Final = methodcaller("startswith", MARK)
_WITHOUT_MARK: Final = methodcaller("removeprefix", MARK)


class _Records:
    """The records of a text, and whether the text ends amid the one read last. A mark in front of a
    file that was put behind another one is in no cell.
    """

    def __init__(
        self, text: StringIO | TextIOWrapper, delimiter: str, encoding: str = UTF8
    ) -> None:
        self.is_cut = False
        self.next_line = 1  # the number of the line on which the next record begins
        self._delimiter = delimiter
        self._encoding = encoding
        pieces = iter(partial(text.readline, LONGEST_LINE + 1), "")
        # The reader of the standard library asks for lines, and the same lines are taken again.
        self._lines, read = tee(chain(pieces, self._end()))
        self._rows = csv.reader(map(_WITHOUT_MARK, read), delimiter=delimiter)

    def _end(self) -> Iterator[str]:
        self.is_cut = True
        yield from ()

    def __iter__(self) -> Iterator[Record]:
        rows, lines = self._rows, self._lines
        for cells in rows:
            number, last = self.next_line, rows.line_num
            if last == number and not self.is_cut:
                line = next(lines)
                if line.isascii() and len(line) <= LONGEST_LINE:  # mostly
                    self.next_line = last + 1
                    yield Record(number, cells)
                    continue
                yield self._record(cells, iter([line]))
            else:
                yield self._record(cells, lines)

    def _record(self, cells: list[str], lines: Iterator[str]) -> Record:
        number, taken = self.next_line, self.taken(lines)
        self.next_line += len(taken)
        if any(map(_HAS_MARK, taken[1:])):  # it is in a cell
            [cells] = csv.reader([_WITHOUT_MARK(taken[0]), *taken[1:]], delimiter=self._delimiter)
        fault = _fault_of(cells, number, taken, self.is_cut, self._encoding, self._delimiter)
        return Record(number, cells, fault, len(taken) if fault else 1, _HAS_MARK(taken[0]))

    def taken(self, lines: Iterator[str] | None = None) -> list[str]:
        """Return the lines of the record that is being read; TableError if one is too long."""
        taken = [
            *islice(
                self._lines if lines is None else lines, self._rows.line_num - self.next_line + 1
            )
        ]
        for at, line in enumerate(taken, self.next_line):
            if len(line) > LONGEST_LINE:
                raise TableError(f"line {at} is longer than {LONGEST_LINE:,} letters")
        return taken


def records(plain: BinaryIO, encoding: str, delimiter: str) -> Iterator[Record]:
    """Yield the records of a CSV file; TableError.

    A byte that is not of the encoding is a fault of its record alone.
    """
    csv.field_size_limit(LONGEST_LINE)  # the module has one limit for the process
    text = TextIOWrapper(plain, encoding, "surrogateescape", newline="")
    found = _Records(text, delimiter, encoding)
    try:
        yield from found
    except csv.Error as error:
        number, many = found.next_line, len(found.taken()) > 1
        reason = _not_closed(number) if many else f"line {number}: {error}"
        raise TableError(reason) from error
    except UnicodeError as error:  # of encodings with several bytes a letter
        raise TableError(not_decoded(found.next_line + len(found.taken()), encoding)) from error


def _fault_of(
    cells: list[str], number: int, lines: list[str], is_cut: bool, encoding: str, delimiter: str
) -> str:
    last = number + len(lines) - 1
    swallowed = f"lines {number:,} to {last:,} are left out: " if last > number else ""
    if is_cut:
        return swallowed + _not_closed(number + sum(cell.count("\n") for cell in cells[:-1]))
    if last > number and not _is_strict(lines, delimiter):
        return swallowed + _not_closed(number)
    for cell in cells:
        if not cell.isascii() and ESCAPED.search(cell):
            return not_decoded(None, encoding, cell)
    return ""


def _is_strict(lines: list[str], delimiter: str) -> bool:
    """Return whether each quote of a record is closed where its cell ends.

    The quote that closes one left open by mistake opened a later cell, whose text follows it.
    """
    plain = [_WITHOUT_MARK(lines[0]), *lines[1:]]
    try:
        return bool(list(csv.reader(plain, delimiter=delimiter, strict=True)))
    except csv.Error:
        return False


def _not_closed(line: int) -> str:
    return f"the quote opened in line {line:,} is not closed"


def given_delimiter(given: str) -> str:
    """Return the delimiter that the user gave, perhaps by its name; TableError."""
    delimiter = NAMES_OF_DELIMITERS.get(given, given)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise TableError(f"a delimiter is one character, or `tab`; {given!r} is not")
    return delimiter


def declared_delimiter(begin: str) -> str | None:
    """Return the delimiter that a first line `sep=;` declares to Excel; None without one."""
    found = _SEPARATOR.match(begin.removeprefix(MARK))
    return found[1] if found else None


def likely_delimiter(begin: str) -> str:
    """Return the delimiter that divides the first records of a text best.

    A delimiter after which all have the same number of cells is the best; then few titles above the
    header count, and then the number of cells in the header. The console finds the same one
    (static/csv_rows.js).
    """

    def fit(delimiter: str) -> tuple[bool, int, int]:
        rows = [row for row in sniffed(begin, delimiter) if any(cell.strip() for cell in row)]
        titles = _titles(rows)
        sizes = [len(row) for row in rows[titles:]]
        first = sizes[0] if sizes else 0
        return first > 1 and len({*sizes}) == 1, -titles, first

    return max(DELIMITERS, key=fit)


def _titles(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of first rows of one filled cell, above a table of equal rows."""
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    first = next((at for at, number in enumerate(filled) if number > 1), 0)
    even = len({len(row) for row in rows[first:]}) == 1
    return first if first <= MOST_TITLES and even else 0


def sniffed(begin: str, delimiter: str) -> list[list[str]]:
    """Return the first whole records of a text."""
    whole = begin[: max(begin.rfind("\n"), begin.rfind("\r")) + 1] or begin  # the last may be cut
    records = _Records(StringIO(whole, newline=""), delimiter)
    found: list[list[str]] = []
    try:
        for record in records:
            if records.is_cut or len(found) == SNIFFED_RECORDS:
                break
            if record.cells:
                found.append([*map(str, record.cells)])
    except csv.Error:
        pass  # a cell is too long
    return found

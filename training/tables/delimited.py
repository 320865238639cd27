"""CSV: cells between delimiters, quoted where they hold a delimiter, a quote or a line's end."""

import csv
import re
from collections.abc import Iterator
from io import StringIO, TextIOWrapper
from itertools import dropwhile
from typing import BinaryIO, Final

from manyclass.training.encodings import ESCAPED, not_decoded
from manyclass.training.lines import LONGEST_LINE
from manyclass.training.tables.record import Record, TableError

DELIMITERS: Final = (",", ";", "\t", "|")  # found by themselves; the console finds the same
NAMES_OF_DELIMITERS: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}
SNIFFED_RECORDS = 10
_SEPARATOR = re.compile(r'"?sep=(.)"?(?=[\r\n]|$)', re.IGNORECASE)  # a first line, for Excel
MARK: Final = "\ufeff"  # in front of a file that was put behind another one


class _Lines:
    """The lines of a text, with their number and whether they are over; those of the record read
    last are held."""

    def __init__(self, text: StringIO | TextIOWrapper) -> None:
        self._text = text
        self.number = 0
        self.over = False
        self.record: list[str] = []
        self.begins: set[int] = set()  # numbers of the lines with a mark

    def __iter__(self) -> Iterator[str]:
        while line := self._text.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise TableError(f"line {self.number + 1} is longer than {LONGEST_LINE:,} letters")
            self.number += 1
            if not self.record and line.startswith(MARK):
                line = line.removeprefix(MARK)
                self.begins.add(self.number)
            self.record.append(line)
            yield line
        self.over = True


def records(plain: BinaryIO, encoding: str, delimiter: str) -> Iterator[Record]:
    """Yield the records of a CSV file; TableError.

    A byte that is not of the encoding is a fault of its record alone.
    """
    csv.field_size_limit(LONGEST_LINE)  # the module has one limit for the process
    text = TextIOWrapper(plain, encoding, "surrogateescape", newline="")
    lines = _Lines(text)
    number = 1  # of the line that the record begins on
    try:
        rows = csv.reader(lines, delimiter=delimiter)
        while (cells := next(rows, None)) is not None:
            fault = _fault_of(cells, number, lines, encoding, delimiter)
            begins = number in lines.begins
            yield Record(number, cells, fault, len(lines.record) if fault else 1, begins)
            number = lines.number + 1
            lines.record.clear()
    except csv.Error as error:
        reason = _not_closed(number) if lines.number > number else f"line {number}: {error}"
        raise TableError(reason) from error
    except UnicodeError as error:  # of encodings with several bytes a letter
        raise TableError(not_decoded(lines.number + 1, encoding)) from error


def _fault_of(cells: list[str], number: int, lines: _Lines, encoding: str, delimiter: str) -> str:
    many = lines.number > number
    swallowed = f"lines {number:,} to {lines.number:,} are left out: " if many else ""
    if lines.over:  # amid a record
        return swallowed + _not_closed(number + sum(cell.count("\n") for cell in cells[:-1]))
    if len(lines.record) > 1 and not _is_strict(lines.record, delimiter):
        return swallowed + _not_closed(number)
    escaped = next((cell for cell in cells if ESCAPED.search(cell)), None)
    if escaped is not None:
        return not_decoded(None, encoding, escaped)
    return ""


def _is_strict(lines: list[str], delimiter: str) -> bool:
    """Return whether each quote of a record is closed where its cell ends.

    The quote that closes one left open by mistake opened a later cell, whose text follows it.
    """
    try:
        return bool(list(csv.reader(lines, delimiter=delimiter, strict=True)))
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

    A delimiter after which all have the same number of cells is the best; then the number of cells
    in the first record counts. A title above the header has one cell and does not count.
    """

    def fit(delimiter: str) -> tuple[bool, bool, int]:
        sizes = [len(cells) for cells in sniffed(begin, delimiter)]
        below = [*dropwhile(lambda size: size == 1, sizes)]
        first = sizes[0] if sizes else 0
        is_even = len({*below}) == 1 and len(below) > 1
        return first > 1 and len({*sizes}) == 1, is_even, first

    return max(DELIMITERS, key=fit)


def sniffed(begin: str, delimiter: str) -> list[list[str]]:
    """Return the first whole records of a text."""
    whole = begin[: max(begin.rfind("\n"), begin.rfind("\r")) + 1] or begin  # the last may be cut
    lines = _Lines(StringIO(whole, newline=""))
    found: list[list[str]] = []
    try:
        for cells in csv.reader(lines, delimiter=delimiter):
            if lines.over or len(found) == SNIFFED_RECORDS:
                break
            if cells:
                found.append(cells)
    except csv.Error:
        pass  # a cell is too long
    return found

"""CSV: cells between delimiters, quoted where they hold a delimiter, a quote or a line's end."""

import csv
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder, lookup
from collections.abc import Iterator
from io import StringIO, TextIOWrapper
from typing import BinaryIO, Final

from manyclass.training.lines import LONGEST_LINE
from manyclass.training.tables.record import Record, TableError

DELIMITERS: Final = (",", ";", "\t", "|")  # found by themselves; the console finds the same
NAMES_OF_DELIMITERS: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}
SNIFFED_RECORDS = 10
ESCAPED = re.compile("[\ud800-\udfff]")  # a byte that could not be decoded
WIDE = (BOM_UTF16_LE, BOM_UTF16_BE)  # as a spreadsheet saves "Unicode text"


class _Lines:
    """The lines of a text, with their number and whether they are over; those of the record read
    last are held."""

    def __init__(self, text: StringIO | TextIOWrapper) -> None:
        self._text = text
        self.number = 0
        self.over = False
        self.record: list[str] = []

    def __iter__(self) -> Iterator[str]:
        while line := self._text.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise TableError(f"line {self.number + 1} is longer than {LONGEST_LINE:,} letters")
            self.number += 1
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
            yield Record(number, cells, fault, len(lines.record) if fault else 1)
            number = lines.number + 1
            lines.record.clear()
    except csv.Error as error:
        reason = _not_closed(number) if lines.number > number else f"line {number}: {error}"
        raise TableError(reason) from error
    except UnicodeError as error:  # of encodings with several bytes a letter
        raise TableError(_not_decoded(lines.number + 1, encoding)) from error


def _fault_of(cells: list[str], number: int, lines: _Lines, encoding: str, delimiter: str) -> str:
    many = lines.number > number
    swallowed = f"lines {number:,} to {lines.number:,} are left out: " if many else ""
    if lines.over:  # amid a record
        return swallowed + _not_closed(number + sum(cell.count("\n") for cell in cells[:-1]))
    if len(lines.record) > 1 and not _is_strict(lines.record, delimiter):
        return swallowed + _not_closed(number)
    if any(ESCAPED.search(cell) for cell in cells):
        return _not_decoded(None, encoding)
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


def _not_decoded(line: int | None, encoding: str) -> str:
    place = "it" if line is None else f"line {line}"
    if encoding == "utf-8-sig":
        return (
            f"{place} is not UTF-8; add --encoding cp1252 for a file of Windows in Western"
            " Europe, or another encoding"
        )
    return f"{place} is not of the encoding {encoding}"


def encoding_of(begin: bytes, given: str | None) -> str:
    """Return the given encoding, that of a byte order mark, or UTF-8; TableError if it cannot be.

    `begin` has the first bytes of the file.
    """
    if given is not None:
        try:
            encoding = lookup(given).name
            "".encode(encoding)
        except (LookupError, UnicodeError) as error:
            raise TableError(
                f"there is no encoding {given!r}; try utf-8, cp1252 or latin-1"
            ) from error
        return "utf-8-sig" if encoding == "utf-8" else encoding
    if begin.startswith(WIDE):
        return "utf-16"
    try:
        getincrementaldecoder("utf-8")().decode(begin)  # the last letter may be cut
    except UnicodeDecodeError as error:
        line = begin.count(b"\n", 0, error.start) + 1
        raise TableError(_not_decoded(line, "utf-8-sig")) from error
    return "utf-8-sig"


def decoded(begin: bytes, encoding: str) -> str:
    """Return the first bytes of a file as text; it may lack the last letters."""
    try:
        return begin.decode(encoding, "ignore")
    except UnicodeError as error:
        raise TableError(_not_decoded(None, encoding)) from error


def given_delimiter(given: str) -> str:
    """Return the delimiter that the user gave, perhaps by its name; TableError."""
    delimiter = NAMES_OF_DELIMITERS.get(given, given)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise TableError(f"a delimiter is one character, or `tab`; {given!r} is not")
    return delimiter


def likely_delimiter(begin: str) -> str:
    """Return the delimiter that divides the first records of a text best.

    A delimiter after which all have the same number of cells is the best; then the number of cells
    in the first record counts.
    """

    def fit(delimiter: str) -> tuple[bool, int]:
        sizes = [len(cells) for cells in sniffed(begin, delimiter)]
        first = sizes[0] if sizes else 0
        return first > 1 and len({*sizes}) == 1, first

    return max(DELIMITERS, key=fit)


def sniffed(begin: str, delimiter: str) -> list[list[str]]:
    """Return the first whole records of a text."""
    whole = begin[: begin.rfind("\n") + 1] or begin  # the last line may be cut
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

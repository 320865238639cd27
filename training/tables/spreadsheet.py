"""Spreadsheets of Excel and LibreOffice: the rows of a sheet, as a person sees them."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import BytesIO
from typing import IO, BinaryIO, Final
from zipfile import ZipFile

from python_calamine import (
    CalamineError,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from manyclass.core.errors import did_you_mean
from manyclass.training.tables.record import Record, TableError, cell_of

MOST_NAMED: Final = 10  # sheets in a message
CHUNK_BYTES: Final = 2**20
_OLD: Final = b"\xd0\xcf\x11\xe0"  # of documents before 2007, and of encrypted ones
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_PROTECTED: Final = "the workbook is protected by a password: save it without one"
EXACT: Final = 10**15  # up to which a number has the digits that a person typed

# A row or a cell: its kind, the letters and number of its reference, and the rest up to the next.
_ELEMENT = re.compile(
    rb"""<(?:[\w.-]+:)?(row|c)(?=[\s/>])"""
    rb"""(?:[^<]*?\sr\s*=\s*["']([A-Za-z]{0,9})([0-9]{1,18})["'])?([^<]*)"""
)
# The same of an OpenDocument, whose rows and cells may be repeated; a filled cell has content.
_OPEN_ELEMENT = re.compile(rb"<(?:[\w.-]+:)?(table-row|table-cell|covered-table-cell)([\s/>][^<]*)")
_REPEATED = re.compile(rb"""number-(?:rows|columns)-repeated\s*=\s*["']([0-9]{1,18})["']""")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The largest workbook: its reader holds a sheet in memory as a whole."""

    cells: int = 20_000_000  # of a sheet, empty ones too: each takes 32 bytes
    unpacked: int = 2**31  # bytes of the whole workbook


BOUNDS: Final = Bounds()


class Workbook:
    """The sheets with cells of a workbook, in order."""

    def __init__(self, file: BytesIO, bounds: Bounds = BOUNDS) -> None:
        """Open the workbook. TableError if it is damaged, protected, or out of bounds."""
        _check_password(file)
        _check_size(file, bounds)
        with _faults():
            self._opened = CalamineWorkbook.from_filelike(file)
            about = [
                each for each in self._opened.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet
            ]
        self.names = [each.name for each in about]
        self._seen = [each.name for each in about if each.visible == SheetVisibleEnum.Visible]

    @property
    def first(self) -> str:
        """The name of the first sheet that is not hidden; TableError if there is none."""
        if not self.names:
            raise TableError("the workbook has no sheet with rows")
        return next(iter(self._seen or self.names))

    def rows(self, name: str) -> Iterator[list[str]]:
        """Yield the rows of a sheet from its first on, blank ones too. TableError."""
        if name not in self.names:
            hint = did_you_mean(name, self.names)
            raise TableError(
                f"there is no sheet `{name}`, the sheets are {_listed(self.names)}"
                + (f"; {hint}" if hint else "")
            )
        with _faults():
            for row in self._opened.get_sheet_by_name(name).iter_rows():
                yield [_shown(value) for value in row]


def records(
    plain: BinaryIO, sheet: str | None = None, said: Callable[[str], None] = lambda guess: None
) -> Iterator[Record]:
    """Yield the rows of a sheet, by default the first that is not hidden. TableError.

    The sheet is held in memory. If there are others, `said` is called with their names.
    """
    workbook = Workbook(BytesIO(plain.read()))
    name = workbook.first if sheet is None else sheet
    others = [each for each in workbook.names if each != name]
    if others and sheet is None:
        said(f"the rows are those of the sheet `{name}`; --sheet names another: {_listed(others)}")
    for number, row in enumerate(workbook.rows(name), 1):
        yield Record(number, row)


def _listed(names: Sequence[str]) -> str:
    more = f", and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _shown(value: object) -> str:
    """Return a cell as a person sees it, but for formats of numbers: 2136, not 2136.0."""
    match value:
        case float() if value.is_integer() and abs(value) < EXACT:
            return str(int(value))
        case float():
            return f"{value:.15g}"  # as Excel shows it: 0.3, not 0.30000000000000004
        case datetime():
            return str(value.replace(microsecond=0))
        case timedelta():  # hours may be more than 24
            seconds = round(value.total_seconds())
            hours, rest = divmod(abs(seconds), 3600)
            return f"{'-' * (seconds < 0)}{hours}:{rest // 60:02}:{rest % 60:02}"
        case _:
            return str(cell_of(value))


@contextmanager
def _faults() -> Iterator[None]:
    """Map the errors of the reader to TableError."""
    try:
        yield
    except PasswordError as error:
        raise TableError(_PROTECTED) from error
    except (CalamineError, OSError) as error:
        raise TableError(f"it is not a spreadsheet that can be read: {error}") from error
    except (KeyboardInterrupt, MemoryError, GeneratorExit):
        raise
    except BaseException as error:  # the reader panics, in Rust, where a file is damaged
        raise TableError(f"the spreadsheet is damaged: {error}") from error


def _check_password(file: BytesIO) -> None:
    """Raise TableError for a workbook that is encrypted, which is not a zip archive."""
    data = file.getvalue()
    if data.startswith(_OLD) and _ENCRYPTED in data:
        raise TableError(_PROTECTED)


# --- the size, before the reader holds it ---------------------------------------------------------


def _check_size(file: BytesIO, bounds: Bounds) -> None:
    """Raise TableError if the workbook unpacks to too much, or if a cell of a sheet is so far out
    that the cells up to it are too many.
    """
    for row, column in _extents(file, bounds.unpacked):
        if row * column > bounds.cells:
            raise TableError(
                f"a sheet reaches to row {row:,} and column {column:,}, which are more than"
                f" {bounds.cells:,} cells: delete the far ones, or save the sheet as CSV"
            )
    file.seek(0)


class _TooLarge(Exception):
    """The parts of a workbook have more bytes than they may have."""


class _Parts:
    """The parts of an archive, of which the unpacked bytes are counted."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._read = 0

    def chunks(self, part: IO[bytes]) -> Iterator[bytes]:
        """Yield the bytes of a part. Raises _TooLarge."""
        while chunk := part.read(CHUNK_BYTES):
            self._read += len(chunk)
            if self._read > self._most:
                raise _TooLarge
            yield chunk


def _extents(file: BytesIO, most: int) -> Iterator[tuple[int, int]]:
    """Yield the last row and column so far of each part. TableError if all have too many bytes.

    A damaged part, for which zipfile has errors of many kinds, is left to the reader, which
    refuses it.
    """
    parts = _Parts(most)
    try:
        with ZipFile(file) as archive:
            for name in archive.namelist():
                yield from _extents_of(archive, name, parts)
    except _TooLarge as error:
        raise TableError(
            f"the workbook unpacks to more than {most:,} bytes: save the sheet as CSV"
        ) from error
    except GeneratorExit:
        raise
    except Exception:
        return


def _extents_of(archive: ZipFile, name: str, parts: _Parts) -> Iterator[tuple[int, int]]:
    find = _open_extents if name == "content.xml" else _sheet_extents
    try:
        with archive.open(name) as part:
            yield from find(parts.chunks(part))
    except (_TooLarge, GeneratorExit):
        raise
    except Exception:
        return


def _sheet_extents(chunks: Iterator[bytes]) -> Iterator[tuple[int, int]]:
    """Follow the rows and cells of XML, by their references, or in order without them."""
    row = column = rows = columns = 0
    for kind, letters, number, rest in _elements(chunks, _ELEMENT):
        if kind == b"row":
            row, column = int(number or row + 1), 0
            continue
        column = _column(letters) if letters else column + 1
        if not rest.endswith(b"/>"):  # it has a value
            rows, columns = max(rows, int(number or row)), max(columns, column)
            yield rows, columns


def _open_extents(chunks: Iterator[bytes]) -> Iterator[tuple[int, int]]:
    """Follow the rows and cells of an OpenDocument, which may be repeated."""
    row = column = rows = columns = 0
    for kind, rest in _elements(chunks, _OPEN_ELEMENT):
        repeated = _REPEATED.search(rest)
        times = int(repeated[1]) if repeated else 1
        if kind == b"table-row":
            row, column = row + times, 0
            continue
        column += times
        if not rest.endswith(b"/>") or b"value" in rest:
            rows, columns = max(rows, row), max(columns, column)
            yield rows, columns


def _elements(chunks: Iterator[bytes], element: re.Pattern[bytes]) -> Iterator[tuple[bytes, ...]]:
    kept = b""
    for chunk in chunks:
        data = kept + chunk
        end = max(data.rfind(b"<"), 0)  # of whole elements
        yield from element.findall(data[:end])
        kept = data[end:] if len(data) - end < CHUNK_BYTES else b""
    yield from element.findall(kept)


def _column(letters: bytes) -> int:
    """Return the number of a column: A is 1, AA is 27."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - ord("A") + 1
    return number

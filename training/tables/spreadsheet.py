"""Spreadsheets of Excel: the first sheet, by python-calamine of the extra [tables]."""

import re
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import IO, BinaryIO, Final
from zipfile import ZipFile

from manyclass.training.tables.record import Record, TableError, cell_of

MOST_CELLS: Final = 20_000_000  # of a sheet, empty ones too: each takes 32 bytes
CHUNK_BYTES: Final = 2**20

# A row or a cell: its kind, the letters and number of its reference, and the rest up to the next.
_ELEMENT = re.compile(
    rb"""<(?:[\w.-]+:)?(row|c)(?=[\s/>])"""
    rb"""(?:[^<]*?\sr\s*=\s*["']([A-Za-z]{0,9})([0-9]{1,18})["'])?([^<]*)"""
)


def records(plain: BinaryIO) -> Iterator[Record]:
    """Yield the rows of the first sheet; it is held in memory. TableError."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError as error:
        raise TableError(
            "reading .xlsx needs another package: pip install 'manyclass[tables]'; or save the"
            " sheet as CSV"
        ) from error
    file = BytesIO(plain.read())
    _check_size(file)
    try:
        rows = CalamineWorkbook.from_filelike(file).get_sheet_by_index(0).iter_rows()
    except (CalamineError, OSError) as error:
        raise TableError(f"it is not a spreadsheet that can be read: {error}") from error
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # the reader panics, in Rust, where a file is damaged
        raise TableError(f"the spreadsheet is damaged: {error}") from error
    for number, row in enumerate(rows, 1):
        yield Record(number, [cell_of(value) for value in row])


def _check_size(file: BytesIO) -> None:
    """Raise TableError if a cell of a sheet is so far out that the cells up to it are too many.

    The reader holds them all.
    """
    for row, column in _extents(file):
        if row * column > MOST_CELLS:
            raise TableError(
                f"a sheet reaches to row {row:,} and column {column:,}, which are more than"
                f" {MOST_CELLS:,} cells: delete the far ones, or save the sheet as CSV"
            )
    file.seek(0)


def _extents(file: BytesIO) -> Iterator[tuple[int, int]]:
    """Yield the last row and column so far of each part.

    A damaged part, for which zipfile has errors of many kinds, is left to the reader, which
    refuses it.
    """
    with suppress(Exception), ZipFile(file) as archive:
        for name in archive.namelist():
            with suppress(Exception), archive.open(name) as part:
                yield from _extents_of(part)


def _extents_of(part: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Follow the rows and cells of XML, by their references, or in order without them."""
    row = column = rows = columns = 0
    for kind, letters, number, rest in _elements(part):
        if kind == b"row":
            row, column = int(number or row + 1), 0
            continue
        column = _column(letters) if letters else column + 1
        if not rest.endswith(b"/>"):  # it has a value
            rows, columns = max(rows, int(number or row)), max(columns, column)
            yield rows, columns


def _elements(part: IO[bytes]) -> Iterator[tuple[bytes, bytes, bytes, bytes]]:
    kept = b""
    while chunk := part.read(CHUNK_BYTES):
        data = kept + chunk
        end = max(data.rfind(b"<"), 0)  # of whole elements
        yield from _ELEMENT.findall(data[:end])
        kept = data[end:] if len(data) - end < CHUNK_BYTES else b""
    yield from _ELEMENT.findall(kept)


def _column(letters: bytes) -> int:
    """Return the number of a column: A is 1, AA is 27."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - ord("A") + 1
    return number

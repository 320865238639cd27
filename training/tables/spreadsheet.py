"""Spreadsheets of Excel: the first sheet, by python-calamine of the extra [tables]."""

from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from manyclass.training.tables.record import Record, TableError, cell_of


def records(plain: BinaryIO) -> Iterator[Record]:
    """Yield the rows of the first sheet; it is held in memory. TableError."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError as error:
        raise TableError(
            "reading .xlsx needs another package: pip install 'manyclass[tables]'; or save the"
            " sheet as CSV"
        ) from error
    try:
        sheet = CalamineWorkbook.from_filelike(BytesIO(plain.read())).get_sheet_by_index(0)
    except (CalamineError, OSError) as error:
        raise TableError(f"it is not a spreadsheet that can be read: {error}") from error
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # the reader panics, in Rust, where a file is damaged
        raise TableError(f"the spreadsheet is damaged: {error}") from error
    for number, row in enumerate(sheet.iter_rows(), 1):
        yield Record(number, [cell_of(value) for value in row])

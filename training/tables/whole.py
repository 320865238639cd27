"""All rows of a small table whose form its contents tell: CSV, a workbook, Parquet or Arrow."""

from collections.abc import Iterator
from io import BytesIO
from typing import Final

from manyclass.training.encodings import encoding_of
from manyclass.training.tables import delimited, parquet, spreadsheet
from manyclass.training.tables.delimited import given_delimiter, likely_delimiter
from manyclass.training.tables.record import Record

LARGEST: Final = 2**28  # bytes of a file
_SPREADSHEETS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


def is_binary(data: bytes) -> bool:
    """Return whether a file is a workbook, Parquet or Arrow."""
    return data.startswith((*parquet.MAGICS, *_SPREADSHEETS))


def unit_of(data: bytes) -> str:
    """Return the word for a row of the file in a message."""
    return "row" if is_binary(data) else "line"


def text_of_file(data: bytes, encoding: str | None) -> str:
    """Return the text of a file that is not binary; EncodingFault."""
    return data.decode(encoding_of(data, encoding), "replace").lstrip("\ufeff")


def rows_of(
    file: str, data: bytes, delimiter: str | None, encoding: str | None
) -> Iterator[Record]:
    """Yield the filled rows, the header among them; TableError, EncodingFault."""
    return (each for each in _records(file, data, delimiter, encoding) if each.is_filled)


def _records(
    file: str, data: bytes, delimiter: str | None, encoding: str | None
) -> Iterator[Record]:
    if data.startswith(parquet.MAGICS):
        return parquet.records(file)
    if is_binary(data):
        return spreadsheet.records(BytesIO(data))
    if delimiter is None:
        between = likely_delimiter(text_of_file(data, encoding))
    else:
        between = given_delimiter(delimiter)
    return delimited.records(BytesIO(data), encoding_of(data, encoding), between)

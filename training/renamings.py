"""A table of classes with their new names: CSV, a workbook, Parquet, or an object of JSON."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from manyclass.core.instance import LONGEST_NAME
from manyclass.training.encodings import EncodingFault
from manyclass.training.lines import FileFault, Source
from manyclass.training.tables.columns import column_names, listed
from manyclass.training.tables.record import Record, TableError, text_of
from manyclass.training.tables.whole import LARGEST, is_binary, rows_of, text_of_file, unit_of

FORMER: Final = re.compile(r"((old|former|present)[ _-]?)?(name|class)|old|from", re.IGNORECASE)
NEW: Final = re.compile(r"new([ _-]?(name|class))?|to|into", re.IGNORECASE)
MOST_SHOWN: Final = 10  # faults of a file in its message


class Renaming(NamedTuple):
    """A class, its new name, and the row in the file."""

    where: str
    former: str
    to: str


def read_renamings(
    file: str, header: bool | None = None, delimiter: str | None = None, encoding: str | None = None
) -> list[Renaming]:
    """Return the rows of a table that have a new name.

    A first row with known names of both columns is a header, as is any first row if `header` is
    True. FileFault for a file that cannot be read, and with the faults of all rows.
    """
    source = Source(file)
    data = source.read(LARGEST)
    try:
        rows = [each for each in _records(source.file, data, delimiter, encoding) if each.is_filled]
        return _renamings(rows, header, unit_of(data))
    except (TableError, EncodingFault) as error:
        raise FileFault(source.name, str(error)) from error


def _records(
    file: str, data: bytes, delimiter: str | None, encoding: str | None
) -> Iterator[Record]:
    """Return the rows, the header among them."""
    if not is_binary(data) and delimiter is None:
        text = text_of_file(data, encoding)
        if text.lstrip().startswith("{"):
            return _of_object(text)
    return rows_of(file, data, delimiter, encoding)


def _of_object(text: str) -> Iterator[Record]:
    try:
        pairs = msgspec.json.decode(text, type=dict[str, str | None])
    except msgspec.DecodeError as error:
        raise TableError(f"it is not an object of new names by class: {error}") from error
    for number, (former, to) in enumerate(pairs.items(), 1):
        if former.strip() or to:
            yield Record(number, [former, to or ""])


def _renamings(rows: Sequence[Record], header: bool | None, unit: str) -> list[Renaming]:
    if not rows:
        raise TableError("it is empty")
    names = column_names(rows[0].cells)
    found = _columns(names)
    has_header = header if header is not None else found is not None
    if has_header:
        rows = rows[1:]
    if not has_header or found is None:
        if len(names) != 2:
            raise TableError(
                f"it has {len(names)} columns ({listed(names)}): name the class `old` and its new"
                " name `new` in the first row, or leave only these two columns"
            )
        found = 0, 1
    faults, pairs = list[str](), list[Renaming]()
    for row in rows:
        where = f"{unit} {row.number:,}"
        former, to = (_name(row, at) for at in found)
        if fault := row.fault or _fault_of(former, to):
            faults.append(f"{where}: {fault}")
        elif to:
            pairs.append(Renaming(where, former, to))
    if faults:
        more = f"; and {len(faults) - MOST_SHOWN:,} more" if len(faults) > MOST_SHOWN else ""
        raise TableError("; ".join(faults[:MOST_SHOWN]) + more)
    return pairs


def _columns(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the columns of the class and of its new name, if one of each has a known name."""
    new = [at for at, name in enumerate(names) if NEW.fullmatch(name)]
    former = [at for at, name in enumerate(names) if FORMER.fullmatch(name)]
    return (former[0], new[0]) if len(former) == len(new) == 1 else None


def _name(row: Record, at: int) -> str:
    cell = row.cells[at] if at < len(row.cells) else ""
    return text_of(cell).strip().removeprefix("\ufeff").strip()


def _fault_of(former: str, to: str) -> str:
    """Return why a row cannot be used; empty if it can be."""
    if to and not former:
        return f"the new name `{to}` has no class beside it"
    if max(len(name.encode()) for name in (former, to)) > LONGEST_NAME:
        return f"a name has more than {LONGEST_NAME:,} bytes"
    return ""

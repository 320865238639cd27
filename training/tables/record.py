"""A row of a table, before its columns are known."""

from collections.abc import Sequence
from datetime import date, datetime, time
from typing import NamedTuple

import msgspec

Cell = str | list[str]  # JSON and Parquet have lists


class TableError(Exception):
    """A table that cannot be read with this layout. The text says what to give instead."""


class Record(NamedTuple):
    """The cells of a row and the number of its line, or of its row in a spreadsheet."""

    number: int
    cells: Sequence[Cell]
    fault: str = ""  # the reason why its cells cannot be used
    lines: int = 1  # that the fault concerns

    @property
    def is_filled(self) -> bool:
        """True unless all its cells are blank."""
        return any(text_of(cell).strip() for cell in self.cells)


def cell_of(value: object) -> Cell:
    """Return a value as text, or a list of texts; a whole number has no point."""
    match value:
        case None:
            return ""
        case str():
            return value
        case list() | tuple():
            return [str(cell_of(each)) for each in value if each is not None]
        case float() if value.is_integer():
            return str(int(value))
        case bool():
            return str(value).lower()
        case dict():
            return msgspec.json.encode(value).decode()
        case datetime() | date() | time():
            return value.isoformat()
        case bytes():
            return value.decode(errors="replace")
        case _:
            return str(value)


def text_of(cell: Cell) -> str:
    """Return the cell as one text."""
    return cell if isinstance(cell, str) else " ".join(cell)

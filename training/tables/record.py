"""A row of a table, before its columns are known."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time
from math import isnan
from typing import ClassVar

import msgspec

_NO_UTF8 = "bytes that are not UTF-8"


class Unusable(msgspec.Struct, frozen=True, tag=True):
    """A value that is neither a text nor a class: `kind` says what it is, as "an object"."""

    kind: str
    notation: str  # in JSON


class Fields(msgspec.Struct, frozen=True, tag=True):
    """An object of texts alone: a text of fields, and no class."""

    kind: ClassVar[str] = "an object"
    texts: dict[str, str]

    @property
    def notation(self) -> str:
        """The object in JSON."""
        return _notation(self.texts)


Cell = str | list[str] | Unusable | Fields  # JSON and Parquet have lists and objects


class TableError(Exception):
    """A table that cannot be read with this layout. The text says what to give instead."""


class Record(msgspec.Struct, frozen=True):
    """The cells of a row and the number of its line, or of its row in a spreadsheet."""

    number: int
    cells: Sequence[Cell]
    fault: str = ""  # the reason why its cells cannot be used
    lines: int = 1  # that the fault concerns
    begins_file: bool = False  # a byte order mark stands before it: files were put together

    @property
    def is_filled(self) -> bool:
        """True unless all its cells are blank."""
        return is_filled(self.cells)

    @property
    def filled(self) -> list[str]:
        """The cells that are not blank, as texts."""
        return [text for cell in self.cells if (text := text_of(cell).strip())]


def cell_of(value: object) -> Cell:
    """Return a value as text, or a list of texts; a whole number has no point."""
    match value:
        case list() | tuple():
            if any(isinstance(each, list | tuple | dict | bytes) for each in value):
                return Unusable("a list of lists or objects", _notation(value))
            return [_scalar(each) for each in value if each is not None]
        case dict():
            texts = {name: text for name, text in value.items() if text is not None}
            if texts and all(isinstance(text, str) for text in texts.values()):
                return Fields(texts)
            return Unusable("an object", _notation(value))
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                return Unusable(_NO_UTF8, repr(value))
        case _:
            return _scalar(value)


def readers_of(names: Sequence[str], vector: str | None) -> list[Callable[[object], Cell]]:
    """Return the function that reads the values of each column; `vector` has vectors."""
    number = int(vector) if vector and vector.isascii() and vector.isdigit() else 0
    return [
        _vector_cell_of if name == vector or (at == number and vector not in names) else cell_of
        for at, name in enumerate(names, 1)
    ]


def _vector_cell_of(value: object) -> Cell:
    """Return a vector in JSON, so that a number that is missing in it is not left out."""
    return _notation(value) if isinstance(value, list | tuple | dict) else cell_of(value)


def _scalar(value: object) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return str(value).lower()
        case float() if isnan(value):
            return ""  # programs of statistics write it for an empty cell
        case float() if value.is_integer():
            return str(int(value))
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return str(value)


def _notation(value: object) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()


def is_filled(cells: Iterable[Cell]) -> bool:
    """Return whether one of the cells is not blank."""
    for cell in cells:
        if isinstance(cell, Fields):
            if is_filled(cell.texts.values()):
                return True
            continue
        text = cell if isinstance(cell, str) else text_of(cell)
        if text and not text.isspace():
            return True
    return False


def text_of(cell: Cell) -> str:
    """Return the cell as one text, as it is written in a table."""
    if isinstance(cell, Unusable | Fields):
        return cell.notation
    return cell if isinstance(cell, str) else " ".join(cell)

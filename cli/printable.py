"""Text of files and of the service on a terminal: no sign of it steers the terminal."""

from collections.abc import Iterable
from typing import Final

import typer

_CONTROLS: Final = (*range(0x20), *range(0x7F, 0xA0))
_BREAKS: Final = (0x2028, 0x2029)
_DIRECTIONS: Final = (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_ESCAPES: Final = {code: repr(chr(code))[1:-1] for code in (*_CONTROLS, *_BREAKS, *_DIRECTIONS)}


def printable(text: str) -> str:
    """Return a text on one line: control characters, and the signs that turn the direction of
    writing, are escaped as in Python."""
    return text.translate(_ESCAPES)


def print_cells(cells: Iterable[str]) -> None:
    """Print the cells of a row on standard output, separated by tabs."""
    typer.echo("\t".join(printable(cell) for cell in cells))

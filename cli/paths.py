"""Paths on the command line: ~ is the home folder, and - standard output."""

from pathlib import Path
from typing import Final

import typer

from manyclass.service.store.home import expanded

STANDARD_OUTPUT: Final = Path("-")


def path_of(given: str | Path) -> Path:
    """Return the path of an argument; BadParameter. A file named `-` is `./-`."""
    if given in ("-", STANDARD_OUTPUT):
        return STANDARD_OUTPUT
    try:
        path = expanded(str(given))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    return path.absolute() if path == STANDARD_OUTPUT else path

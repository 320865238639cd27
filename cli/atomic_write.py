"""Atomic replacement of a file."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE, S_ISREG
from tempfile import NamedTemporaryFile
from typing import IO, Literal

import typer

from manyclass.cli.paths import STANDARD_OUTPUT

READABLE_BY_ALL = 0o666  # the mode of a new file, before the umask


@contextmanager
def atomic_write(file: Path) -> Iterator[IO[bytes]]:
    """Yield a file to write, which replaces `file` when the context ends without an error.

    An existing file does not change until all bytes are on the disk. Standard output, and a path
    that is not a regular file, such as /dev/stdout, are written directly. Raises OSError.
    """
    if file == STANDARD_OUTPUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if file.exists() and not S_ISREG(file.stat().st_mode):
        with file.open("wb") as opened:
            yield opened
        return
    file = file.resolve()  # keep a symbolic link, replace its target
    mode = _mode(file)
    with NamedTemporaryFile(
        dir=file.parent, prefix=f"{file.name}.", suffix=".part", delete=False
    ) as part:
        try:
            yield part
            part.flush()
            os.fchmod(part.fileno(), mode)
            os.fsync(part.fileno())
            Path(part.name).replace(file)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise


def check_target(
    file: Path | None, option: str, output: Literal["text", "bytes"] | None = None
) -> None:
    """Raise BadParameter for a file that cannot be written, before any work begins.

    `output` says whether standard output is allowed, and whether it receives text or other bytes.
    """
    if file is None:
        return
    if file == STANDARD_OUTPUT:
        _check_output(option, output)
        return
    if not file.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {file.parent}", param_hint=option)
    if file.is_dir():
        raise typer.BadParameter(f"{str(file)!r} is a folder; name a file", param_hint=option)


def _check_output(option: str, output: Literal["text", "bytes"] | None) -> None:
    if output is None:
        raise typer.BadParameter(
            "- is standard output, which has another use here: name a file (./- for one named -)",
            param_hint=option,
        )
    if output == "bytes" and is_terminal():
        raise typer.BadParameter(
            "standard output is a terminal, and a state is binary: add > FILE, or name a file",
            param_hint=option,
        )


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout.isatty()


def shown(file: Path) -> str:
    """Return the name of a target for a message."""
    return "standard output" if file == STANDARD_OUTPUT else str(file)


def _mode(file: Path) -> int:
    """Return the permissions of the file, or of a new file."""
    if file.exists():
        return S_IMODE(file.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return READABLE_BY_ALL & ~umask

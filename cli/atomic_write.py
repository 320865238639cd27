"""Atomic replacement of a file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_IMODE, S_ISREG
from tempfile import NamedTemporaryFile
from typing import IO

import typer

READABLE_BY_ALL = 0o666  # the mode of a new file, before the umask


@contextmanager
def atomic_write(file: Path) -> Iterator[IO[bytes]]:
    """Yield a file to write, which replaces `file` when the context ends without an error.

    An existing file is unchanged until all bytes are on the disk. A path that is not a plain file,
    such as /dev/stdout, is written directly. Raises OSError.
    """
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


def check_target(file: Path | None, option: str) -> None:
    """Raise BadParameter for a file that cannot be written, before anything runs."""
    if file is None:
        return
    if not file.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {file.parent}", param_hint=option)
    if file.is_dir():
        raise typer.BadParameter(f"{str(file)!r} is a folder; name a file", param_hint=option)


def _mode(file: Path) -> int:
    """Return the permissions of the file, or those of a new one."""
    if file.exists():
        return S_IMODE(file.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return READABLE_BY_ALL & ~umask

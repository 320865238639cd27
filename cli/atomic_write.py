"""Atomic replacement of a file."""

import os
from collections.abc import Iterable
from pathlib import Path
from stat import S_IMODE, S_ISREG
from tempfile import NamedTemporaryFile

READABLE_BY_ALL = 0o666  # the mode of a new file, before the umask


def write_whole(file: Path, pieces: Iterable[bytes | memoryview]) -> int:
    """Write the pieces to a file and return the number of bytes; replace an existing file.

    An existing file is unchanged until all bytes are on the disk. A path that is not a plain file,
    such as /dev/stdout, is written directly. Raises OSError.
    """
    file = file.resolve()  # keep a symbolic link, replace its target
    if file.exists() and not S_ISREG(file.stat().st_mode):
        with file.open("wb") as opened:
            return sum(opened.write(piece) for piece in pieces)
    mode = _mode(file)
    with NamedTemporaryFile(
        dir=file.parent, prefix=f"{file.name}.", suffix=".part", delete=False
    ) as part:
        try:
            size = sum(part.write(piece) for piece in pieces)
            part.flush()
            os.fchmod(part.fileno(), mode)
            os.fsync(part.fileno())
            Path(part.name).replace(file)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise
    return size


def _mode(file: Path) -> int:
    """Return the permissions of the file, or those of a new one."""
    if file.exists():
        return S_IMODE(file.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return READABLE_BY_ALL & ~umask

"""Writing a file that is there whole or not at all."""

import os
from collections.abc import Iterable
from pathlib import Path
from stat import S_IMODE, S_ISREG
from tempfile import NamedTemporaryFile

READABLE_BY_ALL = 0o666  # as a new file is, but for what the umask takes away


def write_whole(file: Path, pieces: Iterable[bytes | memoryview]) -> int:
    """Write the pieces to a file, in place of one that is there; the bytes that were written.

    Until all are on the disk, the file is as it was. What is no plain file, as /dev/stdout, is
    written as it stands. Raises OSError.
    """
    file = file.resolve()  # a link goes on leading to it
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
    """The permissions the file has, or those that a new one gets."""
    if file.exists():
        return S_IMODE(file.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return READABLE_BY_ALL & ~umask

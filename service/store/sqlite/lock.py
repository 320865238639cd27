"""The exclusive use of a database file, under every name it has."""

import os
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from threading import Lock

from manyclass.service.store.errors import StoreDamaged, StoreInUse

_opening = Lock()
_in_use: set[tuple[int, int]] = set()  # (device, inode) of the files this process has locked


class FileLock:
    """Two locks: on `path`.lock, and on the database file itself, which is made if it is missing.

    The lock on the file excludes a process that comes by a symbolic link, a hard link or a bind
    mount, and holds when `path`.lock is removed. The lock on `path`.lock excludes a process that
    finds another file under the same name, and releases of manyclass that lock nothing else.

    Closing any descriptor of a file drops all POSIX locks the process has on it, also those of
    SQLite. So create this before SQLite opens the file, close it after SQLite has closed the file,
    and read the file's bytes by `descriptor` only.
    """

    def __init__(self, path: Path) -> None:
        """Raise StoreInUse when another process, or another store of this one, has the file."""
        self._path = path
        self._name = -1
        self.descriptor = -1
        with _opening:
            # Before the file is opened: closing it again would drop the locks of the other store.
            if _identity(path) in _in_use:
                raise _in_use_error(path)
            try:
                self._name = _locked(path, f"{path}.lock")
                self.descriptor = _locked(path, str(path))
            except BaseException:
                self.close()
                raise
            facts = os.fstat(self.descriptor)
            self._inode = (facts.st_dev, facts.st_ino)
            _in_use.add(self._inode)

    def check(self) -> None:
        """Raise StoreDamaged when the path names another file by now."""
        identity = _identity(self._path)
        if identity is not None and identity != self._inode:
            raise StoreDamaged(
                f"{self._path} was replaced by another file while it was in use",
                "put the file back, or restart with the one that is there",
            )

    def close(self) -> None:
        """Release both locks. Closing twice is fine."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
            _in_use.discard(self._inode)
        if self._name >= 0:
            os.close(self._name)
            self._name = -1


def _locked(path: Path, name: str) -> int:
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if not isinstance(error, BlockingIOError):
            raise
        raise _in_use_error(path) from error
    return descriptor


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    return facts.st_dev, facts.st_ino


def _in_use_error(path: Path) -> StoreInUse:
    return StoreInUse(
        f"{path} is in use by another process",
        "stop the other service, or give this one a MANYCLASS_STORE of its own",
    )

"""An archive in a folder: on a disk of this machine, or on a file system that machines share."""

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from manyclass.service.store.archive.archive import check_name, is_name, unavailable
from manyclass.service.store.errors import StoreError, StoreFull
from manyclass.service.store.sqlite.file import FULL_HINT, make_folder, sync_folder

_LEFTOVER_SECONDS = 3600.0  # far longer than a write takes, and than clocks of machines differ
_TEMPORARY = ".tmp"
_HINT = "see whether it is mounted and may be written; the service then continues by itself"


class FolderArchive:
    """Files in folders in a folder. Any thread may call any method; processes may share the folder.

    A call lasts as long as the file system takes: for a server of NFS that is away, see its mount
    option `soft`.
    """

    def __init__(self, root: Path) -> None:
        """Make the folder if it is missing. Raises StoreError if it cannot be written."""
        self._root = root
        try:
            make_folder(root)
            self._written(root, "opening", b"").unlink()
            self._delete_leftovers()
        except OSError as error:
            raise StoreError(
                f"the archive {self.shown} cannot be written: {error.strerror}",
                "name a folder that the service may make and write",
            ) from error

    @property
    def shown(self) -> str:
        """The place, for messages."""
        return self._root.as_uri()

    def put(self, name: str, body: bytes) -> None:
        """Keep an object, in place of one of that name; return when it is durable."""
        path = self._root / check_name(name)
        with self._errors("cannot be written"):
            # Without the parents: a root that is gone is perhaps a file system not mounted.
            with suppress(FileExistsError):
                path.parent.mkdir()
            # Also if another process made it, which may not have come to this yet.
            sync_folder(self._root)
            temporary = self._written(path.parent, path.name, body)
            try:
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            sync_folder(path.parent)

    def get(self, name: str) -> bytes | None:
        """Return an object, None if there is none."""
        path = self._root / check_name(name)
        with self._errors("cannot be read"):
            try:
                return path.read_bytes()
            except FileNotFoundError:
                self._root.stat()  # raises if all of it is gone
                return None

    def delete(self, name: str) -> None:
        """Delete an object, if there is one; return when that is durable."""
        path = self._root / check_name(name)
        with self._errors("cannot be written"):
            try:
                path.unlink()
            except FileNotFoundError:
                self._root.stat()
            # Also if another call deleted it, which may not have come to this yet.
            with suppress(FileNotFoundError):
                sync_folder(path.parent)

    def names(self) -> list[str]:
        """Return the names of all objects, sorted."""
        with self._errors("cannot be read"):
            found = [
                f"{entry.parent.name}/{entry.name}" for entry in self._files() if entry.is_file()
            ]
        return sorted(filter(is_name, found))

    def delete_unfinished(self, is_meant: Callable[[str], bool]) -> None:
        """Delete the temporary files of such objects; return when that is durable."""
        with self._errors("cannot be written"):
            for file in self._files():
                object_name, _, _ = file.name.removesuffix(_TEMPORARY)[1:].rpartition(".")
                if _is_temporary(file.name) and is_meant(f"{file.parent.name}/{object_name}"):
                    file.unlink(missing_ok=True)
                    sync_folder(file.parent)

    def _files(self) -> Iterator[Path]:
        """Yield what is in the folders, temporary files too."""
        for folder in self._root.iterdir():
            if folder.is_dir():
                yield from folder.iterdir()

    def _delete_leftovers(self) -> None:
        """Delete the temporary files of processes that were killed."""
        oldest = time.time() - _LEFTOVER_SECONDS
        for file in (*self._root.iterdir(), *self._files()):
            with suppress(OSError):  # such as: another process deletes it too
                if _is_temporary(file.name) and file.stat().st_mtime < oldest:
                    file.unlink()

    @staticmethod
    def _written(folder: Path, name: str, body: bytes) -> Path:
        """Return a new temporary file with the body, which is on the disk; its name may not be."""
        path = folder / f".{name}.{token_hex(8)}{_TEMPORARY}"
        try:
            with path.open("xb", buffering=0) as file:
                rest = memoryview(body)
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(file.fileno())
        except BaseException:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            raise
        return path

    @contextmanager
    def _errors(self, failure: str) -> Iterator[None]:
        """Map errors of the file system to errors of the store."""
        try:
            yield
        except OSError as error:
            failure = f"{failure}: {error.strerror}"
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StoreFull(f"the archive {self.shown} {failure}", FULL_HINT) from error
            raise unavailable(self.shown, failure, _HINT) from error


def _is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(_TEMPORARY)

"""The high-water mark of a SQLite store: the last event of its log, in a small file beside it.

A database does not show that the end of its write-ahead log is missing: a log that was cut is a
valid, shorter one. The mark shows it. `path`.mark has it twice, each time in a page of its own, and
the older of the two is overwritten, so one of them is always whole:

    identity 16 bytes | count u64 | seq i64 | chain 16 bytes | checksum 16 bytes

`count` grows with each write; the greater one is the newer. Numbers are little-endian.
"""

import mmap
import os
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from struct import Struct

from manyclass.service.store.batch import CHECKSUM_BYTES, checksum_of
from manyclass.service.store.errors import StoreDamaged
from manyclass.service.store.sqlite.file import sync_folder

SLOT_BYTES = 4096  # the kernel writes a page to the disk at once
_SLOT = Struct("<16sQq16s")


@dataclass(frozen=True, slots=True)
class Mark:
    """The end of a log."""

    identity: bytes  # of the store
    seq: int  # of the last event
    chain: bytes  # the checksum of the last append, see chain.py


def mark_path(path: Path) -> Path:
    """Return the path of the mark of the store at `path`."""
    return path.with_name(path.name + ".mark")


def read_mark(path: Path) -> Mark | None:
    """Return the mark of the store at `path`, None when there is no such file.

    StoreDamaged when neither of its two copies is whole.
    """
    try:
        content = mark_path(path).read_bytes()
    except FileNotFoundError:
        return None
    whole = [slot for slot in _slots(content) if slot is not None]
    if not whole:
        raise StoreDamaged(
            f"{mark_path(path)} is damaged, so nothing tells whether {path} is whole",
            accept_hint(path, "put a backup of both files in their place"),
        )
    return max(whole)[1]


def accept_hint(path: Path, instead: str) -> str:
    """Return the hint of an error that an operator may decide to pass over."""
    return (
        f"{instead}; or, to go on with what {path.name} holds and give up the rest,"
        f" run `manyclass store accept {shell_url(path)}`"
    )


def shell_url(path: Path) -> str:
    """Return the URL of the store at `path` as it is typed in a command."""
    return quote(f"sqlite:{path}")


class MarkFile:
    """The mark of the store at `path`, to be written after each commit.

    It is written through a memory map: a system call would release the GIL, and a busy event loop
    returns it only after milliseconds. A mark survives the process at once. It survives a power cut
    after `sync`, or when the kernel writes it, mostly within half a minute. An older
    mark on the disk is true as well; it only knows of fewer events.
    """

    def __init__(self, path: Path, mark: Mark) -> None:
        """Open the file and write the mark; a file that is missing or damaged is made anew."""
        self._path = mark_path(path)
        self._count = 0
        if not self._is_whole():
            self._make(mark)
        with self._path.open("r+b") as file:
            self._descriptor = os.dup(file.fileno())
        self._map = mmap.mmap(self._descriptor, 2 * SLOT_BYTES)
        self._count = max(count for count, _ in filter(None, _slots(self._map[:])))
        self.write(mark)

    def write(self, mark: Mark) -> None:
        """Set the mark in place of the older of the two that are there."""
        self._count += 1
        slot = _packed(self._count, mark)
        begin = self._count % 2 * SLOT_BYTES
        self._map[begin : begin + len(slot)] = slot

    def sync(self) -> None:
        """Return when the disk has the mark."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Sync the file and close it."""
        try:
            self.sync()
        finally:
            self._map.close()
            os.close(self._descriptor)

    def _is_whole(self) -> bool:
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return False
        return len(content) == 2 * SLOT_BYTES and None not in _slots(content)

    def _make(self, mark: Mark) -> None:
        """Put a new file in the place of the old one, in one step that outlives a power cut."""
        part = self._path.with_name(self._path.name + ".part")
        with part.open("wb") as file:
            for count in (0, 1):
                file.write(_packed(count, mark).ljust(SLOT_BYTES, b"\0"))
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._path)
        sync_folder(self._path.parent)


def _packed(count: int, mark: Mark) -> bytes:
    content = _SLOT.pack(mark.identity, count, mark.seq, mark.chain)
    return content + checksum_of(content)


def _slots(content: bytes) -> list[tuple[int, Mark] | None]:
    """Return the count and mark of each copy, None where it is not whole."""
    return [_slot(content[begin : begin + SLOT_BYTES]) for begin in (0, SLOT_BYTES)]


def _slot(content: bytes) -> tuple[int, Mark] | None:
    packed = content[: _SLOT.size]
    checksum = content[_SLOT.size : _SLOT.size + CHECKSUM_BYTES]
    if len(packed) < _SLOT.size or checksum_of(packed) != checksum:
        return None
    identity, count, seq, chain = _SLOT.unpack(packed)
    return count, Mark(identity, seq, chain)

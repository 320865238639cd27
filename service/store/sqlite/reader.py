"""Reads a SQLite store without changing it, also while a service uses it or after a crash."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from manyclass.service.store.errors import StoreError, StoreMissing
from manyclass.service.store.protocol import SnapshotInfo
from manyclass.service.store.segments import SegmentInfo
from manyclass.service.store.sqlite.contents import StoreFacts
from manyclass.service.store.sqlite.file import APPLICATION_ID, reading
from manyclass.service.store.sqlite.log import read_log
from manyclass.service.store.sqlite.opening import checked_version, tail_of
from manyclass.service.store.sqlite.segments import SegmentReader
from manyclass.service.store.sqlite.snapshots import SnapshotReader
from manyclass.service.store.sqlite.waiting import SUFFIX, SqliteWaiting


class SqliteReader:
    """The log, the snapshots and the history in the file at `path`, as it was when opened.

    It takes no lock and writes nothing: no checkpoint, no mark. The mark beside the file is not
    compared, so a log whose end is lost is read up to there. While an iterator is in use, the
    write-ahead log of a running service grows.
    """

    def __init__(self, path: Path) -> None:
        """Raise StoreError if this is not the file of a store."""
        if not path.exists():
            raise StoreMissing(f"there is no store {path}", "see whether the path is right")
        self.path = Path(os.path.realpath(path))
        self._file = _ReadOnlyFile(self.path)
        self._snapshots = SnapshotReader(self._file)
        self._segments = SegmentReader(self._file)

    @property
    def first_seq(self) -> int:
        """The number of the first event in the log; the next number if the log is empty."""
        with self._file.reading() as connection:
            row = connection.execute("SELECT min(first_seq) FROM events").fetchone()
        return self.last_seq + 1 if row[0] is None else int(row[0])

    @property
    def last_seq(self) -> int:
        """The highest number in use, 0 for a new store; includes a snapshot newer than the log."""
        return self._file.tail.seq

    def read(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the bytes of each event after `after`. LogTrimmed, LogDamaged."""
        return read_log(self._file, after)

    def snapshots(self) -> list[SnapshotInfo]:
        """Return the snapshots, newest first, damaged ones too."""
        return self._snapshots.list()

    def open_snapshot(self, seq: int) -> Iterator[bytes]:
        """Yield the bytes of a snapshot. SnapshotMissing, SnapshotDamaged."""
        return self._snapshots.open(seq)

    def segments(self) -> list[SegmentInfo]:
        """Return the segments of the history, oldest first."""
        return self._segments.list()

    def read_segment(self, last_seq: int) -> bytes:
        """Return the bytes of a segment. SegmentMissing, StoreDamaged."""
        return self._segments.read(last_seq)

    def open_waiting(self, clock: Callable[[], float]) -> SqliteWaiting:
        """Return the instances that wait for review."""
        return SqliteWaiting(self.path.with_name(self.path.name + SUFFIX), clock)

    def free_pages(self) -> int:
        """Return the number of pages of the file that hold deleted rows."""
        with self._file.reading() as connection:
            (number,) = connection.execute("PRAGMA freelist_count").fetchone()
        return int(number)

    def close(self) -> None:
        """Do nothing: each call has a connection of its own."""


class _ReadOnlyFile:
    """The file of a store, opened by connections that cannot write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self.reading() as connection:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            if application != APPLICATION_ID or not checked_version(path, connection):
                raise StoreError(f"{path} is not a store", "name the file of MANYCLASS_STORE")
            facts = StoreFacts.read(connection)
            self.tail = tail_of(connection, facts, None)
        self.found = self.tail

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Return a new connection that sees the file as it is now."""
        return reading(self._path, "ro")

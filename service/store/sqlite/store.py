"""The store in one SQLite file, with a write-ahead log: for a service on one machine."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from manyclass.service.store.batch import join_batch_within
from manyclass.service.store.errors import StoreDamaged
from manyclass.service.store.protocol import SnapshotInfo
from manyclass.service.store.segments import SegmentInfo
from manyclass.service.store.sqlite.contents import raise_low_watermark
from manyclass.service.store.sqlite.file import RESTORE_HINT, errors_of_store
from manyclass.service.store.sqlite.lock import FileLock
from manyclass.service.store.sqlite.log import read_log
from manyclass.service.store.sqlite.opening import Accepted, accept_file
from manyclass.service.store.sqlite.segments import SqliteSegments
from manyclass.service.store.sqlite.snapshots import SqliteSnapshots
from manyclass.service.store.sqlite.store_file import StoreFile
from manyclass.service.store.sqlite.waiting import SUFFIX, SqliteWaiting

LARGEST_BATCH = 2**29  # SQLite's limit for a row is 10^9 bytes
TRIMMED_ROWS_AT_ONCE = 4096
TRIMMED_BYTES_AT_ONCE = 4 * 2**20


class SqliteStore:
    """Events and snapshots in the file at `path`, and the mark of its log in `path`.mark.

    Threads: any thread may call any method at any time. Writes take turns: an append is one turn,
    saving, deleting and trimming are many short ones, and the thread that waits is next, so an
    append waits for one turn at most. `read` and `open_snapshot` wait for no other call; each has a
    connection of its own until its iterator ends or is dropped. Close the store after them.
    """

    durability = "on the disk before the answer (SQLite, write-ahead log, synchronous=FULL)"

    def __init__(self, path: Path, clock: Callable[[], float], salvage: bool = False) -> None:
        """Raise StoreError when the store cannot be used, StoreDamaged when it is incomplete.

        `salvage`: also open a file whose pages do not fit together, to read its undamaged parts.
        """
        self._file = StoreFile(path, salvage)
        self._snapshots = SqliteSnapshots(self._file, clock)
        self._segments = SqliteSegments(self._file)
        try:
            if not salvage:
                self._snapshots.sweep_if_possible()
        except BaseException:
            self.close()
            raise

    @property
    def last_seq(self) -> int:
        return self._file.tail.seq

    def append(self, events: Sequence[bytes]) -> int:
        if not events:
            return self.last_seq
        return self._file.append(len(events), join_batch_within(LARGEST_BATCH, events))

    def check_append(self, size: int) -> None:
        self._snapshots.write_on_trial(size)

    def read(self, after: int) -> Iterator[tuple[int, bytes]]:
        return read_log(self._file, after)

    def trim(self, seq: int) -> None:
        self._file.sync_mark()  # a mark that names a trimmed event could not be compared
        while self._trim_some(seq):
            pass

    def _trim_some(self, seq: int) -> bool:
        """Delete some rows; return whether there were any. Their pages are used again."""
        with self._file.writing() as connection:
            rows = connection.execute(
                "SELECT last_seq, coalesce(length(body), 0) FROM events WHERE last_seq <= ?"
                " ORDER BY last_seq LIMIT ?",
                (seq, TRIMMED_ROWS_AT_ONCE),
            ).fetchall()
            if not rows:
                return False
            trimmed, size = 0, 0
            for last_seq, length in rows:
                trimmed = last_seq
                size += length
                if size >= TRIMMED_BYTES_AT_ONCE:
                    break
            connection.execute("BEGIN IMMEDIATE")
            raise_low_watermark(connection, trimmed)
            deleted = connection.execute("DELETE FROM events WHERE last_seq <= ?", (trimmed,))
            if deleted.rowcount == 0:  # in a damaged table; trying again would never end
                raise StoreDamaged(f"{self._file.path}: events cannot be deleted", RESTORE_HINT)
            connection.execute("COMMIT")
        return True

    def save_snapshot(
        self, seq: int, chunks: Iterable[bytes | memoryview], keep_existing: bool = False
    ) -> SnapshotInfo:
        return self._snapshots.save(seq, chunks, keep_existing)

    def open_snapshot(self, seq: int) -> Iterator[bytes]:
        return self._snapshots.open(seq)

    def snapshots(self) -> list[SnapshotInfo]:
        return self._snapshots.list()

    def delete_snapshot(self, seq: int) -> None:
        self._snapshots.delete(seq)

    def segments(self) -> list[SegmentInfo]:
        return self._segments.list()

    def save_segment(self, info: SegmentInfo, body: bytes) -> None:
        self._segments.save(info, body)

    def read_segment(self, last_seq: int) -> bytes:
        return self._segments.read(last_seq)

    def delete_segments(self, last_seq: int) -> None:
        self._segments.delete(last_seq)

    def save_base(self, seq: int, chunks: Iterable[bytes | memoryview]) -> None:
        self.save_snapshot(seq, chunks)

    def scrub(self) -> None:
        """Write the file anew without its free pages, and empty the write-ahead log.

        Appends wait meanwhile.
        """
        with self._file.writing() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def open_waiting(self, clock: Callable[[], float]) -> SqliteWaiting:
        """Return the instances that wait for review; the clock is that of their leases."""
        path = self._file.path
        return SqliteWaiting(path.with_name(path.name + SUFFIX), clock)

    def close(self) -> None:
        self._file.close()


def accept_store(path: Path) -> Accepted:
    """Let the next start go on with the contents of the file, despite its mark.

    Raises StoreError, also while a service uses the store.
    """
    path = Path(os.path.realpath(path))
    with errors_of_store(path), closing(FileLock(path)) as lock:
        return accept_file(path, lock)

"""The store in one SQLite file, with a write-ahead log: what a service on one machine needs."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import astuple, dataclass
from hashlib import blake2b
from pathlib import Path
from struct import pack
from threading import Lock
from typing import IO

from manyclass.service.store.batch import (
    CHECKSUM_BYTES,
    batch_checksum,
    join_batch_within,
    split_batch,
)
from manyclass.service.store.chunks import recut
from manyclass.service.store.protocol import (
    LogDamaged,
    SnapshotDamaged,
    SnapshotInfo,
    SnapshotMissing,
    StoreDamaged,
    StoreError,
    StoreUnavailable,
)
from manyclass.service.store.sqlite_file import (
    RESTORE_HINT,
    connect,
    errors_of_store,
    lock,
    make_folder,
    open_file,
    reading,
)

LARGEST_BATCH = 2**29  # SQLite's limit for a row is 10^9 bytes
# What an append may have to wait for while a snapshot is saved, and what SQLite copies at a stretch
# with the GIL held: with 1 MiB the slowest rankings of that time took twice as long.
CHUNK_BYTES = 2**17
CHUNKS_DELETED_AT_ONCE = 4
TRIMMED_ROWS_AT_ONCE = 4096
TRIMMED_BYTES_AT_ONCE = 4 * 2**20


# One row a query: a cursor would read a row ahead, and damage there take away the one before it.
_NEXT_BATCH = """SELECT first_seq, last_seq, checksum, body FROM events
    WHERE last_seq >= ? ORDER BY last_seq LIMIT 1"""
_NEXT_CHUNK = """SELECT number, checksum, body FROM chunks
    WHERE snapshot = ? AND number >= ? ORDER BY number LIMIT 1"""
_MANIFESTS = "SELECT seq, id, taken_at, bytes, chunks, digest, checksum FROM snapshots"


class SqliteStore:
    """Events and snapshots in the file at `path`; `path`.lock keeps other processes out.

    Threads: any thread may call anything at any time. Whatever writes takes turns: an append is
    one turn, saving, deleting and trimming are many short ones, and who waits comes next, so an
    append waits for one turn at most. `read` and `open_snapshot` wait for nobody; each has a
    connection of its own until its iterator ends or is dropped. Close the store after them.

    After a failed write the connection is given up, and the next turn starts a new one with
    taking back what the failed one may have left: its caller was told that nothing is there.
    (A power cut before that turn can leave an event nobody was told of. None is ever lost.)
    """

    durability = "on the disk before the answer (SQLite, write-ahead log, synchronous=FULL)"

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        self._path = path.absolute()
        self._clock = clock
        self._last_seq = 0
        self._closed = False
        self._next = Lock()
        self._writing = Lock()
        self._snapshot_work = Lock()  # one saves or deletes at a time
        self._connection: sqlite3.Connection | None = None
        self._lock_file: IO[bytes] | None = None
        try:
            with errors_of_store(self._path):
                make_folder(self._path.parent)
                self._lock_file = lock(self._path)
                self._connection = open_file(self._path)
                self._last_seq = _last_seq(self._connection)
            self._sweep_if_possible()
        except BaseException:
            self.close()
            raise

    @property
    def last_seq(self) -> int:
        return self._last_seq

    # --- the log ----------------------------------------------------------------------------------
    def append(self, events: Sequence[bytes]) -> int:
        if not events:
            return self._last_seq
        body = join_batch_within(LARGEST_BATCH, events)
        with self._turn() as connection:
            first_seq, last_seq = self._last_seq + 1, self._last_seq + len(events)
            # One statement, which is the whole transaction: the GIL is let go of once for all
            # the waiting. Taking it back from a busy event loop costs more than the disk does.
            connection.execute(
                "INSERT INTO events (last_seq, first_seq, checksum, body) VALUES (?, ?, ?, ?)",
                (last_seq, first_seq, batch_checksum(first_seq, last_seq, body), body),
            )
            self._last_seq = last_seq
        return last_seq

    def read(self, after: int) -> Iterator[tuple[int, bytes]]:
        expected = after + 1
        try:
            with self._reading() as connection:
                known = _last_seq(connection)
                while row := connection.execute(_NEXT_BATCH, (expected,)).fetchone():
                    first_seq, last_seq, checksum, body = row
                    if (
                        not isinstance(first_seq, int)
                        or not isinstance(body, bytes)
                        or batch_checksum(first_seq, last_seq, body) != checksum
                    ):
                        raise LogDamaged(expected, "its checksum does not fit")
                    inside_first_row = first_seq < expected == after + 1
                    if first_seq != expected and not inside_first_row:
                        raise LogDamaged(expected, f"what comes next in the log is {first_seq}")
                    events = split_batch(body, last_seq - first_seq + 1)
                    for event in events[expected - first_seq :]:
                        yield expected, event
                        expected += 1
        except (StoreDamaged, ValueError) as error:
            raise LogDamaged(expected, str(error)) from error
        if expected <= known:
            raise LogDamaged(expected, f"it is not in the log, which once reached {known}")

    def trim(self, seq: int) -> None:
        while self._trim_some(seq):
            pass

    def _trim_some(self, seq: int) -> bool:
        """Whether anything was left to forget. Its pages are used again; the file never shrinks."""
        with self._turn() as connection:
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
            _raise_floor(connection, trimmed)
            deleted = connection.execute("DELETE FROM events WHERE last_seq <= ?", (trimmed,))
            if deleted.rowcount == 0:  # in a damaged table; trying again would never end
                raise StoreDamaged(f"{self._path}: events cannot be deleted", RESTORE_HINT)
            connection.execute("COMMIT")
        return True

    # --- snapshots --------------------------------------------------------------------------------
    def save_snapshot(
        self, seq: int, chunks: Iterable[bytes | memoryview], keep_existing: bool = False
    ) -> SnapshotInfo:
        with self._snapshot_work:
            self._sweep()
            try:
                manifest = self._write_snapshot(seq, chunks, keep_existing)
            finally:  # what was replaced, or did not become a snapshot
                self._sweep_if_possible()
        return SnapshotInfo(manifest.seq, manifest.size, manifest.taken_at)

    def _write_snapshot(
        self, seq: int, chunks: Iterable[bytes | memoryview], keep_existing: bool
    ) -> "_Manifest":
        taken_at = float(self._clock())
        with self._turn() as connection:
            (identity,) = connection.execute(
                "SELECT 1 + max(coalesce((SELECT max(id) FROM snapshots), 0),"
                " coalesce((SELECT max(snapshot) FROM chunks), 0))"
            ).fetchone()
        digest = blake2b(digest_size=CHECKSUM_BYTES)
        size = count = 0
        for number, body in enumerate(recut(chunks, CHUNK_BYTES)):
            checksum = _chunk_checksum(body)
            with self._turn() as connection:
                connection.execute(
                    "INSERT INTO chunks (snapshot, number, checksum, body) VALUES (?, ?, ?, ?)",
                    (identity, number, checksum, body),
                )
            digest.update(checksum)
            size += len(body)
            count += 1
        manifest = _Manifest(seq, identity, taken_at, size, count, digest.digest())
        with self._turn() as connection:
            if keep_existing:
                with suppress(SnapshotMissing):
                    existing, checksum = _manifest(connection, seq)
                    if existing.checksum() == checksum:  # a damaged one is not worth keeping
                        return existing
            connection.execute(
                "INSERT OR REPLACE INTO snapshots"
                " (seq, id, taken_at, bytes, chunks, digest, checksum)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*astuple(manifest), manifest.checksum()),
            )
            self._last_seq = max(self._last_seq, seq)
        return manifest

    def open_snapshot(self, seq: int) -> Iterator[bytes]:
        chunks = self._read_snapshot(seq)
        next(chunks)  # up to the manifest: what is missing is missing now, not when it is read
        return chunks

    def _read_snapshot(self, seq: int) -> Iterator[bytes]:
        """Empty bytes once the manifest is checked, then the chunks, each checked before."""
        part = "manifest"
        try:
            with self._reading() as connection:
                manifest, checksum = _manifest(connection, seq)
                if manifest.checksum() != checksum:
                    raise SnapshotDamaged(seq, part, "its checksum does not fit")
                yield b""
                digest = blake2b(digest_size=CHECKSUM_BYTES)
                number = 0
                part = "chunk 0"
                while row := connection.execute(
                    _NEXT_CHUNK, (manifest.identity, number)
                ).fetchone():
                    stored_number, checksum, body = row
                    if stored_number != number:
                        raise SnapshotDamaged(seq, part, "it is missing")
                    if not isinstance(body, bytes) or _chunk_checksum(body) != checksum:
                        raise SnapshotDamaged(seq, part, "its checksum does not fit")
                    yield body
                    digest.update(checksum)
                    number += 1
                    part = f"chunk {number}"
                if number != manifest.chunks:
                    raise SnapshotDamaged(seq, part, f"the manifest says {manifest.chunks} chunks")
                if digest.digest() != manifest.digest:
                    raise SnapshotDamaged(seq, "manifest", "its chunks are not the ones it lists")
        except StoreDamaged as error:
            raise SnapshotDamaged(seq, part, str(error)) from error

    def snapshots(self) -> list[SnapshotInfo]:
        with self._reading() as connection:
            rows = connection.execute(  # damaged ones are listed too, hence the casts
                "SELECT seq, coalesce(CAST(bytes AS INTEGER), 0),"
                " coalesce(CAST(taken_at AS REAL), 0.0) FROM snapshots ORDER BY seq DESC"
            )
            return [SnapshotInfo(*row) for row in rows]

    def delete_snapshot(self, seq: int) -> None:
        with self._snapshot_work:
            with self._turn() as connection:
                _manifest(connection, seq)
                connection.execute("BEGIN IMMEDIATE")
                _raise_floor(connection, min(seq, self._last_seq))
                connection.execute("DELETE FROM snapshots WHERE seq = ?", (seq,))
                connection.execute("COMMIT")
            self._sweep_if_possible()

    def _sweep(self) -> None:
        """No chunk is there that no manifest refers to."""
        deleted = CHUNKS_DELETED_AT_ONCE
        while deleted:
            with self._turn() as connection:
                deleted = connection.execute(
                    "DELETE FROM chunks WHERE rowid IN (SELECT rowid FROM chunks"
                    " WHERE snapshot NOT IN (SELECT id FROM snapshots) LIMIT ?)",
                    (CHUNKS_DELETED_AT_ONCE,),
                ).rowcount

    def _sweep_if_possible(self) -> None:
        """What cannot be swept now does no harm, and the next save or start sweeps again."""
        with suppress(StoreUnavailable):
            self._sweep()

    # --- turns ------------------------------------------------------------------------------------
    @contextmanager
    def _turn(self) -> Iterator[sqlite3.Connection]:
        """The right to write, and the connection to write with."""
        # A lock alone would not do: the thread that saves a snapshot lets go of it and takes it
        # again at once, and the appending one would hardly ever get it. Waiting in two places
        # makes it second in line.
        with self._next:
            self._writing.acquire()
        try:
            if self._closed:
                raise StoreError(f"{self._path} is closed")
            with errors_of_store(self._path):
                if self._connection is None:
                    self._connection = self._reconnected()
                yield self._connection
        except BaseException:
            self._disconnect()
            raise
        finally:
            self._writing.release()

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        if self._closed:
            raise StoreError(f"{self._path} is closed")
        return reading(self._path)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _reconnected(self) -> sqlite3.Connection:
        """A connection to the file as those who appended know it, after a write that failed."""
        connection = connect(self._path)
        try:
            connection.execute("DELETE FROM events WHERE last_seq > ?", (self._last_seq,))
            last_seq = _last_seq(connection)
            if last_seq < self._last_seq:
                raise StoreDamaged(
                    f"{self._path} ends at event {last_seq}; {self._last_seq} was acknowledged",
                    "somebody replaced the file or removed its write-ahead log; restart",
                )
        except BaseException:
            connection.close()
            raise
        self._last_seq = last_seq  # more than before only through a snapshot that was saved
        return connection

    def close(self) -> None:
        with self._next:
            self._writing.acquire()
        try:
            self._closed = True
            self._disconnect()
            if self._lock_file is not None:
                self._lock_file.close()
        finally:
            self._writing.release()


@dataclass(frozen=True, slots=True)
class _Manifest:
    """What a snapshot consists of: the row of `snapshots`, in its order, but for the checksum."""

    seq: int
    identity: int
    taken_at: float
    size: int
    chunks: int
    digest: bytes  # of the chunks' checksums

    def checksum(self) -> bytes:
        # Of the text: in a damaged row the values may be of any type.
        return blake2b(repr(astuple(self)).encode(), digest_size=CHECKSUM_BYTES).digest()


def _manifest(connection: sqlite3.Connection, seq: int) -> tuple[_Manifest, bytes]:
    known = -(2**63) <= seq < 2**63  # what SQLite can be asked for
    row = known and connection.execute(f"{_MANIFESTS} WHERE seq = ?", (seq,)).fetchone()
    if not row:
        raise SnapshotMissing(seq)
    *fields, checksum = row
    return _Manifest(*fields), checksum


def _chunk_checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=CHECKSUM_BYTES).digest()


def _last_seq(connection: sqlite3.Connection) -> int:
    """The highest number in use. A damaged manifest does not count: its number may be anything."""
    (last_event,) = connection.execute("SELECT coalesce(max(last_seq), 0) FROM events").fetchone()
    snapshots = (
        manifest.seq
        for *fields, checksum in connection.execute(_MANIFESTS)
        if (manifest := _Manifest(*fields)).checksum() == checksum
    )
    return int(max(last_event, _floor(connection), *snapshots))


def _floor(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT seq, checksum FROM floor").fetchone()
    if row is None:
        return 0
    seq, checksum = row
    if isinstance(seq, int) and _floor_checksum(seq) == checksum:
        return seq
    raise StoreDamaged(
        "the number up to which the log was trimmed is damaged",
        RESTORE_HINT,
    )


def _raise_floor(connection: sqlite3.Connection, seq: int) -> None:
    seq = max(seq, _floor(connection))
    connection.execute(
        "INSERT OR REPLACE INTO floor (id, seq, checksum) VALUES (1, ?, ?)",
        (seq, _floor_checksum(seq)),
    )


def _floor_checksum(seq: int) -> bytes:
    return blake2b(pack("<q", seq), digest_size=CHECKSUM_BYTES).digest()

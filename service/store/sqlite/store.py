"""The store in one SQLite file, with a write-ahead log: what a service on one machine needs."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import astuple
from hashlib import blake2b
from pathlib import Path
from secrets import token_bytes
from threading import Lock

from manyclass.service.store.batch import CHECKSUM_BYTES, join_batch_within, split_batch
from manyclass.service.store.chunks import recut
from manyclass.service.store.errors import (
    LogDamaged,
    SnapshotDamaged,
    SnapshotMissing,
    StoreDamaged,
    StoreError,
    StoreUnavailable,
)
from manyclass.service.store.protocol import SnapshotInfo
from manyclass.service.store.sqlite.chain import WRITER_BYTES, ChainCheck, chain_of, prove
from manyclass.service.store.sqlite.contents import (
    Manifest,
    find_manifest,
    last_row_of,
    last_seq_of,
    raise_floor,
)
from manyclass.service.store.sqlite.file import (
    RESTORE_HINT,
    connect,
    errors_of_store,
    make_folder,
    reading,
)
from manyclass.service.store.sqlite.lock import FileLock
from manyclass.service.store.sqlite.mark import Mark, MarkFile
from manyclass.service.store.sqlite.opening import (
    Accepted,
    accept_file,
    open_file,
    refuse_missing,
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


class SqliteStore:
    """Events and snapshots in the file at `path`, which no other process can open meanwhile, and
    the high-water mark of its log in `path`.mark.

    Threads: any thread may call anything at any time. Whatever writes takes turns: an append is
    one turn, saving, deleting and trimming are many short ones, and who waits comes next, so an
    append waits for one turn at most. `read` and `open_snapshot` wait for nobody; each has a
    connection of its own until its iterator ends or is dropped. Close the store after them.

    After a failed write the connection is given up, and the next turn starts a new one with
    taking back the row the failed one may have left: its caller was told that nothing is there.
    It takes back nothing else. (A power cut before that turn can leave an event nobody was told of.
    None is ever lost.)
    """

    durability = "on the disk before the answer (SQLite, write-ahead log, synchronous=FULL)"

    def __init__(self, path: Path, clock: Callable[[], float], salvage: bool = False) -> None:
        """Raise StoreError when the store cannot be used, StoreDamaged when it is not all there.

        `salvage`: also open a file whose pages do not fit together, in order to read what is whole.
        """
        self._path = Path(os.path.realpath(path))  # as SQLite has it, which names its log by it
        self._clock = clock
        self._writer = token_bytes(WRITER_BYTES)
        self._closed = False
        self._next = Lock()
        self._writing = Lock()
        self._snapshot_work = Lock()  # one saves or deletes at a time
        self._connection: sqlite3.Connection | None = None
        self._lock: FileLock | None = None
        self._mark: MarkFile | None = None
        self._attempt: tuple[int, bytes] | None = None  # the append that may have left its row
        try:
            with errors_of_store(self._path):
                self._open(salvage)
            if not salvage:
                self._sweep_if_possible()
        except BaseException:
            self.close()
            raise

    def _open(self, salvage: bool) -> None:
        make_folder(self._path.parent)
        refuse_missing(self._path)
        self._lock = FileLock(self._path)
        opened = open_file(self._path, self._lock, salvage)
        self._connection = opened.connection
        self._tail = opened.tail  # replaced as a whole: `read` may look at any time
        self._found = opened.found or opened.tail
        self._unchained = opened.facts.unchained
        # Events behind the mark found are not yet checked; the first append moves the mark.
        self._mark = MarkFile(self._path, self._found)
        if not opened.facts.marked:
            opened.facts.with_mark().write(self._connection)
            # Into the file itself: by a hard link it is opened without its write-ahead log.
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @property
    def last_seq(self) -> int:
        return self._tail.seq

    @property
    def is_older_than_rules(self) -> bool:
        return self._unchained > 0  # versions of the rules are younger than the chain

    # --- the log ----------------------------------------------------------------------------------
    def append(self, events: Sequence[bytes]) -> int:
        if not events:
            return self.last_seq
        body = join_batch_within(LARGEST_BATCH, events)
        with self._turn() as connection:
            tail = self._tail
            first_seq, last_seq = tail.seq + 1, tail.seq + len(events)
            proof = prove(tail.chain, self._writer, first_seq, last_seq, body)
            self._attempt = (last_seq, proof)
            # One statement, which is the whole transaction: the GIL is let go of once for all
            # the waiting. Taking it back from a busy event loop costs more than the disk does.
            connection.execute(
                "INSERT INTO events (last_seq, first_seq, checksum, body) VALUES (?, ?, ?, ?)",
                (last_seq, first_seq, proof, body),
            )
            self._end_at(last_seq, chain_of(proof))
            self._attempt = None
        return last_seq

    def _end_at(self, seq: int, chain: bytes) -> None:
        """Note the end of the log, which is durable, for this process and for the next start."""
        tail = Mark(self._tail.identity, seq, chain)
        if self._mark is not None:
            self._mark.write(tail)
        self._tail = tail

    def read(self, after: int) -> Iterator[tuple[int, bytes]]:
        expected = after + 1
        tail = self._tail
        check = ChainCheck(after, self._unchained, (self._found, tail))
        try:
            with self._reading() as connection:
                while expected <= tail.seq and (
                    row := connection.execute(_NEXT_BATCH, (expected,)).fetchone()
                ):
                    first_seq, last_seq, proof, body = row
                    reason = check.reason_against(first_seq, last_seq, proof, body)
                    if reason is not None:
                        raise LogDamaged(expected, reason)
                    inside_first_row = first_seq < expected == after + 1
                    if first_seq != expected and not inside_first_row:
                        raise LogDamaged(expected, f"what comes next in the log is {first_seq}")
                    events = split_batch(body, last_seq - first_seq + 1)
                    for event in events[expected - first_seq :]:
                        yield expected, event
                        expected += 1
        except (StoreDamaged, ValueError) as error:
            raise LogDamaged(expected, str(error)) from error
        if expected <= tail.seq:
            raise LogDamaged(expected, f"it is not in the log, which once reached {tail.seq}")

    def trim(self, seq: int) -> None:
        if self._mark is not None:
            with errors_of_store(self._path):
                self._mark.sync()  # a mark that names a trimmed event could not be compared
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
            raise_floor(connection, trimmed)
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
    ) -> Manifest:
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
        manifest = Manifest(seq, identity, taken_at, size, count, digest.digest())
        with self._turn() as connection:
            if keep_existing:
                with suppress(SnapshotMissing, SnapshotDamaged):  # that is not worth keeping
                    existing, stamp = find_manifest(connection, seq)
                    existing.check(stamp, self._tail.identity)
                    return existing
            connection.execute(
                "INSERT OR REPLACE INTO snapshots"
                " (seq, id, taken_at, bytes, chunks, digest, checksum)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*astuple(manifest), manifest.stamp(self._tail.identity)),
            )
            self._end_at(max(seq, self.last_seq), self._tail.chain)
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
                manifest, stamp = find_manifest(connection, seq)
                manifest.check(stamp, self._tail.identity)
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
                find_manifest(connection, seq)
                connection.execute("BEGIN IMMEDIATE")
                raise_floor(connection, min(seq, self.last_seq))
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
        if self._closed or self._lock is None:
            raise StoreError(f"{self._path} is closed")
        self._lock.check()
        return reading(self._path)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _reconnected(self) -> sqlite3.Connection:
        """A connection to the file as those who appended know it, after a write that failed."""
        if self._lock is not None:
            self._lock.check()
        connection = connect(self._path)
        try:
            if self._attempt is not None:
                connection.execute(
                    "DELETE FROM events WHERE last_seq = ? AND checksum = ?", self._attempt
                )
            last_seq = last_seq_of(connection, self._tail.identity)
            if last_seq < self.last_seq:
                raise StoreDamaged(
                    f"{self._path} ends at event {last_seq}; {self.last_seq} was acknowledged",
                    "somebody replaced the file or removed its write-ahead log; restart",
                )
            row_seq, proof = last_row_of(connection)
            if row_seq > self.last_seq or (row_seq and chain_of(proof) != self._tail.chain):
                raise StoreDamaged(
                    f"{self._path} ends with event {row_seq} as another process wrote it",
                    "stop whatever else writes to the file, and restart",
                )
        except BaseException:
            connection.close()
            raise
        # The mark may name the attempt; the end is another only through a snapshot that was saved.
        if self._attempt is not None or last_seq > self.last_seq:
            self._end_at(last_seq, self._tail.chain)
            self._attempt = None
        return connection

    def close(self) -> None:
        with self._next:
            self._writing.acquire()
        try:
            self._closed = True
            self._disconnect()
            with errors_of_store(self._path):
                if self._mark is not None:
                    self._mark.close()
        finally:
            self._mark = None
            if self._lock is not None:  # last: see FileLock
                self._lock.close()
                self._lock = None
            self._writing.release()


def _chunk_checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=CHECKSUM_BYTES).digest()


def accept_store(path: Path) -> Accepted:
    """Let the next start go on with what the file holds, whatever its mark says.

    StoreError, as when a service uses the store.
    """
    path = Path(os.path.realpath(path))
    with errors_of_store(path), closing(FileLock(path)) as lock:
        return accept_file(path, lock)

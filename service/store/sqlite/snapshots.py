"""The snapshots of a SQLite store: chunks, and a manifest that is written last."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import astuple
from threading import Lock

from manyclass.service.store.chunks import check_chunks, write_chunks
from manyclass.service.store.errors import (
    SnapshotDamaged,
    SnapshotMissing,
    StoreDamaged,
    StoreUnavailable,
)
from manyclass.service.store.protocol import SnapshotInfo
from manyclass.service.store.sqlite.contents import Manifest, find_manifest, raise_low_watermark
from manyclass.service.store.sqlite.log import ReadableFile
from manyclass.service.store.sqlite.store_file import StoreFile

# An append may have to wait for one chunk while a snapshot is saved, and SQLite copies a chunk with
# the GIL held: with 1 MiB the slowest rankings of that time took twice as long.
CHUNK_BYTES = 2**17
CHUNKS_DELETED_AT_ONCE = 4
TRIAL = 0  # in place of the id of a snapshot, which is 1 or more

# One row a query: a cursor would read a row ahead, and damage there take away the one before it.
_NEXT_CHUNK = """SELECT number, checksum, body FROM chunks
    WHERE snapshot = ? AND number >= ? ORDER BY number LIMIT 1"""


class SnapshotReader:
    """The snapshots in a file, to read. Any thread may call any method."""

    def __init__(self, file: ReadableFile) -> None:
        self._readable = file

    def open(self, seq: int) -> Iterator[bytes]:
        """Return the chunks. SnapshotMissing and a damaged manifest are raised here."""
        chunks = self._read(seq)
        next(chunks)
        return chunks

    def _read(self, seq: int) -> Iterator[bytes]:
        """Yield empty bytes once the manifest is checked, then each chunk once it is checked."""
        part = "manifest"
        try:
            with self._readable.reading() as connection:
                manifest, stamp = find_manifest(connection, seq)
                manifest.check(stamp, self._readable.tail.identity)
                yield b""
                part = "chunk 0"
                checked = check_chunks(seq, manifest.digest, _chunks(connection, manifest))
                for number, body in enumerate(checked, 1):
                    yield body
                    part = f"chunk {number}"
        except StoreDamaged as error:
            raise SnapshotDamaged(seq, part, str(error)) from error

    def list(self) -> list[SnapshotInfo]:
        """Return the snapshots, newest first, damaged ones too."""
        with self._readable.reading() as connection:
            rows = connection.execute(  # with casts, for damaged rows
                "SELECT seq, coalesce(CAST(bytes AS INTEGER), 0),"
                " coalesce(CAST(taken_at AS REAL), 0.0) FROM snapshots ORDER BY seq DESC"
            )
            return [SnapshotInfo(*row) for row in rows]


class SqliteSnapshots(SnapshotReader):
    """The snapshots in a file. One thread at a time saves or deletes."""

    def __init__(self, file: StoreFile, clock: Callable[[], float]) -> None:
        super().__init__(file)
        self._file = file
        self._clock = clock
        self._lock = Lock()

    def save(
        self, seq: int, chunks: Iterable[bytes | memoryview], keep_existing: bool
    ) -> SnapshotInfo:
        """Save a snapshot in many short turns to write."""
        with self._lock:
            self._sweep()
            try:
                manifest = self._write(seq, chunks, keep_existing)
            finally:  # chunks of a replaced snapshot, or of an unfinished one
                self.sweep_if_possible()
        return SnapshotInfo(manifest.seq, manifest.size, manifest.taken_at)

    def _write(
        self, seq: int, chunks: Iterable[bytes | memoryview], keep_existing: bool
    ) -> Manifest:
        taken_at = float(self._clock())
        with self._file.writing() as connection:
            (identity,) = connection.execute(
                "SELECT 1 + max(coalesce((SELECT max(id) FROM snapshots), 0),"
                " coalesce((SELECT max(snapshot) FROM chunks), 0))"
            ).fetchone()

        def put(number: int, checksum: bytes, body: bytes) -> None:
            with self._file.writing() as connection:
                connection.execute(
                    "INSERT INTO chunks (snapshot, number, checksum, body) VALUES (?, ?, ?, ?)",
                    (identity, number, checksum, body),
                )

        manifest = Manifest(seq, identity, taken_at, *write_chunks(chunks, CHUNK_BYTES, put))
        with self._file.writing() as connection:
            store = self._file.tail.identity
            if keep_existing:
                with suppress(SnapshotMissing, SnapshotDamaged):  # a damaged one is replaced
                    existing, stamp = find_manifest(connection, seq)
                    existing.check(stamp, store)
                    return existing
            connection.execute(
                "INSERT OR REPLACE INTO snapshots"
                " (seq, id, taken_at, bytes, chunks, digest, checksum)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*astuple(manifest), manifest.stamp(store)),
            )
            self._file.raise_end(seq)
        return manifest

    def delete(self, seq: int) -> None:
        """Delete a snapshot: its manifest, then its chunks. SnapshotMissing."""
        with self._lock:
            with self._file.writing() as connection:
                find_manifest(connection, seq)
                connection.execute("BEGIN IMMEDIATE")
                raise_low_watermark(connection, min(seq, self._file.tail.seq))
                connection.execute("DELETE FROM snapshots WHERE seq = ?", (seq,))
                connection.execute("COMMIT")
            self.sweep_if_possible()

    def _sweep(self) -> None:
        """Delete the chunks that no manifest refers to."""
        deleted = CHUNKS_DELETED_AT_ONCE
        while deleted:
            with self._file.writing() as connection:
                deleted = connection.execute(
                    "DELETE FROM chunks WHERE rowid IN (SELECT rowid FROM chunks"
                    " WHERE snapshot NOT IN (SELECT id FROM snapshots) LIMIT ?)",
                    (CHUNKS_DELETED_AT_ONCE,),
                ).rowcount

    def write_on_trial(self, size: int) -> None:
        """Write so many bytes, as a chunk that no manifest refers to, and delete them."""
        with self._file.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO chunks (snapshot, number, checksum, body)"
                " VALUES (?, 0, x'', zeroblob(?))",
                (TRIAL, size),
            )
            connection.execute("DELETE FROM chunks WHERE snapshot = ?", (TRIAL,))

    def sweep_if_possible(self) -> None:
        """Sweep; unswept chunks do no harm, and the next save or start sweeps again."""
        with suppress(StoreUnavailable):
            self._sweep()


def _chunks(
    connection: sqlite3.Connection, manifest: Manifest
) -> Iterator[tuple[bytes, bytes] | None]:
    """Yield checksum and bytes of each chunk as they are stored, None for a missing one."""
    number = 0
    while row := connection.execute(_NEXT_CHUNK, (manifest.identity, number)).fetchone():
        stored_number, checksum, body = row
        yield (checksum, body) if stored_number == number else None
        number += 1
    if number != manifest.chunks:
        reason = f"the manifest says {manifest.chunks} chunks"
        raise SnapshotDamaged(manifest.seq, f"chunk {number}", reason)

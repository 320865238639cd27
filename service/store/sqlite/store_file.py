"""The open file of a store: turns to write, connections to read, and the end of its log."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from secrets import token_bytes
from threading import Lock

from manyclass.service.store.errors import StoreDamaged, StoreError
from manyclass.service.store.sqlite.chain import WRITER_BYTES, chain_of, prove
from manyclass.service.store.sqlite.contents import last_row_of, last_seq_of
from manyclass.service.store.sqlite.file import connect, errors_of_store, make_folder, reading
from manyclass.service.store.sqlite.lock import FileLock
from manyclass.service.store.sqlite.mark import Mark, MarkFile
from manyclass.service.store.sqlite.opening import open_file, refuse_missing


class StoreFile:
    """A database file that no other process can open meanwhile, and the mark beside it.

    Threads: `writing` gives one thread at a time a connection to write with; `reading` opens
    another connection each time, which waits for no writer.

    After a failed write the connection is given up. The next turn opens a new one, and takes back
    the row the failed append may have left: its caller got an error. It takes back nothing else. (A
    power cut before that turn can leave an event without an answer. None is ever lost.)
    """

    def __init__(self, path: Path, salvage: bool) -> None:
        """Raise StoreError when the file cannot be used, StoreDamaged when it is incomplete."""
        self.path = Path(os.path.realpath(path))  # as SQLite has it, which names its log by it
        self._writer = token_bytes(WRITER_BYTES)
        self._closed = False
        self._next = Lock()
        self._writing = Lock()
        self._connection: sqlite3.Connection | None = None
        self._lock: FileLock | None = None
        self._mark: MarkFile | None = None
        self._attempt: tuple[int, bytes] | None = None  # the append that may have left its row
        try:
            with errors_of_store(self.path):
                self._open(salvage)
        except BaseException:
            self.close()
            raise

    def _open(self, salvage: bool) -> None:
        make_folder(self.path.parent)
        refuse_missing(self.path)
        self._lock = FileLock(self.path)
        opened = open_file(self.path, self._lock, salvage)
        self._connection = opened.connection
        self.tail = opened.tail  # replaced as a whole: a reader may look at it at any time
        self.found = opened.found or opened.tail
        # Events behind the mark found are not yet checked; the first append moves the mark.
        self._mark = MarkFile(self.path, self.found)
        if not opened.facts.marked:
            replace(opened.facts, marked=True).write(self._connection)
            # Into the file itself: by a hard link it is opened without its write-ahead log.
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def append(self, count: int, body: bytes) -> int:
        """Append a row of `count` events; return the number of the last."""
        with self.writing() as connection:
            tail = self.tail
            first_seq, last_seq = tail.seq + 1, tail.seq + count
            proof = prove(tail.chain, self._writer, first_seq, last_seq, body)
            self._attempt = (last_seq, proof)
            # One statement, which is the whole transaction: the GIL is released once for all the
            # waiting. Taking it back from a busy event loop costs more than the disk does.
            connection.execute(
                "INSERT INTO events (last_seq, first_seq, checksum, body) VALUES (?, ?, ?, ?)",
                (last_seq, first_seq, proof, body),
            )
            self._end_at(last_seq, chain_of(proof))
            self._attempt = None
        return last_seq

    def raise_end(self, seq: int) -> None:
        """Note in a turn to write that the numbers up to `seq` are in use."""
        self._end_at(max(seq, self.tail.seq), self.tail.chain)

    def _end_at(self, seq: int, chain: bytes) -> None:
        """Note the end of the log, which is durable, for this process and for the next start."""
        tail = Mark(self.tail.identity, seq, chain)
        if self._mark is not None:
            self._mark.write(tail)
        self.tail = tail

    def sync_mark(self) -> None:
        """Return when the disk has the mark."""
        if self._mark is not None:
            with errors_of_store(self.path):
                self._mark.sync()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Take a turn to write, and yield the connection to write with."""
        # With one lock alone, a thread that saves a snapshot releases it and takes it again at
        # once, and an append would rarely get it. Two locks make the append second in line.
        with self._next:
            self._writing.acquire()
        try:
            if self._closed:
                raise StoreError(f"{self.path} is closed")
            with errors_of_store(self.path):
                if self._connection is None:
                    self._connection = self._reconnected()
                yield self._connection
        except BaseException:
            self._disconnect()
            raise
        finally:
            self._writing.release()

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Return a new connection that sees the file as it is now."""
        if self._closed or self._lock is None:
            raise StoreError(f"{self.path} is closed")
        self._lock.check()
        return reading(self.path)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _reconnected(self) -> sqlite3.Connection:
        """Return a connection after a failed write, to the file with the known end of the log."""
        if self._lock is not None:
            self._lock.check()
        connection = connect(self.path)
        try:
            if self._attempt is not None:
                connection.execute(
                    "DELETE FROM events WHERE last_seq = ? AND checksum = ?", self._attempt
                )
            last_seq = last_seq_of(connection, self.tail.identity)
            if last_seq < self.tail.seq:
                raise StoreDamaged(
                    f"{self.path} ends at event {last_seq}; {self.tail.seq} was acknowledged",
                    "somebody replaced the file or removed its write-ahead log; restart",
                )
            row_seq, proof = last_row_of(connection)
            if row_seq > self.tail.seq or (row_seq and chain_of(proof) != self.tail.chain):
                raise StoreDamaged(
                    f"{self.path} ends with event {row_seq} as another process wrote it",
                    "stop whatever else writes to the file, and restart",
                )
        except BaseException:
            connection.close()
            raise
        # The mark may name the attempt; only a saved snapshot can have moved the end.
        if self._attempt is not None or last_seq > self.tail.seq:
            self._end_at(last_seq, self.tail.chain)
            self._attempt = None
        return connection

    def close(self) -> None:
        """Close the file, and let other processes open it."""
        with self._next:
            self._writing.acquire()
        try:
            self._closed = True
            self._disconnect()
            with errors_of_store(self.path):
                if self._mark is not None:
                    self._mark.close()
        finally:
            self._mark = None
            if self._lock is not None:  # last: see FileLock
                self._lock.close()
                self._lock = None
            self._writing.release()

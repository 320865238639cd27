"""Reads the log in a SQLite file, each row checked against the one before."""

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from manyclass.service.store.batch import split_batch
from manyclass.service.store.errors import LogDamaged, LogTrimmed, StoreDamaged
from manyclass.service.store.sqlite.chain import ChainCheck
from manyclass.service.store.sqlite.contents import low_watermark_of
from manyclass.service.store.sqlite.mark import Mark

# One row a query: a cursor would read a row ahead, and damage there take away the one before it.
_NEXT_BATCH = """SELECT first_seq, last_seq, checksum, body FROM events
    WHERE last_seq >= ? ORDER BY last_seq LIMIT 1"""


class ReadableFile(Protocol):
    """The file of a store, to be read by connections of their own."""

    @property
    def tail(self) -> Mark:
        """The end of the log."""

    @property
    def found(self) -> Mark:
        """The end of the log when the file was opened."""

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Return a new connection that sees the file as it is now."""


def read_log(file: ReadableFile, after: int) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of each event after `after`. LogTrimmed, LogDamaged."""
    expected = after + 1
    tail = file.tail
    check = ChainCheck(after, (file.found, tail))
    try:
        with file.reading() as connection:
            if expected <= tail.seq:
                _check_trimmed(connection, expected)
            while expected <= tail.seq and (
                row := connection.execute(_NEXT_BATCH, (expected,)).fetchone()
            ):
                first_seq, last_seq, proof, body = row
                reason = check.reason_against(first_seq, last_seq, proof, body)
                if reason is not None:
                    raise LogDamaged(expected, reason)
                inside_first_row = first_seq < expected == after + 1
                if first_seq != expected and not inside_first_row:
                    raise LogDamaged(expected, f"the next event in the log is {first_seq}")
                events = split_batch(body, last_seq - first_seq + 1)
                for event in events[expected - first_seq :]:
                    yield expected, event
                    expected += 1
    except (StoreDamaged, ValueError) as error:
        raise LogDamaged(expected, str(error)) from error
    if expected <= tail.seq:
        raise LogDamaged(expected, f"it is not in the log, which once reached {tail.seq}")


def _check_trimmed(connection: sqlite3.Connection, seq: int) -> None:
    """Raise LogTrimmed if the log begins behind this event, up to which numbers are used up."""
    oldest = connection.execute("SELECT first_seq FROM events ORDER BY last_seq LIMIT 1").fetchone()
    begins_behind = oldest is None or (isinstance(oldest[0], int) and oldest[0] > seq)
    if begins_behind and seq <= (floor := low_watermark_of(connection)):
        raise LogTrimmed(seq, floor)

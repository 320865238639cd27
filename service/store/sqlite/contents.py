"""The rows of the small tables of a SQLite store, each with its checksum."""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import astuple, dataclass
from secrets import token_bytes
from struct import pack

from manyclass.service.store.batch import checksum_of
from manyclass.service.store.errors import SnapshotDamaged, SnapshotMissing, StoreDamaged
from manyclass.service.store.sqlite.file import RESTORE_HINT

IDENTITY_BYTES = 16
_MANIFESTS = "SELECT seq, id, taken_at, bytes, chunks, digest, checksum FROM snapshots"


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """The identity of a store: the row of `store`, in its order, without the checksum."""

    identity: bytes  # random; of this store and no other
    marked: bool  # True once a mark was made: then a missing one is a loss

    @classmethod
    def new(cls) -> "StoreFacts":
        return cls(token_bytes(IDENTITY_BYTES), False)

    @classmethod
    def read(cls, connection: sqlite3.Connection) -> "StoreFacts":
        """Return the row. Raises StoreDamaged if its checksum does not match."""
        row = connection.execute("SELECT identity, marked, checksum FROM store")
        *fields, checksum = row.fetchone() or (None,)
        if checksum is None or _checksum(*fields) != checksum:
            raise StoreDamaged("the identity of the store is damaged", RESTORE_HINT)
        identity, marked = fields
        return cls(identity, bool(marked))

    def write(self, connection: sqlite3.Connection) -> "StoreFacts":
        fields = (self.identity, int(self.marked))
        connection.execute(
            "INSERT OR REPLACE INTO store (id, identity, marked, checksum) VALUES (1, ?, ?, ?)",
            (*fields, _checksum(*fields)),
        )
        return self


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts of a snapshot: the row of `snapshots`, in its order, without the checksum."""

    seq: int
    identity: int  # of its chunks
    taken_at: float
    size: int
    chunks: int
    digest: bytes  # of the chunks' checksums

    def stamp(self, store: bytes) -> bytes:
        """Return the stamp: the identity of the store, and a checksum of all fields."""
        # Of the text: in a damaged row the values may be of any type.
        return store + _checksum(*astuple(self), store)

    def check(self, stamp: object, store: bytes) -> None:
        """Raise SnapshotDamaged unless the stamp fits, and is of this store."""
        if stamp == self.stamp(store):
            return
        if isinstance(stamp, bytes) and stamp == self.stamp(stamp[:IDENTITY_BYTES]):
            raise SnapshotDamaged(self.seq, "manifest", "it belongs to another store")
        raise SnapshotDamaged(self.seq, "manifest", "its checksum does not match")


def find_manifest(connection: sqlite3.Connection, seq: int) -> tuple[Manifest, object]:
    """Return a manifest and its stamp, both as they are stored. SnapshotMissing."""
    known = -(2**63) <= seq < 2**63  # the range of integers in SQLite
    row = known and connection.execute(f"{_MANIFESTS} WHERE seq = ?", (seq,)).fetchone()
    if not row:
        raise SnapshotMissing(seq)
    *fields, stamp = row
    return Manifest(*fields), stamp


def _manifests(connection: sqlite3.Connection) -> Iterator[tuple[Manifest, object]]:
    for *fields, stamp in connection.execute(_MANIFESTS):
        yield Manifest(*fields), stamp


def stamp_manifests(connection: sqlite3.Connection, before: bytes, store: bytes) -> None:
    """Make the whole manifests of the store `before` those of `store`; damaged ones stay so."""
    for manifest, stamp in list(_manifests(connection)):
        if stamp == manifest.stamp(before):
            connection.execute(
                "UPDATE snapshots SET checksum = ? WHERE seq = ?",
                (manifest.stamp(store), manifest.seq),
            )


def last_seq_of(connection: sqlite3.Connection, store: bytes) -> int:
    """Return the highest number in use. A manifest that is damaged or of another store does not
    count: its number may be anything.
    """
    highest = max(last_row_of(connection)[0], low_watermark_of(connection))
    for manifest, stamp in _manifests(connection):
        with suppress(SnapshotDamaged):
            manifest.check(stamp, store)
            highest = max(highest, manifest.seq)
    return highest


def last_row_of(connection: sqlite3.Connection) -> tuple[int, object]:
    """Return the number and the proof of the last append in the log; 0 when there is none."""
    row = connection.execute(
        "SELECT last_seq, checksum FROM events ORDER BY last_seq DESC LIMIT 1"
    ).fetchone()
    return (row[0], row[1]) if row else (0, None)


def low_watermark_of(connection: sqlite3.Connection) -> int:
    """Return the number up to which the log was trimmed. StoreDamaged."""
    row = connection.execute("SELECT seq, checksum FROM floor").fetchone()
    if row is None:
        return 0
    seq, checksum = row
    if isinstance(seq, int) and checksum_of(pack("<q", seq)) == checksum:
        return seq
    raise StoreDamaged("the number up to which the log was trimmed is damaged", RESTORE_HINT)


def raise_low_watermark(connection: sqlite3.Connection, seq: int) -> None:
    """Note that no number up to `seq` may be used again."""
    seq = max(seq, low_watermark_of(connection))
    connection.execute(
        "INSERT OR REPLACE INTO floor (id, seq, checksum) VALUES (1, ?, ?)",
        (seq, checksum_of(pack("<q", seq))),
    )


def _checksum(*fields: object) -> bytes:
    return checksum_of(repr(fields).encode())

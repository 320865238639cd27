"""Opens the file of a SQLite store, after checking that it is complete.

A file is refused before any change to it: it is first read by a connection that cannot write,
because closing another one would empty the write-ahead log, and with it the evidence.
"""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from manyclass.service.store.errors import StoreDamaged, StoreError
from manyclass.service.store.sqlite.chain import chain_of
from manyclass.service.store.sqlite.contents import (
    StoreFacts,
    last_row_of,
    last_seq_of,
    low_watermark_of,
    stamp_manifests,
)
from manyclass.service.store.sqlite.file import (
    APPLICATION_ID,
    RESTORE_HINT,
    TABLES,
    VERSION,
    connect,
    other_version,
    read_header,
    sync_folder,
)
from manyclass.service.store.sqlite.lock import FileLock
from manyclass.service.store.sqlite.mark import Mark, accept_hint, mark_path, read_mark, shell_url


@dataclass(frozen=True, slots=True)
class Opened:
    """The file of a complete store."""

    connection: sqlite3.Connection
    facts: StoreFacts
    tail: Mark  # the end of the log as it is
    found: Mark | None  # the mark that was beside the file; the log may be longer by one append


def open_file(path: Path, lock: FileLock, salvage: bool = False) -> Opened:
    """Open the store's file; make a store of an empty one.

    StoreError, StoreDamaged: the file is as it was. `salvage` also opens a file whose pages are
    missing or do not fit together.
    """
    mark = read_mark(path)
    has_log = read_header(path, lock.descriptor, salvage)
    if has_log is not None:
        with closing(connect(path, "ro" if has_log else "rw")) as reader:
            if not salvage:
                _check_pages(path, reader)
            _check(path, reader, mark)
    elif mark is not None:
        raise _lost(path, "is empty", mark)
    connection = connect(path)
    try:
        facts = _made(connection)
        # After the tables: a file that has them then always has our id in its header.
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != b"wal":
            raise StoreError(
                f"{path} cannot have a write-ahead log", "put it on a disk of this machine"
            )
        return Opened(connection, facts, tail_of(connection, facts, mark), mark)
    except BaseException:
        connection.close()
        raise


def refuse_missing(path: Path) -> None:
    """Raise StoreDamaged when there is no file at `path`, but the mark of one."""
    if not path.exists() and mark_path(path).exists():
        raise StoreDamaged(
            f"{path} is missing, but {mark_path(path).name} is there, which belongs to it",
            f"put the file back; or, to begin anew, remove {mark_path(path)}",
        )


@dataclass(frozen=True, slots=True)
class Accepted:
    """The ends of a file and of its mark when the mark was given up."""

    last_seq: int
    marked_seq: int | None  # None: the mark was missing, or could not be read


def accept_file(path: Path, lock: FileLock) -> Accepted:
    """Forget the mark: the next start goes on with what the file holds, as another store."""
    try:
        mark = read_mark(path)
    except StoreDamaged:
        mark = None
    last_seq = 0
    if read_header(path, lock.descriptor, salvage=True) is not None:
        with closing(connect(path)) as connection:
            if checked_version(path, connection) == VERSION:
                facts = StoreFacts.read(connection)
                last_seq = last_seq_of(connection, facts.identity)
                # Another identity: the numbers behind the last event are given again, and nothing
                # of the store that went on with them may be taken for a part of this one.
                other = StoreFacts.new()
                connection.execute("BEGIN IMMEDIATE")
                stamp_manifests(connection, facts.identity, other.identity)
                other.write(connection)
                connection.execute("COMMIT")
    mark_path(path).unlink(missing_ok=True)
    sync_folder(path.parent)
    return Accepted(last_seq, None if mark is None else mark.seq)


def _check_pages(path: Path, reader: sqlite3.Connection) -> None:
    """Raise StoreDamaged when pages of the file do not fit together.

    Checksums find damage to what is stored. Damage to the tables themselves, or to the list of free
    pages, would do no harm until a later write overwrites what is in use.
    """
    ((found,),) = reader.execute("PRAGMA integrity_check(1)").fetchall()
    if found != b"ok":
        raise StoreDamaged(
            f"{path}: its pages do not fit together: {found.decode(errors='replace')}",
            f"{RESTORE_HINT}, or copy what is whole to a new store:"
            f" `manyclass copy {shell_url(path)} sqlite:NEW`",
        )


def _check(path: Path, reader: sqlite3.Connection, mark: Mark | None) -> None:
    """Raise StoreError if the file cannot be used with this mark."""
    if checked_version(path, reader) == 0:
        if mark is not None:
            raise _lost(path, "is empty", mark)
        return
    low_watermark_of(reader)
    facts = StoreFacts.read(reader)
    if mark is None:
        if facts.marked:
            raise StoreDamaged(
                f"{mark_path(path)} is missing, so nothing tells whether {path} is whole",
                accept_hint(
                    path, "put the file back, or use the name or link the store was made by"
                ),
            )
        return
    if mark.identity != facts.identity:
        raise _lost(path, "is another store", mark)
    last_seq = last_seq_of(reader, facts.identity)
    if last_seq < mark.seq:
        raise _lost(path, f"ends at event {last_seq}", mark)


def _lost(path: Path, what: str, mark: Mark) -> StoreDamaged:
    return StoreDamaged(
        f"{path} {what}, but {mark_path(path).name} says that event {mark.seq} was acknowledged:"
        " the end of the file or of its write-ahead log is missing, or an older file was put in its"
        " place",
        accept_hint(path, "put the newest files back, the store with its -wal and .mark"),
    )


def checked_version(path: Path, connection: sqlite3.Connection) -> int:
    """Return the version of the file, 0 without tables. Raises StoreError for another one."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    expected = {0: (), VERSION: TABLES}
    if version not in expected:
        raise other_version(path, version)
    schema = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
    if [sql for (sql,) in schema] != [table.encode() for table in expected[version]]:
        raise StoreDamaged(f"{path}: its tables are not as they were made", RESTORE_HINT)
    return int(version)


def _made(connection: sqlite3.Connection) -> StoreFacts:
    """Make the tables, unless they are there; return the facts of the store."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return StoreFacts.read(connection)
    connection.execute("BEGIN IMMEDIATE")
    for table in TABLES:
        connection.execute(table)
    facts = StoreFacts.new().write(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")
    return facts


def tail_of(connection: sqlite3.Connection, facts: StoreFacts, mark: Mark | None) -> Mark:
    """Return the end of the log: of the file alone without a mark."""
    last_seq = last_seq_of(connection, facts.identity)
    row_seq, proof = last_row_of(connection)
    if mark is not None and row_seq <= mark.seq:
        chain = mark.chain  # right also if the row is lost
    else:
        chain = chain_of(proof) if row_seq else facts.identity
    return Mark(facts.identity, last_seq, chain)

"""The file of the SQLite store: whose it is, what is in it, how it is opened, what its errors mean.

    events     one row per append     last_seq | first_seq | checksum | body, see batch.py
    snapshots  one row, the manifest, per snapshot that can be seen
                                      seq | id | taken_at | bytes | chunks | digest | checksum
    chunks     of snapshots, and of what is being saved or deleted: no manifest has that id
                                      snapshot (the id) | number | checksum | body
    floor      one row                seq: no number up to it will be given again | checksum

Short columns come before the body, so reading them does not walk the pages of a long one.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from struct import unpack_from
from typing import IO, Literal

from manyclass.service.store.protocol import (
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreInUse,
    StoreUnavailable,
)

APPLICATION_ID = 0x6D636C73  # "mcls", in the header of every file that is ours
VERSION = 1

TABLES = (
    """CREATE TABLE events (
        last_seq INTEGER PRIMARY KEY, first_seq INTEGER NOT NULL,
        checksum BLOB NOT NULL, body BLOB NOT NULL)""",
    """CREATE TABLE snapshots (
        seq INTEGER PRIMARY KEY, id INTEGER NOT NULL, taken_at REAL NOT NULL,
        bytes INTEGER NOT NULL, chunks INTEGER NOT NULL,
        digest BLOB NOT NULL, checksum BLOB NOT NULL)""",
    """CREATE TABLE chunks (
        snapshot INTEGER NOT NULL, number INTEGER NOT NULL,
        checksum BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (snapshot, number))""",
    "CREATE TABLE floor (id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, checksum BLOB NOT NULL)",
)

# What holds for each connection.
#
# The write-ahead log stays small: a commit that leaves 1000 pages (4 MiB) in it or more is followed
# by a checkpoint, and the next one starts at its beginning again. So it holds at most that and
# one transaction, the largest being a batch, a chunk of a snapshot, or what one step of a trim
# touches. Only while somebody reads (recovery, restore) can it not start again; then it grows by
# what is written meanwhile, and is cut back to journal_size_limit afterwards.
SETTINGS = (
    "synchronous = FULL",  # in WAL mode: a commit returns when the disk has it
    "wal_autocheckpoint = 1000",
    f"journal_size_limit = {64 * 2**20}",
    "secure_delete = OFF",  # some builds turn it on: trimming would write every page it frees
    "cell_size_check = ON",
    "trusted_schema = OFF",
)
RESTORE_HINT = "put a backup of the file in its place"
BUSY_SECONDS = 5.0  # only another program, such as a backup, can hold the file


def lock(path: Path) -> IO[bytes]:
    """The lock of a store as an open file; closing it, or the end of the process, releases it."""
    file = path.with_name(path.name + ".lock").open("ab")
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except OSError as error:
        file.close()
        if not isinstance(error, BlockingIOError):
            raise
        raise StoreInUse(
            f"{path} is in use by another process",
            "stop the other service, or give this one a MANYCLASS_STORE of its own",
        ) from error
    return file


def make_folder(folder: Path) -> None:
    """The folder is there, and still is after a power cut."""
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in made:
        parent = os.open(each.parent, os.O_RDONLY)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)


def open_file(path: Path) -> sqlite3.Connection:
    """A connection to the store's file, which is made if there is none.

    A file that is not ours is refused before SQLite opens it, which might already change it.
    """
    _refuse_foreign(path)
    connection = connect(path, "rwc")
    try:
        if _version(connection) == 0:
            connection.execute("BEGIN IMMEDIATE")
            for table in TABLES:
                connection.execute(table)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        if _version(connection) != VERSION:
            raise _other_version(path, _version(connection))
        schema = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        if [sql for (sql,) in schema] != [table.encode() for table in TABLES]:
            raise StoreDamaged(f"{path}: its tables are not as they were made", RESTORE_HINT)
        # After the tables: a file that has them then always has our id in its header.
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != b"wal":
            raise StoreError(
                f"{path} cannot have a write-ahead log", "put it on a disk of this machine"
            )
    except BaseException:
        connection.close()
        raise
    return connection


def connect(path: Path, mode: Literal["rw", "rwc"] = "rw") -> sqlite3.Connection:
    """A connection that any thread may use, one at a time; every statement commits by itself.

    A file that is not there is an error, but in mode "rwc".
    """
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = bytes  # there is no text but by damage, which need not be UTF-8
    try:
        for setting in SETTINGS:
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that sees the file as it is now, whatever is written while it is open."""
    with errors_of_store(path), closing(connect(path)) as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        yield connection


@contextmanager
def errors_of_store(path: Path) -> Iterator[None]:
    """Turns what SQLite and the file system raise into what a store raises."""
    try:
        yield
    except sqlite3.Error as error:
        raise _store_error(path, error) from error
    except UnicodeDecodeError as error:  # in a message of SQLite that quotes what it has read
        raise StoreDamaged(f"{path}: {error}", RESTORE_HINT) from error
    except OSError as error:
        raise StoreError(
            f"{path}: {error}", "MANYCLASS_STORE must name a file this user can read and write"
        ) from error


def _store_error(path: Path, error: sqlite3.Error) -> StoreError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    message = f"{path}: {error} ({name})"
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return StoreFull(message, "make room on the disk; the service then goes on by itself")
        case sqlite3.SQLITE_IOERR:
            return StoreUnavailable(message, "see whether the disk is full or failing")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreUnavailable(message, "another program holds the file; let it finish")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return StoreUnavailable(
                message, "the file and its folder must be there and writable for this user"
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreDamaged(message, RESTORE_HINT)
        case _:
            return StoreError(message)


def _refuse_foreign(path: Path) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        return
    if not header:
        return
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
        raise StoreDamaged(
            f"{path} is not a SQLite file",
            "if it was a store, put a backup in its place; else name another file in"
            " MANYCLASS_STORE",
        )
    version, _, application_id = unpack_from(">III", header, 60)
    if application_id != APPLICATION_ID:
        raise StoreError(
            f"{path} belongs to another application",
            "name another file in MANYCLASS_STORE; it is untouched",
        )
    if version != VERSION:
        raise _other_version(path, version)


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _other_version(path: Path, version: int) -> StoreError:
    return StoreError(
        f"{path} has version {version} and this service reads version {VERSION}",
        "use the release of manyclass that wrote it",
    )

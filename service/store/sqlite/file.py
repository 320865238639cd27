"""The file of the SQLite store: its tables, its connections and its errors.

    events     one row per append     last_seq | first_seq | checksum | body
                                      see batch.py, and chain.py for the checksum
    snapshots  one row, the manifest, per visible snapshot
                                      seq | id | taken_at | bytes | chunks | digest | checksum
                                      the checksum begins with the identity of the store
    chunks     of snapshots, also of unfinished and deleted ones, whose id no manifest has
                                      snapshot (the id) | number | checksum | body
    floor      one row                seq: no number up to it is used again | checksum
    store      one row                identity | marked | checksum
    segments   one row per segment of the history
                                      last_seq | first_seq | amendments | checksum | body

Short columns come before the body, so reading them does not walk the pages of a long one.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from struct import Struct, unpack_from
from typing import Literal

from manyclass.service.store.errors import StoreDamaged, StoreError, StoreFull, StoreUnavailable

APPLICATION_ID = 0x6D636C73  # "mcls", in the header of every file that is ours
VERSION = 1  # of the tables and of their rows

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
    """CREATE TABLE store (
        id INTEGER PRIMARY KEY, identity BLOB NOT NULL, marked INTEGER NOT NULL,
        checksum BLOB NOT NULL)""",
    """CREATE TABLE segments (
        last_seq INTEGER PRIMARY KEY, first_seq INTEGER NOT NULL, amendments INTEGER NOT NULL,
        checksum BLOB NOT NULL, body BLOB NOT NULL)""",
)

# The settings of each connection.
#
# The write-ahead log stays small: a commit that leaves 1000 pages (4 MiB) in it or more is followed
# by a checkpoint, and the next one starts at its beginning again. So it holds at most that and
# one transaction, the largest being a batch, a chunk of a snapshot, or what one step of a trim
# touches. During a read (recovery, restore) it cannot start again; then it grows by the writes, and
# is cut back to journal_size_limit afterwards.
SETTINGS = (
    "synchronous = FULL",  # in WAL mode: a commit returns when the disk has it
    "wal_autocheckpoint = 1000",
    f"journal_size_limit = {64 * 2**20}",
    "secure_delete = OFF",  # some builds turn it on: trimming would write every page it frees
    "cell_size_check = ON",
    "trusted_schema = OFF",
)
_HEADER_BYTES = 100
_LOG_HEADER_BYTES = 32
_FRAME = Struct(">II8s8s")  # of the write-ahead log: page, pages of a commit, salts, checksum
RESTORE_HINT = "put a backup of the file in its place"
FULL_HINT = "make room on the disk; the service then continues by itself"
BUSY_SECONDS = 5.0  # only another program, such as a backup, can hold the file


def make_folder(folder: Path) -> None:
    """Make a folder that survives a power cut."""
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in made:
        sync_folder(each.parent)


def sync_folder(folder: Path) -> None:
    """Return when the disk has the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def connect(path: Path, mode: Literal["ro", "rw"] = "rw") -> sqlite3.Connection:
    """Return a connection that any thread may use, one at a time; each statement is a transaction.

    A missing file is an error.
    """
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = bytes  # only damage makes text, which may not be UTF-8
    try:
        for setting in SETTINGS:
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def reading(path: Path, mode: Literal["ro", "rw"] = "rw") -> Iterator[sqlite3.Connection]:
    """Yield a connection to the file as it is now; later writes are not visible in it."""
    with errors_of_store(path), closing(connect(path, mode)) as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        yield connection


@contextmanager
def errors_of_store(path: Path) -> Iterator[None]:
    """Map errors of SQLite and the file system to errors of the store."""
    try:
        yield
    except sqlite3.Error as error:
        raise _store_error(path, error) from error
    except UnicodeDecodeError as error:  # in a message of SQLite that quotes what it has read
        raise StoreDamaged(f"{path}: {error}", RESTORE_HINT) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StoreFull(f"{path}: {error}", FULL_HINT) from error
        raise StoreError(
            f"{path}: {error}", "MANYCLASS_STORE must name a file this user can read and write"
        ) from error


def _store_error(path: Path, error: sqlite3.Error) -> StoreError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    message = f"{path}: {error} ({name})"
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return StoreFull(message, FULL_HINT)
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


def read_header(path: Path, descriptor: int, salvage: bool = False) -> bool | None:
    """Return whether a file has a write-ahead log, None for an empty file.

    Only while a store is made it has none yet. Read the header before SQLite does, which may change
    it. StoreError for a file that is not ours, StoreDamaged for one whose end is missing, but with
    `salvage`. SQLite takes what is missing of the last page for zeros.
    """
    size = os.fstat(descriptor).st_size
    if size == 0:
        return None
    unfinished = is_unfinished(path)
    header = os.pread(descriptor, _HEADER_BYTES, 0)
    if unfinished and not header.strip(b"\0"):
        return None  # its first page never came to the disk
    if len(header) < _HEADER_BYTES or not header.startswith(b"SQLite format 3\0"):
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
        raise other_version(path, version)
    (page_bytes,) = unpack_from(">H", header, 16)
    (pages,) = unpack_from(">I", header, 28)
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    if page_bytes and size < pages * page_bytes and not salvage and not unfinished:
        # A checkpoint that was stopped may leave such a file; the log still has those pages then.
        missing = set(range(size // page_bytes + 1, pages + 1))
        if not missing <= _pages_in_log(path, page_bytes):
            raise StoreDamaged(
                f"{path} has {size} bytes, but its header says {pages * page_bytes}: its end is"
                " missing",
                RESTORE_HINT,
            )
    return header[18] == 2 and not unfinished


def is_unfinished(path: Path) -> bool:
    """Return whether the process that made the file was killed before it was a store.

    Only a file that is not in WAL mode yet has a rollback journal, and a store is in WAL mode
    before it takes an event. SQLite takes back what is half written when it opens the file.
    """
    journal = path.with_name(path.name + "-journal")
    return journal.exists() and journal.stat().st_size > 0


def _pages_in_log(path: Path, page_bytes: int) -> set[int]:
    """Return the pages in the write-ahead log, by its frames since its last restart."""
    pages: set[int] = set()
    try:
        with path.with_name(path.name + "-wal").open("rb") as log:
            salts = log.read(_LOG_HEADER_BYTES)[16:24]
            while len(frame := log.read(_FRAME.size)) == _FRAME.size:
                page, _, frame_salts, _ = _FRAME.unpack(frame)
                if frame_salts != salts:
                    break
                pages.add(page)
                log.seek(page_bytes, os.SEEK_CUR)
    except FileNotFoundError:
        pass
    return pages


def other_version(path: Path, version: int) -> StoreError:
    return StoreError(
        f"{path} has version {version} and this service reads version {VERSION}",
        "use the release of manyclass that wrote it",
    )

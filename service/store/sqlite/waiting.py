"""The waiting instances beside a SQLite store, in a file of their own.

They are not part of the log: a full or damaged file of them stops neither ranking nor learning.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from manyclass.service.store.errors import StoreError
from manyclass.service.store.sqlite.file import errors_of_store
from manyclass.service.store.waiting import TRIAL_BYTES, Item, MemoryLeases, parts

SUFFIX = ".waiting"
MOST_IDS = 500  # in a statement
TRIAL = ""  # no instance has this id
_TABLE = "CREATE TABLE items (id TEXT PRIMARY KEY, head BLOB, body BLOB)"
# A rollback journal, not a write-ahead log, and no free pages: removed instances leave nothing.
_NO_FREE_PAGES = "auto_vacuum = FULL"  # to be set before there is a table
_SETTINGS = (
    "journal_mode = DELETE",
    "synchronous = FULL",
    "secure_delete = ON",
    "trusted_schema = OFF",
)


class SqliteWaiting(MemoryLeases):
    """The rows of the file `path`, which the first write makes."""

    is_shared = False
    is_durable = True

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self._path = path
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._closed = False

    def heads(self) -> dict[str, bytes]:
        if not self._path.exists():
            return {}
        with self._connected() as connection:
            return dict(connection.execute("SELECT id, head FROM items"))

    def items(self, ids: Collection[str]) -> dict[str, Item]:
        if not ids or not self._path.exists():
            return {}
        found: dict[str, Item] = {}
        with self._connected() as connection:
            for some in parts(list(ids), MOST_IDS):
                marks = ", ".join("?" * len(some))
                rows = connection.execute(
                    f"SELECT id, head, body FROM items WHERE id IN ({marks})", some
                )
                found |= {name: Item(head, body) for name, head, body in rows}
        return found

    def put(self, items: Mapping[str, Item]) -> None:
        rows = [(each, item.head, item.body) for each, item in items.items()]
        self._write("INSERT OR REPLACE INTO items (id, head, body) VALUES (?, ?, ?)", rows)

    def check_put(self) -> None:
        with self._connected() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "INSERT OR REPLACE INTO items (id, head, body) VALUES (?, x'', zeroblob(?))",
                (TRIAL, TRIAL_BYTES),
            )
            connection.execute("DELETE FROM items WHERE id = ?", (TRIAL,))

    def remove(self, ids: Collection[str]) -> None:
        self.end_leases(ids)
        if self._path.exists():
            self._write("DELETE FROM items WHERE id = ?", [(each,) for each in ids])

    def clear(self) -> bool:
        with self._lock, errors_of_store(self._path):
            had = self._path.exists()
            self._disconnect()
            for path in (self._path, self._path.with_name(f"{self._path.name}-journal")):
                path.unlink(missing_ok=True)
        return had

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._disconnect()

    def _write(self, statement: str, rows: Sequence[tuple[str | bytes, ...]]) -> None:
        if not rows:
            return
        with self._connected() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(statement, rows)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, one thread at a time; it is made anew after an error."""
        with self._lock:
            if self._closed:
                raise StoreError(f"{self._path} is closed")
            try:
                with errors_of_store(self._path):
                    if self._connection is None:
                        self._connection = self._opened()
                    yield self._connection
            except BaseException:
                self._disconnect()
                raise

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        try:
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
            # A full disk can still be read, so a file that has its table is not written to.
            if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
                connection.execute(f"PRAGMA {_NO_FREE_PAGES}")
                connection.execute(_TABLE)
        except BaseException:
            connection.close()
            raise
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

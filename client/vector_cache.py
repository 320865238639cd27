"""Vectors of texts that were embedded before, in a file of SQLite."""

import sqlite3
from array import array
from collections.abc import Iterable, Mapping, Sequence

from manyclass.client.errors import Unusable

_MOST_PARAMETERS = 500  # of a query
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"


class VectorCache:
    """A file with the vector of each text by its key; several processes may use it."""

    def __init__(self, file: str) -> None:
        """Open the file, or make it. Raises Unusable if it cannot be one."""
        self._file = file
        try:
            self._connection = sqlite3.connect(file, timeout=60, isolation_level=None)
            self._connection.execute(_TABLE)
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def found(self, keys: Sequence[bytes]) -> Mapping[bytes, "array[float]"]:
        """Return the vectors of the keys that have one."""
        found: dict[bytes, array[float]] = {}
        for first in range(0, len(keys), _MOST_PARAMETERS):
            some = keys[first : first + _MOST_PARAMETERS]
            query = f"SELECT key, vector FROM vectors WHERE key IN ({','.join('?' * len(some))})"
            try:
                rows = self._connection.execute(query, some).fetchall()
            except sqlite3.Error as error:
                raise self._unusable(error) from error
            found |= {key: array("f", vector) for key, vector in rows}
        return found

    def keep(self, vectors: Iterable[tuple[bytes, "array[float]"]]) -> None:
        """Add vectors to the file."""
        rows = [(key, vector.tobytes()) for key, vector in vectors]
        try:
            self._connection.execute("BEGIN")
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _unusable(self, error: sqlite3.Error) -> Unusable:
        return Unusable(f"{self._file} cannot keep vectors: {error}")

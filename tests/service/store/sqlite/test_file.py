"""Connections to the file of a store."""

import sqlite3

import pytest

from manyclass.service.store.errors import StoreError
from manyclass.service.store.sqlite.file import connect, reading


def test_a_connection_for_reading_sees_the_file_as_it_was_and_changes_nothing(tmp_path):
    path = tmp_path / "store.db"
    path.touch()
    writer = connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE t (n)")
    with reading(path) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)
        writer.execute("INSERT INTO t VALUES (1)")
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)
        with pytest.raises((StoreError, sqlite3.Error), match="readonly"):
            connection.execute("INSERT INTO t VALUES (2)")
    writer.close()

"""Reads, changes and opens the files of a SQLite store."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from manyclass.service.store.errors import LogDamaged, LogTrimmed, StoreDamaged
from manyclass.service.store.sqlite.store import SqliteStore

FILES = ("", "-wal", ".mark")  # of a store, by their ends


def change(path, statement, *values):
    """Change the file of a closed store by SQL."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert connection.execute(statement, values).rowcount == 1


def ask(path, query):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchone()[0]


def read_until_damage(store, after=0):
    events = []
    try:
        events.extend(store.read(after))
    except (LogDamaged, LogTrimmed) as error:
        return events, error.seq
    return events, None


def clock():
    return 1.0


def opening(path):
    return closing(SqliteStore(path, clock))


def refused(path):
    """Return the error on opening the store; assert that its files are unchanged."""
    before = {end: Path(f"{path}{end}").read_bytes() for end in files_of(path)}
    with pytest.raises(StoreDamaged) as error:
        SqliteStore(path, clock)
    assert error.value.hint
    assert {end: Path(f"{path}{end}").read_bytes() for end in before} == before
    return f"{error.value}; {error.value.hint}"


def files_of(path):
    return [end for end in FILES if Path(f"{path}{end}").exists()]

"""One process owns a SQLite store; others are refused under every name of the file."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from load_tests import interleavings
from manyclass.service.store.errors import StoreDamaged, StoreError, StoreInUse
from manyclass.service.store.sqlite.store import SqliteStore

OPEN = """
import sys
from pathlib import Path
from manyclass.service.store.sqlite.store import SqliteStore
SqliteStore(Path(sys.argv[1]), float)
"""


@pytest.fixture
def store(tmp_path):
    with closing(SqliteStore(tmp_path / "store.db", float)) as made:
        made.append([b"1"])
        yield made


@pytest.fixture
def names(store, tmp_path):
    """Return other names of an open store's file."""
    file = tmp_path / "store.db"
    (tmp_path / "link.db").symlink_to(file)
    os.link(file, tmp_path / "hard.db")
    (tmp_path / "folder").symlink_to(tmp_path)
    return [tmp_path / name for name in ("store.db", "link.db", "hard.db", "folder/store.db")]


def opened_elsewhere(path):
    """Open the store in another process; return its standard error."""
    child = subprocess.run([sys.executable, "-c", OPEN, path], capture_output=True, text=True)
    return child.stderr


def test_no_other_name_and_no_removed_lock_lets_a_second_process_in(store, names):
    for name in names:
        name.with_name(name.name + ".lock").unlink(missing_ok=True)
        assert "StoreInUse" in opened_elsewhere(name), name
    assert store.append([b"2"]) == 2


def locks_of_sqlite(path):
    """Return the number of POSIX locks that this process has on a file."""
    inode = path.stat().st_ino
    fields = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return sum(
        each[1] == "POSIX" and each[4] == str(os.getpid()) and each[5].endswith(f":{inode}")
        for each in fields
    )


def test_a_second_store_in_the_process_is_refused_and_does_not_drop_the_locks(store, names):
    file = names[0]
    assert locks_of_sqlite(file) == 1
    for name in names:
        name.with_name(name.name + ".lock").unlink(missing_ok=True)
        with pytest.raises(StoreInUse, match="in use") as error:
            SqliteStore(name, float)
        assert error.value.hint
    list(store.read(0))
    store.snapshots()
    assert locks_of_sqlite(file) == 1


def test_rows_of_another_process_are_never_deleted(store, tmp_path):
    """The other process ignores the lock; its rows stay all the same."""
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
        other.execute("INSERT INTO events VALUES (2, 2, x'00', x'00')")
        with pytest.raises(StoreError):
            store.append([b"2"])
        for _ in range(2):
            with pytest.raises(StoreDamaged, match="another process") as error:
                store.append([b"2"])
        assert error.value.hint
        assert other.execute("SELECT count(*) FROM events").fetchone() == (2,)


def test_a_file_that_is_replaced_is_not_written_to(store, tmp_path):
    file = tmp_path / "store.db"
    with closing(SqliteStore(tmp_path / "other.db", float)):
        pass
    (tmp_path / "other.db").replace(file)
    with pytest.raises(StoreDamaged, match="was replaced") as error:
        store.snapshots()
    assert error.value.hint
    store._file._disconnect()
    with pytest.raises(StoreDamaged, match="was replaced"):
        store.append([b"2"])


def test_the_name_of_a_link_may_be_used_one_after_the_other(store, names):
    store.close()
    for number, name in enumerate([*names[:2], names[3]], 2):
        with closing(SqliteStore(name, float)) as again:
            assert again.append([b"x"]) == number


def test_a_hard_link_has_no_mark_and_is_refused(store, names):
    store.close()
    with pytest.raises(StoreDamaged, match="is missing") as error:
        SqliteStore(names[2], float)
    assert "name or link the store was made by" in error.value.hint


def test_two_processes_lose_nothing(tmp_path):
    """Run some of the interleavings of load_tests/interleavings.py."""
    happened, broken = interleavings.run(tmp_path, seed=2, count=4)
    assert broken == []
    assert happened["acknowledged events"] > 10
    assert any("StoreInUse" in what for what in happened)

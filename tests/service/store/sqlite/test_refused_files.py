"""Files that are no SQLite store of this release are refused as they are."""

import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from manyclass.service.store.errors import StoreDamaged, StoreError, StoreUnavailable
from manyclass.service.store.sqlite.file import VERSION
from manyclass.service.store.sqlite.store import SqliteStore
from tests.service.store.sqlite.changing import clock, opening


def test_a_file_that_is_not_a_database_is_refused_untouched(opened, path):
    path.write_bytes(b"Dear diary, " * 1000)
    with pytest.raises(StoreDamaged, match="not a SQLite file") as error:
        opened()
    assert error.value.hint
    assert path.read_bytes() == b"Dear diary, " * 1000


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_database_of_another_application_is_refused_untouched(opened, path, mode):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("CREATE TABLE events (last_seq)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another application") as error:
        opened()
    assert error.value.hint
    assert path.read_bytes() == before
    assert not path.with_name(path.name + "-wal").exists()


@pytest.mark.parametrize("checkpointed", [True, False])
def test_a_newer_version_is_refused(opened, path, checkpointed):
    opened().close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        if checkpointed:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:  # a copy made now has the new version only in the write-ahead log
            copy = path.with_name("copy.db")
            for end in ("", "-wal"):
                shutil.copy(f"{path}{end}", f"{copy}{end}")
            path = copy
        before = path.read_bytes()
        with pytest.raises(StoreError, match=f"has version {VERSION + 1}") as error:
            SqliteStore(path, float)
        assert "release" in error.value.hint
        assert path.read_bytes() == before or not checkpointed


def test_a_folder_instead_of_a_file_is_an_error_with_a_hint(opened, path):
    path.mkdir()
    with pytest.raises(StoreError, match="directory") as error:
        opened()
    assert "STORE" in error.value.hint


def test_a_file_in_the_way_of_the_folder_is_an_error_with_a_hint(path):
    path.write_bytes(b"")
    with pytest.raises(StoreError, match="File exists") as error:
        SqliteStore(path / "store.db", float)
    assert "STORE" in error.value.hint


def test_an_empty_file_becomes_a_store(opened, path):
    path.write_bytes(b"")
    assert opened().append([b"1"]) == 1


def test_a_file_that_vanishes_is_an_error_and_not_a_new_store(store, path):
    store.append([b"1"])
    path.unlink()
    with pytest.raises(StoreUnavailable):
        store.snapshots()
    assert not path.exists()


MAKE_AND_DIE = """
import resource, signal, sys
from pathlib import Path
from manyclass.service.store.sqlite.store import SqliteStore
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
SqliteStore(Path(sys.argv[1]), lambda: 1.0)
"""


@pytest.mark.parametrize("written", [1, 2, 3, 5])
def test_a_store_that_was_killed_while_it_was_made_is_begun_anew(path, written):
    """After so many pages of the first commit. No event was acknowledged before its end."""
    command = [sys.executable, "-c", MAKE_AND_DIE, str(path), str(written * 4096)]
    assert subprocess.run(command).returncode == -signal.SIGXFSZ
    assert path.with_name(path.name + "-journal").exists()
    with opening(path) as store:
        assert store.append([b"1"]) == 1
    with opening(path) as store:
        assert list(store.read(0)) == [(1, b"1")]


def test_a_file_of_another_application_is_not_taken_for_a_half_made_store(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a)")
    path.with_name(path.name + "-journal").write_bytes(b"a journal")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another application"):
        SqliteStore(path, clock)
    assert path.read_bytes() == before

"""An incomplete SQLite store is refused: a torn end, an older file, another store's file."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from load_tests import damage
from manyclass.cli.main import app
from manyclass.core.event import Event, Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.log.recovery import Recovery, recover
from manyclass.service.store import open_store
from manyclass.service.store.batch import batch_checksum, join_batch
from manyclass.service.store.errors import (
    LogDamaged,
    SnapshotDamaged,
    StoreDamaged,
    StoreError,
    StoreInUse,
)
from manyclass.service.store.sqlite.file import APPLICATION_ID, FIRST_TABLES
from manyclass.service.store.sqlite.mark import SLOT_BYTES, mark_path, read_mark
from manyclass.service.store.sqlite.store import SqliteStore, accept_store

FILES = ("", "-wal", ".mark")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


def clock():
    return 1.0


def opened(path):
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


def copy(path, target):
    """Copy the files of an open store, like a backup of a killed process's files."""
    for end in FILES:
        Path(f"{target}{end}").unlink(missing_ok=True)
    for end in files_of(path):
        # By another process: this one must not close a descriptor of a file in use.
        os.spawnlp(os.P_WAIT, "cp", "cp", f"{path}{end}", f"{target}{end}")
    return target


def left_by_a_kill(path, appends=4):
    """Return the path of a copy made of an open store after this number of appends."""
    with opened(path) as store:
        for number in range(appends):
            store.append([b"event %d" % number])
        return copy(path, path.with_name("killed.db"))


# --- the end of the database or of its write-ahead log --------------------------------------------


@pytest.mark.parametrize("cut", [1, 100, 511, 512, 4095, 4096, 4097, 8175])
def test_a_database_whose_end_is_cut_off_is_refused(path, cut):
    with opened(path) as store:
        for _ in range(200):
            store.append([b"event" * 20] * 5)
    os.truncate(path, path.stat().st_size - cut)
    assert "its end is missing" in refused(path)


def test_a_write_ahead_log_cut_anywhere_is_refused(path):
    killed = left_by_a_kill(path)
    log = Path(f"{killed}-wal")
    whole = log.read_bytes()
    for cut in (1, 24, 4096, 4120, 3 * 4120, len(whole)):
        copied = copy(killed, path.with_name("cut.db"))
        Path(f"{copied}-wal").write_bytes(whole[: len(whole) - cut])
        message = refused(copied)
        assert "event 4 was acknowledged" in message
        assert "store accept" in message
    with opened(killed) as store:
        assert [seq for seq, _ in store.read(0)] == [1, 2, 3, 4]


def test_a_missing_write_ahead_log_is_refused(path):
    killed = left_by_a_kill(path)
    Path(f"{killed}-wal").unlink()
    assert "event 4 was acknowledged" in refused(killed)


def test_a_file_alone_without_its_log_and_mark_is_refused(path):
    killed = left_by_a_kill(path)
    for end in ("-wal", ".mark"):
        Path(f"{killed}{end}").unlink()
    assert "is missing" in refused(killed)


def test_an_append_behind_the_mark_is_kept(path):
    """A process may be killed when an append is durable and its mark is not yet written."""
    with opened(path) as store:
        store.append([b"1"])
        before = mark_path(path).read_bytes()
        store.append([b"2"])
        killed = copy(path, path.with_name("killed.db"))
    mark_path(killed).write_bytes(before)
    for _ in range(2):
        with opened(killed) as store:
            assert list(store.read(0)) == [(1, b"1"), (2, b"2")]
            assert list(store.read(1)) == [(2, b"2")]
    with opened(killed) as store:
        assert store.append([b"3"]) == 3
    assert read_mark(killed).seq == 3


def test_what_does_not_follow_the_mark_is_found_at_every_start(path):
    with opened(path) as store:
        store.append([b"1"])
    other = path.with_name("other.db")
    with opened(other) as store:
        store.append([b"other"])
        store.append([b"2"])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS other", (str(other),))
        connection.execute("INSERT INTO events SELECT * FROM other.events WHERE last_seq = 2")
    for _ in range(2):
        with opened(path) as store, pytest.raises(LogDamaged, match="does not follow") as error:
            list(store.read(1))
        assert error.value.seq == 2


@pytest.mark.parametrize("after", [0, 1])
def test_rows_of_another_store_are_found(path, after):
    for each in (path, path.with_name("other.db")):
        with opened(each) as store:
            for number in range(3):
                store.append([b"%d of %s" % (number, each.name.encode())])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS other", (str(path.with_name("other.db")),))
        connection.execute("DELETE FROM events WHERE last_seq > 1")
        connection.execute("INSERT INTO events SELECT * FROM other.events WHERE last_seq > 1")
    with opened(path) as store, pytest.raises(LogDamaged):
        list(store.read(after))


# --- the mark -------------------------------------------------------------------------------------


def test_the_mark_is_at_every_append_and_at_a_snapshot_behind_the_log(path):
    with opened(path) as store:
        assert read_mark(path).seq == 0
        for seq in (1, 2, 3):
            store.append([b"x"])
            assert read_mark(path).seq == seq
        store.save_snapshot(9, [b"x"])
        assert read_mark(path).seq == 9
    os.truncate(path, 0)
    assert "event 9 was acknowledged" in refused(path)


@pytest.mark.parametrize("slot", [0, 1])
def test_one_of_the_two_marks_is_enough(path, slot):
    with opened(path) as store:
        store.append([b"1"])
        store.append([b"2"])
    content = bytearray(mark_path(path).read_bytes())
    content[slot * SLOT_BYTES + 30] ^= 1
    mark_path(path).write_bytes(content)
    with opened(path) as store:
        assert store.append([b"3"]) == 3
    with opened(path) as store:  # both are complete again
        assert list(store.read(2)) == [(3, b"3")]


@pytest.mark.parametrize("content", [b"", b"x" * 100, bytes(2 * SLOT_BYTES)])
def test_a_damaged_mark_is_refused(path, content):
    with opened(path) as store:
        store.append([b"1"])
    mark_path(path).write_bytes(content)
    assert "store accept" in refused(path)


def test_a_missing_mark_is_refused(path):
    with opened(path) as store:
        store.append([b"1"])
    mark_path(path).unlink()
    message = refused(path)
    assert "is missing" in message
    assert "store accept" in message


def test_a_missing_database_whose_mark_is_there_is_not_made_anew(path):
    with opened(path) as store:
        store.append([b"1"])
    path.unlink()
    assert f"remove {mark_path(path)}" in refused(path)
    assert not path.exists()
    with pytest.raises(StoreDamaged, match="is missing"):
        open_store(f"sqlite:{path}", clock, make_new=False)
    mark_path(path).unlink()
    with opened(path) as store:
        assert store.last_seq == 0


def test_a_start_that_was_stopped_before_the_mark_was_made_begins_again(path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("manyclass.service.store.sqlite.store_file.MarkFile", None)
        with pytest.raises(TypeError):
            SqliteStore(path, clock)
    assert not mark_path(path).exists()
    with opened(path) as store:
        assert store.append([b"1"]) == 1
    mark_path(path).unlink()
    refused(path)


# --- backups --------------------------------------------------------------------------------------


def backup(path, target):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM INTO ?", (str(target),))


@pytest.fixture
def backed_up(path):
    """Return a store of five events, and its backup with two events and a snapshot."""
    older = path.with_name("backup.db")
    with opened(path) as store:
        store.append([b"1"])
        store.append([b"2"])
        store.save_snapshot(2, [b"state"])
    backup(path, older)
    with opened(path) as store:
        store.append([b"3", b"4", b"5"])
    return older


def test_an_older_file_is_refused_until_it_is_accepted(path, backed_up):
    shutil.copy(backed_up, path)
    assert "event 5 was acknowledged" in refused(path)
    accepted = accept_store(path)
    assert (accepted.last_seq, accepted.marked_seq) == (2, 5)
    with opened(path) as store:
        assert list(store.read(0)) == [(1, b"1"), (2, b"2")]
        assert b"".join(store.open_snapshot(2)) == b"state"
        assert store.append([b"another"]) == 3
    with opened(path) as store:
        assert dict(store.read(0))[3] == b"another"


def test_a_backup_without_its_mark_is_refused_until_it_is_accepted(backed_up):
    assert "is missing" in refused(backed_up)
    assert accept_store(backed_up).marked_seq is None
    with opened(backed_up) as store:
        assert store.last_seq == 2


def test_what_was_accepted_is_another_store(path, backed_up):
    accept_store(backed_up)
    with opened(backed_up) as store:
        store.append([b"3"] * 4)
    for end in ("", ".mark"):
        shutil.copy(f"{path}{end}", path.with_name(f"kept{end}"))
    shutil.copy(backed_up, path)
    assert "is another store" in refused(path)


def test_a_store_in_use_is_not_accepted(path):
    with opened(path), pytest.raises(StoreInUse):
        accept_store(path)


def test_what_is_whole_of_broken_pages_is_copied(path, tmp_path):
    with opened(path) as store:
        store.save_snapshot(0, Model(Options()).dump())
        model = recover(store, Options(), clock, Recovery())
        damage.learn(store, model, Random(1), 20)
        store.save_snapshot(20, [*model.dump(), b"x" * 50_000])
        damage.learn(store, model, Random(2), 20)
    content = path.read_bytes()
    page = content.index(b"x" * 4092) // 4096  # begins with the number of the next event
    path.write_bytes(content[: page * 4096] + b"\xff" * 4 + content[page * 4096 + 4 :])
    assert "manyclass copy" in refused(path)
    copied = CliRunner().invoke(app, ["copy", f"sqlite:{path}", f"sqlite:{tmp_path}/new.db"])
    assert copied.exit_code == 0, copied.output
    assert "left out: snapshot 20" in copied.stderr
    with opened(tmp_path / "new.db") as store:
        assert recover(store, Options(), clock, Recovery()).digest() == model.digest()


# --- snapshots of another store -------------------------------------------------------------------


def take_over(path, other):
    """Replace all snapshots by those of another store."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS other", (str(other),))
        for table in ("snapshots", "chunks"):
            connection.execute(f"DELETE FROM {table}")
            connection.execute(f"INSERT INTO {table} SELECT * FROM other.{table}")


def test_a_snapshot_of_another_store_is_not_loaded(path):
    other = path.with_name("other.db")
    for each in (path, other):
        with opened(each) as store:
            store.append([b"1"])
            store.save_snapshot(1, [each.name.encode()])
    take_over(path, other)
    with opened(path) as store:
        assert [info.seq for info in store.snapshots()] == [1]
        with pytest.raises(SnapshotDamaged, match="another store"):
            store.open_snapshot(1)
        assert store.save_snapshot(1, [b"mine"], keep_existing=True).bytes == 4
        assert b"".join(store.open_snapshot(1)) == b"mine"


# --- stores of older releases ---------------------------------------------------------------------


def old_checksum(*fields):
    return blake2b(repr(fields).encode(), digest_size=16).digest()


def make_old_store(path, events, snapshot_seq, state):
    """Write a store in the format of version 1: no identity, no chain, no mark."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for table in FIRST_TABLES:
            connection.execute(table)
        for seq, event in enumerate(events, 1):
            body = join_batch([event])
            row = (seq, seq, batch_checksum(seq, seq, body), body)
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
        chunk = blake2b(state, digest_size=16).digest()
        connection.execute("INSERT INTO chunks VALUES (1, 0, ?, ?)", (chunk, state))
        digest = blake2b(chunk, digest_size=16).digest()
        manifest = (snapshot_seq, 1, 1.0, len(state), 1, digest)
        connection.execute(
            "INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*manifest, old_checksum(*manifest)),
        )
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")


def test_a_store_of_an_older_release_is_adopted_once(path):
    lessons = [bytes(Event.learn(Instance([f"f{n}"]), [f"c{n}"], f"{n}", n)) for n in range(6)]
    model = Model(Options())
    for seq in range(1, 6):
        model.apply(seq, Event.from_bytes(lessons[seq - 1]))
    make_old_store(path, lessons[:5], 5, b"".join(model.dump()))
    model.apply(6, Event.from_bytes(lessons[5]))
    with opened(path) as store:
        assert store.append([lessons[5]]) == 6
    with opened(path) as store:
        recovery = Recovery()
        assert recover(store, Options(), clock, recovery).digest() == model.digest()
        assert recovery.snapshot.seq == 5
        assert [event for _, event in store.read(0)] == lessons
        assert store.is_older_than_rules
    mark_path(path).unlink()
    refused(path)


def test_a_store_whose_older_release_was_killed_is_refused_as_it_is(path):
    """The last events need the rules of that release, which can still read the unchanged file."""
    make_old_store(path, [b"1", b"2", b"3"], 2, b"state")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="events 3 to 3 were learned by an older release"):
        SqliteStore(path, clock)
    assert path.read_bytes() == before
    assert not mark_path(path).exists()


def test_an_old_store_in_the_place_of_a_newer_one_is_refused(path):
    with opened(path) as store:
        store.append([b"1"])
    path.unlink()
    make_old_store(path, [b"1"], 1, b"state")
    assert "event 1 was acknowledged" in refused(path)
    accept_store(path)
    with opened(path) as store:
        assert list(store.read(0)) == [(1, b"1")]


def test_a_row_without_a_chain_is_no_row_of_a_store_that_has_one(path):
    with opened(path) as store:
        store.append([b"1"])
        store.append([b"2"])
    body = join_batch([b"another"])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(
            "UPDATE events SET checksum = ?, body = ? WHERE last_seq = 1",
            (batch_checksum(1, 1, body), body),
        )
    with opened(path) as store, pytest.raises(LogDamaged) as error:
        list(store.read(0))
    assert error.value.seq == 1


# --- at random ------------------------------------------------------------------------------------


def test_no_damage_brings_back_a_wrong_state(tmp_path):
    """Run a hundred of the damages of load_tests/damage.py."""
    outcomes = [each.outcome for each in damage.run(tmp_path, seed=2, count=100)]
    assert [each for each in outcomes if each.is_wrong] == []
    assert {each.verdict for each in outcomes} == {"equal", "refused"}


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
    with opened(path) as store:
        assert store.append([b"1"]) == 1
    with opened(path) as store:
        assert list(store.read(0)) == [(1, b"1")]


def test_a_file_of_another_application_is_not_taken_for_a_half_made_store(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a)")
    path.with_name(path.name + "-journal").write_bytes(b"a journal")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another application"):
        SqliteStore(path, clock)
    assert path.read_bytes() == before

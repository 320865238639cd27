"""An incomplete SQLite store is refused: a torn end, an older file, another store's file."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from load_tests import damage
from manyclass.cli.main import app
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.store import open_store
from manyclass.service.store.batch import batch_checksum, join_batch
from manyclass.service.store.errors import LogDamaged, SnapshotDamaged, StoreDamaged, StoreInUse
from manyclass.service.store.sqlite.mark import SLOT_BYTES, mark_path, read_mark
from manyclass.service.store.sqlite.store import SqliteStore, accept_store
from tests.service.engines import recovered
from tests.service.store.sqlite.changing import FILES, clock, files_of, opening, refused


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
    with opening(path) as store:
        for number in range(appends):
            store.append([b"event %d" % number])
        return copy(path, path.with_name("killed.db"))


# --- the end of the database or of its write-ahead log --------------------------------------------


@pytest.mark.parametrize("cut", [1, 100, 511, 512, 4095, 4096, 4097, 8175])
def test_a_database_whose_end_is_cut_off_is_refused(path, cut):
    with opening(path) as store:
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
    with opening(killed) as store:
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
    with opening(path) as store:
        store.append([b"1"])
        before = mark_path(path).read_bytes()
        store.append([b"2"])
        killed = copy(path, path.with_name("killed.db"))
    mark_path(killed).write_bytes(before)
    for _ in range(2):
        with opening(killed) as store:
            assert list(store.read(0)) == [(1, b"1"), (2, b"2")]
            assert list(store.read(1)) == [(2, b"2")]
    with opening(killed) as store:
        assert store.append([b"3"]) == 3
    assert read_mark(killed).seq == 3


def test_a_row_that_does_not_follow_the_mark_is_found_at_every_start(path):
    with opening(path) as store:
        store.append([b"1"])
    other = path.with_name("other.db")
    with opening(other) as store:
        store.append([b"other"])
        store.append([b"2"])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS other", (str(other),))
        connection.execute("INSERT INTO events SELECT * FROM other.events WHERE last_seq = 2")
    for _ in range(2):
        with opening(path) as store, pytest.raises(LogDamaged, match="does not follow") as error:
            list(store.read(1))
        assert error.value.seq == 2


@pytest.mark.parametrize("after", [0, 1])
def test_rows_of_another_store_are_found(path, after):
    for each in (path, path.with_name("other.db")):
        with opening(each) as store:
            for number in range(3):
                store.append([b"%d of %s" % (number, each.name.encode())])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS other", (str(path.with_name("other.db")),))
        connection.execute("DELETE FROM events WHERE last_seq > 1")
        connection.execute("INSERT INTO events SELECT * FROM other.events WHERE last_seq > 1")
    with opening(path) as store, pytest.raises(LogDamaged):
        list(store.read(after))


# --- the mark -------------------------------------------------------------------------------------


def test_the_mark_is_at_every_append_and_at_a_snapshot_behind_the_log(path):
    with opening(path) as store:
        assert read_mark(path).seq == 0
        for seq in (1, 2, 3):
            store.append([b"x"])
            assert read_mark(path).seq == seq
        store.save_snapshot(9, [b"x"])
        assert read_mark(path).seq == 9
    os.truncate(path, 0)
    assert "event 9 was acknowledged" in refused(path)


@pytest.mark.parametrize("slot", [0, 1])
def test_a_single_intact_mark_is_enough(path, slot):
    with opening(path) as store:
        store.append([b"1"])
        store.append([b"2"])
    content = bytearray(mark_path(path).read_bytes())
    content[slot * SLOT_BYTES + 30] ^= 1
    mark_path(path).write_bytes(content)
    with opening(path) as store:
        assert store.append([b"3"]) == 3
    with opening(path) as store:  # both are complete again
        assert list(store.read(2)) == [(3, b"3")]


@pytest.mark.parametrize("content", [b"", b"x" * 100, bytes(2 * SLOT_BYTES)])
def test_a_damaged_mark_is_refused(path, content):
    with opening(path) as store:
        store.append([b"1"])
    mark_path(path).write_bytes(content)
    assert "store accept" in refused(path)


def test_a_missing_mark_is_refused(path):
    with opening(path) as store:
        store.append([b"1"])
    mark_path(path).unlink()
    message = refused(path)
    assert "is missing" in message
    assert "store accept" in message


def test_a_missing_database_whose_mark_is_there_is_not_made_anew(path):
    with opening(path) as store:
        store.append([b"1"])
    path.unlink()
    assert f"remove {mark_path(path)}" in refused(path)
    assert not path.exists()
    with pytest.raises(StoreDamaged, match="is missing"):
        open_store(f"sqlite:{path}", clock, make_new=False)
    mark_path(path).unlink()
    with opening(path) as store:
        assert store.last_seq == 0


def test_a_start_that_was_stopped_before_the_mark_was_made_begins_again(path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("manyclass.service.store.sqlite.store_file.MarkFile", None)
        with pytest.raises(TypeError):
            SqliteStore(path, clock)
    assert not mark_path(path).exists()
    with opening(path) as store:
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
    with opening(path) as store:
        store.append([b"1"])
        store.append([b"2"])
        store.save_snapshot(2, [b"state"])
    backup(path, older)
    with opening(path) as store:
        store.append([b"3", b"4", b"5"])
    return older


def test_an_older_file_is_refused_until_it_is_accepted(path, backed_up):
    shutil.copy(backed_up, path)
    assert "event 5 was acknowledged" in refused(path)
    accepted = accept_store(path)
    assert (accepted.last_seq, accepted.marked_seq) == (2, 5)
    with opening(path) as store:
        assert list(store.read(0)) == [(1, b"1"), (2, b"2")]
        assert b"".join(store.open_snapshot(2)) == b"state"
        assert store.append([b"another"]) == 3
    with opening(path) as store:
        assert dict(store.read(0))[3] == b"another"


def test_a_backup_without_its_mark_is_refused_until_it_is_accepted(backed_up):
    assert "is missing" in refused(backed_up)
    assert accept_store(backed_up).marked_seq is None
    with opening(backed_up) as store:
        assert store.last_seq == 2


def test_an_accepted_file_is_another_store(path, backed_up):
    accept_store(backed_up)
    with opening(backed_up) as store:
        store.append([b"3"] * 4)
    for end in ("", ".mark"):
        shutil.copy(f"{path}{end}", path.with_name(f"kept{end}"))
    shutil.copy(backed_up, path)
    assert "is another store" in refused(path)


def test_a_store_in_use_is_not_accepted(path):
    with opening(path), pytest.raises(StoreInUse):
        accept_store(path)


def test_intact_parts_of_broken_pages_are_copied(path, tmp_path):
    with opening(path) as store:
        store.save_snapshot(0, Model(Options()).dump())
        model = recovered(store)
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
    with opening(tmp_path / "new.db") as store:
        assert recovered(store).digest() == model.digest()


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
        with opening(each) as store:
            store.append([b"1"])
            store.save_snapshot(1, [each.name.encode()])
    take_over(path, other)
    with opening(path) as store:
        assert [info.seq for info in store.snapshots()] == [1]
        with pytest.raises(SnapshotDamaged, match="another store"):
            store.open_snapshot(1)
        assert store.save_snapshot(1, [b"mine"], keep_existing=True).bytes == 4
        assert b"".join(store.open_snapshot(1)) == b"mine"


# --- rows -----------------------------------------------------------------------------------------


def test_a_row_without_a_chain_is_no_row_of_a_store(path):
    with opening(path) as store:
        store.append([b"1"])
        store.append([b"2"])
    body = join_batch([b"another"])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(
            "UPDATE events SET checksum = ?, body = ? WHERE last_seq = 1",
            (batch_checksum(1, 1, body), body),
        )
    with opening(path) as store, pytest.raises(LogDamaged) as error:
        list(store.read(0))
    assert error.value.seq == 1


# --- at random ------------------------------------------------------------------------------------


def test_no_damage_brings_back_a_wrong_state(tmp_path):
    """Run some of the damages of load_tests/damage.py."""
    outcomes = [each.outcome for each in damage.run(tmp_path, seed=2, count=30)]
    assert [each for each in outcomes if each.is_wrong] == []
    assert {each.verdict for each in outcomes} == {"equal", "refused"}

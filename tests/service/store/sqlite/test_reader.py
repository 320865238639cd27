"""A reader sees the log and the snapshots of a store, and leaves its files as they are."""

import shutil
from pathlib import Path

import pytest

from manyclass.service.store.errors import (
    LogDamaged,
    LogTrimmed,
    SnapshotDamaged,
    SnapshotMissing,
    StoreDamaged,
    StoreError,
    StoreMissing,
)
from manyclass.service.store.sqlite.reader import SqliteReader
from tests.service.store.sqlite.changing import change

EVENTS = [b"1", b"2", b"3"]


def contents(folder):
    """Return the bytes of each file of a store, but for the index of its write-ahead log."""
    files = (path for path in folder.iterdir() if not path.name.endswith("-shm"))
    return {path.name: path.read_bytes() for path in files}


def test_the_store_of_a_running_service_is_read_and_left_as_it_is(store, path):
    store.append(EVENTS[:2])
    store.append(EVENTS[2:])
    store.save_snapshot(2, [b"state"])
    before = contents(path.parent)
    reader = SqliteReader(path)
    assert (reader.first_seq, reader.last_seq) == (1, 3)
    assert list(reader.read(0)) == [(1, b"1"), (2, b"2"), (3, b"3")]
    assert list(reader.read(1)) == [(2, b"2"), (3, b"3")]
    assert [each.seq for each in reader.snapshots()] == [2]
    assert b"".join(reader.open_snapshot(2)) == b"state"
    with pytest.raises(SnapshotMissing):
        reader.open_snapshot(3)
    assert contents(path.parent) == before


def test_the_service_writes_while_an_iterator_is_in_use(store, path):
    store.append(EVENTS)
    reader = SqliteReader(path)
    read = reader.read(0)
    assert next(read) == (1, b"1")
    store.append([b"4"])
    store.save_snapshot(4, [b"state"])
    store.trim(3)
    assert list(read) == [(2, b"2"), (3, b"3")]  # up to the end when it was opened
    later = SqliteReader(path)
    assert (later.first_seq, later.last_seq) == (4, 4)
    assert list(later.read(3)) == [(4, b"4")]
    with pytest.raises(LogTrimmed):
        list(later.read(0))


def test_the_files_that_a_killed_service_left_are_read_and_open_as_before(store, path, tmp_path):
    store.append(EVENTS)
    copy = tmp_path / "copy"
    copy.mkdir()
    for end in ("", "-wal", ".mark"):
        shutil.copy(f"{path}{end}", copy)
    before = contents(copy)
    assert list(SqliteReader(copy / path.name).read(0)) == [(1, b"1"), (2, b"2"), (3, b"3")]
    assert contents(copy) == before
    assert before[f"{path.name}-wal"]  # a checkpoint would have emptied it


def test_a_lost_mark_and_a_lost_end_of_the_log_do_not_matter(store, opened, path):
    store.append(EVENTS)
    store.close()
    Path(f"{path}.mark").unlink()
    with pytest.raises(StoreDamaged):
        opened()
    assert [seq for seq, _ in SqliteReader(path).read(0)] == [1, 2, 3]


def test_an_empty_log_has_no_events(store, path):
    reader = SqliteReader(path)
    assert (reader.first_seq, reader.last_seq) == (1, 0)
    assert list(reader.read(0)) == []


def test_a_damaged_log_is_read_up_to_the_damage(store, path):
    store.append(EVENTS[:2])
    store.append(EVENTS[2:])
    store.close()
    change(path, "UPDATE events SET body = x'00' WHERE last_seq = 3")
    read = SqliteReader(path).read(0)
    assert [next(read), next(read)] == [(1, b"1"), (2, b"2")]
    with pytest.raises(LogDamaged, match="event 3"):
        next(read)


def test_a_damaged_snapshot_is_named(store, path):
    store.append(EVENTS)
    store.save_snapshot(3, [b"state"])
    store.close()
    change(path, "UPDATE chunks SET body = x'00'")
    with pytest.raises(SnapshotDamaged, match="chunk 0"):
        list(SqliteReader(path).open_snapshot(3))


def test_other_files_are_refused_and_none_is_made(path):
    with pytest.raises(StoreMissing):
        SqliteReader(path)
    assert not path.exists()
    path.touch()
    with pytest.raises(StoreError, match="is not a store"):
        SqliteReader(path)
    path.write_text("text, and no database")
    with pytest.raises(StoreDamaged, match="not a database"):
        SqliteReader(path)

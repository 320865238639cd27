"""Damage to rows and pages of a SQLite store is found, and nothing wrong is returned."""

import sqlite3
from contextlib import closing
from random import Random
from threading import Thread

import pytest

from manyclass.service.store.batch import join_batch
from manyclass.service.store.errors import (
    SnapshotDamaged,
    SnapshotMissing,
    StoreDamaged,
    StoreError,
)
from manyclass.service.store.sqlite.chain import chain_of, prove
from manyclass.service.store.sqlite.snapshots import CHUNK_BYTES
from tests.service.store.sqlite.changing import ask, change, read_until_damage

# --- damage to the log ----------------------------------------------------------------------------


def three_batches(opened):
    store = opened()
    store.append([b"1", b"2"])
    store.append([b"3", b"4" * 3000])
    store.append([b"5"])
    store.close()


def damaged_values(value):
    """Yield damaged values: one bit flipped at many places, cut, emptied, of other types."""
    if isinstance(value, float):
        yield from (value + 1e-10, -value, b"\xff", "text")
    elif isinstance(value, bytes):
        for place in range(0, len(value), max(1, len(value) // 10)):
            flipped = bytearray(value)
            flipped[place] ^= 1 << place % 8
            yield bytes(flipped)
        yield from (value[:-1], value[1:], value + b"\0", b"", b"\xff", "text", 7, 1.5)
    else:
        yield from (value ^ 1 << bit for bit in range(0, 62, 3))
        yield from (b"\xff\xfe", 1.5)


@pytest.mark.parametrize("column", ["body", "checksum", "first_seq"])
def test_a_damaged_batch_is_found_and_what_is_before_it_is_read(opened, path, column):
    three_batches(opened)
    whole = ask(path, f"SELECT {column} FROM events WHERE last_seq = 4")
    for damaged in damaged_values(whole):
        change(path, f"UPDATE events SET {column} = ? WHERE last_seq = 4", damaged)
        assert read_until_damage(opened()) == ([(1, b"1"), (2, b"2")], 3)
        assert read_until_damage(opened(), after=3) == ([], 4)
        assert read_until_damage(opened(), after=4) == ([(5, b"5")], None)
        opened().close()
    change(path, f"UPDATE events SET {column} = ? WHERE last_seq = 4", whole)
    assert read_until_damage(opened())[1] is None


@pytest.mark.parametrize("number", [3, 6, 2**40])
def test_a_batch_under_another_number_is_found(opened, path, number):
    three_batches(opened)
    change(path, "UPDATE events SET last_seq = ? WHERE last_seq = 4", number)
    assert read_until_damage(opened()) == ([(1, b"1"), (2, b"2")], 3)


def test_a_missing_batch_is_found(opened, path):
    three_batches(opened)
    change(path, "DELETE FROM events WHERE last_seq = 4")
    assert read_until_damage(opened()) == ([(1, b"1"), (2, b"2")], 3)
    assert read_until_damage(opened(), after=4) == ([(5, b"5")], None)


def test_a_missing_batch_is_damage_although_a_deleted_snapshot_was_newer(opened, path):
    """The number of that snapshot is used up, but the log was not trimmed up to it."""
    three_batches(opened)
    store = opened()
    store.save_snapshot(4, [b"state"])
    store.delete_snapshot(4)
    store.close()
    change(path, "DELETE FROM events WHERE last_seq = 4")
    assert read_until_damage(opened()) == ([(1, b"1"), (2, b"2")], 3)


def insert_batch(path, first_seq, last_seq, body):
    """Insert a row that fits the one before it."""
    before = ask(path, "SELECT checksum FROM events ORDER BY last_seq DESC LIMIT 1")
    proof = prove(chain_of(before), bytes(8), first_seq, last_seq, body)
    change(path, "INSERT INTO events VALUES (?, ?, ?, ?)", last_seq, first_seq, proof, body)


def test_a_batch_that_overlaps_the_one_before_is_found(opened, path):
    three_batches(opened)
    insert_batch(path, 5, 6, join_batch([b"5", b"6"]))
    assert read_until_damage(opened(), after=4) == ([(5, b"5")], 6)
    assert read_until_damage(opened(), after=5) == ([], 6)


@pytest.mark.parametrize(("first_seq", "last_seq"), [(6, 8), (6, 6), (7, 6)])
def test_a_batch_that_holds_another_number_of_events_is_found(opened, path, first_seq, last_seq):
    three_batches(opened)
    insert_batch(path, first_seq, last_seq, join_batch([b"6", b"7"]))
    assert read_until_damage(opened(), after=4) == ([(5, b"5")], 6)


def test_a_missing_end_of_the_log_is_found_when_a_snapshot_knows_of_it(opened, path):
    three_batches(opened)
    opened().save_snapshot(5, [b"x"])
    opened().close()
    change(path, "DELETE FROM events WHERE last_seq = 5")
    assert read_until_damage(opened(), after=2)[1] == 5


@pytest.mark.parametrize("column", ["seq", "checksum"])
def test_a_damaged_floor_is_found(opened, path, column):
    three_batches(opened)
    opened().trim(4)
    opened().close()
    for damaged in damaged_values(ask(path, f"SELECT {column} FROM floor")):
        change(path, f"UPDATE floor SET {column} = ?", damaged)
        with pytest.raises(StoreDamaged, match="trimmed is damaged") as error:
            opened()
        assert error.value.hint


# --- damage to snapshots --------------------------------------------------------------------------


def two_snapshots(opened):
    store = opened()
    store.append([b"event"] * 7)
    store.save_snapshot(5, [b"before"])
    store.save_snapshot(7, [Random(1).randbytes(2 * CHUNK_BYTES + 100)])
    store.close()


def assert_only_the_newest_is_damaged(store, part):
    assert 5 in [info.seq for info in store.snapshots()]
    assert all(isinstance(info.bytes, int) for info in store.snapshots())
    assert all(isinstance(info.taken_at, float) for info in store.snapshots())
    with pytest.raises(SnapshotDamaged) as error:
        b"".join(store.open_snapshot(7))
    assert (error.value.seq, error.value.part) == (7, part)
    assert error.value.hint
    assert b"".join(store.open_snapshot(5)) == b"before"
    assert store.last_seq == 7


@pytest.mark.parametrize("column", ["id", "bytes", "taken_at", "chunks", "digest", "checksum"])
def test_a_damaged_manifest_is_found(opened, path, column):
    two_snapshots(opened)
    for damaged in damaged_values(ask(path, f"SELECT {column} FROM snapshots WHERE seq = 7")):
        change(path, f"UPDATE snapshots SET {column} = ? WHERE seq = 7", damaged)
        assert_only_the_newest_is_damaged(opened(), "manifest")
        opened().close()


def test_a_damaged_manifest_is_not_worth_keeping(opened, path):
    two_snapshots(opened)
    change(path, "UPDATE snapshots SET checksum = ? WHERE seq = 7", b"x")
    info = opened().save_snapshot(7, [b"sound"], keep_existing=True)
    assert opened().snapshots()[0] == info
    assert b"".join(opened().open_snapshot(7)) == b"sound"


def test_a_manifest_under_another_number_is_found_and_gives_no_numbers(opened, path):
    two_snapshots(opened)
    change(path, "UPDATE snapshots SET seq = ? WHERE seq = 7", 2**40)
    store = opened()
    with pytest.raises(SnapshotDamaged):
        store.open_snapshot(2**40)
    with pytest.raises(SnapshotMissing):
        store.open_snapshot(7)
    store.delete_snapshot(2**40)
    assert store.append([b"8"]) == 8
    assert opened().last_seq == 8


@pytest.mark.parametrize("column", ["body", "checksum"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_damaged_chunk_is_found(opened, path, column, number):
    two_snapshots(opened)
    where = f"WHERE snapshot = (SELECT id FROM snapshots WHERE seq = 7) AND number = {number}"
    for damaged in damaged_values(ask(path, f"SELECT {column} FROM chunks {where}")):
        change(path, f"UPDATE chunks SET {column} = ? {where}", damaged)
        assert_only_the_newest_is_damaged(opened(), f"chunk {number}")
        opened().close()


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_missing_chunk_is_found(opened, path, number):
    two_snapshots(opened)
    change(path, "DELETE FROM chunks WHERE length(body) > 6 AND number = ?", number)
    store = opened()
    assert_only_the_newest_is_damaged(store, f"chunk {number}")
    with pytest.raises(SnapshotDamaged, match="it is missing" if number < 2 else "says 3 chunks"):
        b"".join(store.open_snapshot(7))


def test_a_whole_chunk_of_another_snapshot_is_found(opened, path):
    two_snapshots(opened)
    change(
        path,
        "UPDATE chunks SET (checksum, body) ="
        " (SELECT checksum, body FROM chunks WHERE body = x'6265666f7265')"
        " WHERE number = 2",
    )
    assert_only_the_newest_is_damaged(opened(), "manifest")


def test_a_damaged_snapshot_can_be_deleted_and_replaced(opened, path):
    two_snapshots(opened)
    change(path, "UPDATE snapshots SET chunks = 0 WHERE seq = 7")
    store = opened()
    store.save_snapshot(7, [b"new"])
    assert b"".join(store.open_snapshot(7)) == b"new"
    store.close()
    change(path, "UPDATE snapshots SET chunks = 0 WHERE seq = 7")
    store = opened()
    store.delete_snapshot(7)
    assert [info.seq for info in store.snapshots()] == [5]


def test_chunks_that_belong_to_no_snapshot_are_removed_on_opening(opened, path):
    two_snapshots(opened)
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany(
            "INSERT INTO chunks (snapshot, number, checksum, body) VALUES (77, ?, x'00', x'00')",
            [(number,) for number in range(10)],
        )
        connection.commit()
    opened().close()
    assert ask(path, "SELECT count(*) FROM chunks") == 4


# --- damage to the file ---------------------------------------------------------------------------


def small_store(opened):
    store = opened()
    events = [b"event %d" % seq * 20 for seq in range(1, 60)]
    for begin in range(0, 59, 7):
        store.append(events[begin : begin + 7])
    store.trim(7)
    state = Random(2).randbytes(20_000)
    store.save_snapshot(30, [b"older"])
    store.save_snapshot(40, [state])
    store.close()
    return dict(enumerate(events, start=1)), {30: b"older", 40: state}


def assert_nothing_wrong_is_given(opened, events, snapshots):
    """Assert that every readable event and snapshot was written, or a StoreError is raised.

    Return true if the store detected the damage.
    """
    try:
        store = opened()
    except StoreError:
        return True
    found = False
    try:
        for seq, event in store.read(7):
            assert events[seq] == event
        infos = store.snapshots()
    except StoreError:
        return True
    for info in infos:
        try:
            assert b"".join(store.open_snapshot(info.seq)) == snapshots[info.seq]
        except StoreError:
            found = True
    return found


def test_a_bit_flipped_anywhere_in_the_file_never_gives_wrong_bytes(opened, path):
    written = small_store(opened)
    whole = path.read_bytes()
    random = Random(3)
    found = 0
    for _ in range(120):
        place = random.randrange(len(whole))
        flipped = bytearray(whole)
        flipped[place] ^= 1 << random.randrange(8)
        path.write_bytes(flipped)
        found += assert_nothing_wrong_is_given(opened, *written)
    assert found > 40
    path.write_bytes(whole)
    assert not assert_nothing_wrong_is_given(opened, *written)


def test_a_file_cut_anywhere_never_gives_wrong_bytes(opened, path):
    written = small_store(opened)
    whole = path.read_bytes()
    random = Random(4)
    for size in [1, 99, 100, 4095, 4096, *(random.randrange(len(whole)) for _ in range(15))]:
        path.write_bytes(whole[:size])
        assert assert_nothing_wrong_is_given(opened, *written), size


def overwrite(path, place, content):
    with path.open("r+b") as file:
        file.seek(place)
        file.write(content)


def assert_its_pages_do_not_fit(opened):
    with pytest.raises(StoreDamaged, match="pages do not fit") as error:
        opened()
    assert "backup" in error.value.hint


def test_a_page_of_the_log_that_is_not_one_is_damage_to_the_log(store, opened, path):
    store.append([b"1", b"2"])
    store.append([b"3" * 50_000])
    store.close()
    page = path.read_bytes().index(b"3" * 4092) // 4096  # starts with the number of the next event
    overwrite(path, page * 4096, b"\xff" * 4)
    assert_its_pages_do_not_fit(opened)
    assert read_until_damage(opened(salvage=True)) == ([(1, b"1"), (2, b"2")], 3)


def test_a_page_of_a_snapshot_that_is_not_one_is_damage_to_the_snapshot(opened, path):
    two_snapshots(opened)
    opened().save_snapshot(7, [bytes(CHUNK_BYTES), b"x" * 50_000])
    opened().close()
    page = path.read_bytes().index(b"x" * 4092) // 4096
    overwrite(path, page * 4096, b"\xff" * 4)
    assert_its_pages_do_not_fit(opened)
    assert_only_the_newest_is_damaged(opened(salvage=True), "chunk 1")


def test_pages_of_nonsense_are_damage_to_the_store(opened, path):
    small_store(opened)
    overwrite(path, 4096, b"\xff" * 4096 * 4)
    assert_its_pages_do_not_fit(opened)


def test_a_row_that_is_seen_but_cannot_be_deleted_does_not_hold_up_a_trim_for_ever(opened, path):
    small_store(opened)
    # The row of events 29 to 35, where 35 becomes 6: rows are not in order any more.
    place = path.read_bytes().index(b"\x23\x06\x00\x01\x5c")
    overwrite(path, place, b"\x06")
    assert_its_pages_do_not_fit(opened)
    store = opened(salvage=True)
    errors = []

    def trim():
        try:
            store.trim(40)
        except StoreDamaged as error:
            errors.append(error)

    thread = Thread(target=trim, daemon=True)
    thread.start()
    thread.join(timeout=60)
    assert len(errors) == 1
    assert errors[0].hint

"""The contract of every store: the suite runs on each of them."""

from threading import Thread

import pytest

from manyclass.service.store.errors import LogDamaged, LogTrimmed, SnapshotMissing
from manyclass.service.store.protocol import SnapshotInfo

MIB = 2**20


def content(store, seq):
    return b"".join(store.open_snapshot(seq))


def forget(store, seq):
    """Trim the log behind a snapshot, which a store may require."""
    store.save_snapshot(seq, [])
    store.trim(seq)


# --- the log --------------------------------------------------------------------------------------


def test_a_new_store_is_empty(store):
    assert store.last_seq == 0
    assert list(store.read(0)) == []
    assert store.snapshots() == []


def test_the_durability_is_described(store):
    assert len(store.durability.split()) > 5


def test_events_are_numbered_from_one_without_holes(store):
    assert store.append([b"a"]) == 1
    assert store.append([b"b", b"", b"c"]) == 4
    assert store.append([b"d"]) == 5
    assert store.last_seq == 5
    assert list(store.read(0)) == [(1, b"a"), (2, b"b"), (3, b""), (4, b"c"), (5, b"d")]


def test_appending_nothing_changes_nothing(store):
    store.append([b"a"])
    assert store.append([]) == 1
    assert list(store.read(0)) == [(1, b"a")]


@pytest.mark.parametrize("size", [0, 1, MIB])
def test_a_trial_of_an_append_appends_nothing(store, size):
    store.append([b"a"])
    store.check_append(size)
    store.check_append(size)
    assert store.append([b"b"]) == 2
    assert list(store.read(0)) == [(1, b"a"), (2, b"b")]
    assert store.snapshots() == []


@pytest.mark.parametrize("after", range(7))
def test_reading_starts_after_any_number(store, after):
    store.append([b"1", b"2"])
    store.append([b"3"])
    store.append([b"4", b"5"])
    assert [seq for seq, _ in store.read(after)] == list(range(after + 1, 6))


def test_equal_events_are_each_kept(store):
    store.append([b"same", b"same"])
    store.append([b"same"])
    assert [event for _, event in store.read(0)] == [b"same"] * 3


def test_a_large_batch_of_large_events_comes_back(store):
    events = [bytes([number]) * (1000 * number) for number in range(200)]
    store.append(events)
    assert [event for _, event in store.read(0)] == events


def test_an_append_during_a_read_does_not_change_it(store):
    store.append([b"1", b"2"])
    events = store.read(0)
    assert next(events) == (1, b"1")
    store.append([b"3"])
    forget(store, 2)
    assert list(events) == [(2, b"2")]


def test_a_reading_that_is_dropped_halfway_holds_nothing_up(store):
    store.append([b"1", b"2"])
    next(store.read(0))
    assert store.append([b"3"]) == 3


# --- trim -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seq", range(6))
def test_later_events_survive_a_trim(store, seq):
    store.append([b"1", b"2"])
    store.append([b"3", b"4", b"5"])
    forget(store, seq)
    assert [number for number, _ in store.read(seq)] == list(range(seq + 1, 6))
    assert store.last_seq == 5


def test_reading_what_was_trimmed_is_an_error_and_not_a_hole(store):
    for event in (b"1", b"2", b"3"):
        store.append([event])
    forget(store, 2)
    with pytest.raises(LogTrimmed) as error:
        list(store.read(0))
    assert (error.value.seq, error.value.floor) == (1, 2)
    assert error.value.hint == "nothing is damaged: try again"


def test_numbers_go_on_after_everything_was_trimmed(store):
    store.append([b"1", b"2"])
    forget(store, 2)
    assert store.last_seq == 2
    assert list(store.read(2)) == []
    with pytest.raises(LogTrimmed):
        list(store.read(1))
    assert store.append([b"3"]) == 3
    assert list(store.read(2)) == [(3, b"3")]


def test_trimming_beyond_the_end_or_twice_is_fine(store):
    store.append([b"1", b"2"])
    forget(store, 2)
    store.trim(100)
    store.trim(1)
    store.trim(100)
    assert store.append([b"3"]) == 3


# --- snapshots ------------------------------------------------------------------------------------


def test_a_snapshot_comes_back(backend, store):
    store.append([b"1"])
    backend.clock.now = 1234.5
    chunks = [b"some ", b"", memoryview(b"more "), b"x" * 3 * MIB]
    info = store.save_snapshot(1, iter(chunks))
    assert info == SnapshotInfo(seq=1, bytes=10 + 3 * MIB, taken_at=1234.5)
    assert store.snapshots() == [info]
    assert content(store, 1) == b"some more " + b"x" * 3 * MIB


def test_an_empty_snapshot_is_a_snapshot(store):
    assert store.save_snapshot(0, []).bytes == 0
    assert content(store, 0) == b""


def test_a_snapshot_can_be_read_twice_at_a_time(store):
    store.save_snapshot(1, [bytes(MIB), b"end"])
    first, second = store.open_snapshot(1), store.open_snapshot(1)
    assert b"".join(first) == b"".join(second) == bytes(MIB) + b"end"


def test_snapshots_are_listed_newest_first(store):
    store.append([b"event"] * 300)
    for seq in (20, 3, 100, 256):
        store.save_snapshot(seq, [str(seq).encode()])
    assert [info.seq for info in store.snapshots()] == [256, 100, 20, 3]
    assert [content(store, info.seq) for info in store.snapshots()] == [b"256", b"100", b"20", b"3"]


def test_saving_again_replaces(backend, store):
    store.append([b"1"])
    store.save_snapshot(1, [b"old" * MIB])
    backend.clock.now += 10
    info = store.save_snapshot(1, [b"new"])
    assert store.snapshots() == [info]
    assert content(store, 1) == b"new"


def test_saving_again_may_keep_what_is_there(backend, store):
    store.append([b"1"])
    existing = store.save_snapshot(1, [b"old" * MIB], keep_existing=True)
    backend.clock.now += 10
    assert store.save_snapshot(1, [b"another" * MIB], keep_existing=True) == existing
    assert store.snapshots() == [existing]
    assert content(store, 1) == b"old" * MIB
    assert store.save_snapshot(0, [b"zero"], keep_existing=True).bytes == 4
    assert [info.seq for info in store.snapshots()] == [1, 0]


@pytest.mark.parametrize("seq", [0, 2, 2**63 - 1, 2**63, -(2**70)])
def test_a_snapshot_that_is_not_there(store, seq):
    store.save_snapshot(1, [b"x"])
    with pytest.raises(SnapshotMissing) as error:
        store.open_snapshot(seq)  # at once, not on reading
    assert error.value.seq == seq
    with pytest.raises(SnapshotMissing):
        store.delete_snapshot(seq)
    assert content(store, 1) == b"x"


def test_a_deleted_snapshot_is_gone(store):
    for seq in (1, 2):
        store.save_snapshot(seq, [b"x" * 6 * MIB, bytes([seq])])
    store.delete_snapshot(2)
    assert [info.seq for info in store.snapshots()] == [1]
    with pytest.raises(SnapshotMissing):
        store.open_snapshot(2)
    assert content(store, 1)[-1] == 1


def test_a_snapshot_being_read_is_whole_though_it_is_replaced_or_deleted(store):
    store.save_snapshot(1, [b"old" * MIB])
    replaced = store.open_snapshot(1)
    read = next(replaced)
    store.save_snapshot(1, [b"new" * MIB])
    assert read + b"".join(replaced) == b"old" * MIB
    deleted = store.open_snapshot(1)
    store.delete_snapshot(1)
    assert b"".join(deleted) == b"new" * MIB


def test_a_snapshot_is_visible_only_when_whole(store):
    store.save_snapshot(1, [b"old"])

    def chunks():
        for _ in range(3):
            yield bytes(MIB)
            assert [info.bytes for info in store.snapshots()] == [3]
            assert content(store, 1) == b"old"

    store.save_snapshot(1, chunks())
    assert content(store, 1) == bytes(3 * MIB)


def test_a_snapshot_whose_source_fails_leaves_what_was_there(store):
    store.save_snapshot(1, [b"old"])

    def chunks():
        yield bytes(2 * MIB)
        raise RuntimeError("no more")

    for seq in (1, 2):
        with pytest.raises(RuntimeError, match="no more"):
            store.save_snapshot(seq, chunks())
    assert [info.seq for info in store.snapshots()] == [1]
    assert content(store, 1) == b"old"
    store.save_snapshot(2, [b"new"])
    assert content(store, 2) == b"new"


def test_a_snapshot_newer_than_the_log_takes_its_numbers(store):
    store.append([b"1"])
    store.save_snapshot(10, [b"ten"])
    assert store.last_seq == 10
    assert list(store.read(10)) == []
    with pytest.raises(LogDamaged) as error:
        list(store.read(0))
    assert error.value.seq == 2
    assert store.append([b"11"]) == 11
    assert list(store.read(10)) == [(11, b"11")]
    with pytest.raises(LogDamaged) as error:
        list(store.read(0))
    assert error.value.seq == 2


def test_numbers_of_a_deleted_snapshot_are_not_given_again(store):
    store.save_snapshot(10, [b"ten"])
    store.delete_snapshot(10)
    assert store.last_seq == 10
    assert store.append([b"11"]) == 11


def test_an_append_gets_through_while_a_snapshot_is_saved(store):
    appended = []

    def chunks():
        for number in range(4):
            yield bytes(MIB)
            thread = Thread(target=lambda: appended.append(store.append([b"event"])), daemon=True)
            thread.start()
            thread.join(timeout=60)
            assert len(appended) == number + 1

    store.save_snapshot(0, chunks())
    assert appended == [1, 2, 3, 4]
    assert len(list(store.read(0))) == 4
    assert len(content(store, 0)) == 4 * MIB


def test_snapshots_saved_by_two_threads_are_both_whole(store):
    threads = [
        Thread(target=store.save_snapshot, args=(seq, [bytes([seq]) * 3 * MIB])) for seq in (1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [content(store, seq) for seq in (1, 2)] == [b"\1" * 3 * MIB, b"\2" * 3 * MIB]


# --- closing and opening again --------------------------------------------------------------------


def test_closing_twice_is_fine(store):
    store.close()
    store.close()


def test_everything_is_there_after_opening_again(durable_backend):
    store = durable_backend.open()
    store.append([b"1", b"2"])
    store.append([b"3"])
    info = store.save_snapshot(2, [b"state" * MIB])
    store.close()
    store = durable_backend.open()
    assert store.last_seq == 3
    assert list(store.read(0)) == [(1, b"1"), (2, b"2"), (3, b"3")]
    assert store.snapshots() == [info]
    assert content(store, 2) == b"state" * MIB
    assert store.append([b"4"]) == 4


def test_numbers_go_on_after_trimming_everything_and_opening_again(durable_backend):
    store = durable_backend.open()
    store.append([b"1", b"2"])
    forget(store, 2)
    store.close()
    store = durable_backend.open()
    assert store.last_seq == 2
    assert store.append([b"3"]) == 3


def test_numbers_of_a_deleted_snapshot_are_not_given_after_opening_again(durable_backend):
    store = durable_backend.open()
    store.save_snapshot(10, [b"ten"])
    store.delete_snapshot(10)
    store.close()
    assert durable_backend.open().last_seq == 10


def test_an_older_trim_does_not_give_numbers_free(durable_backend):
    store = durable_backend.open()
    store.append([b"1", b"2"])
    store.save_snapshot(10, [b"ten"])
    store.delete_snapshot(10)
    store.trim(2)
    store.close()
    assert durable_backend.open().last_seq == 10

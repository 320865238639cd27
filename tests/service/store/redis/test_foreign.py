"""Foreign entries in the stream of a log: skipped and counted; they do not hide damage."""

import pytest

from manyclass.service.store.errors import LogDamaged, LogTrimmed, StoreUnavailable
from manyclass.service.store.redis.entry import EPOCH, LAST_EPOCH

HIGHEST_ID = f"{2**64 - 1}-{2**64 - 1}"


NEXT = f"{2 * EPOCH}-1"  # the id of a foreign entry that lifts a new log to another epoch


def events_of(store, after=0):
    return [event for _, event in store.read(after)]


@pytest.mark.parametrize("fields", [{"mine": "x"}, {"after": "a", "head": "b", "body": "c"}])
def test_foreign_entries_are_skipped_wherever_they_stand(data, open_redis, follow, fields):
    store, other = open_redis(), open_redis()
    assert store.last_seq == 0
    followers = follow(store), follow(other)
    for number in range(1, 4):
        data.client.xadd(data.events, fields)
        data.client.xadd(data.events, fields)
        assert store.append([b"%d" % number], number) == number
        followers[1].wait_for_seq(number)
    data.client.xadd(data.events, fields)
    for follower in followers:
        follower.wait_for_seq(3)
        follower.wait_for_pause()
        follower.wait_for_pause()
        assert follower.events == [(1, b"1"), (2, b"2"), (3, b"3")]
    assert followers[0].append_ids == [1, 2, 3]
    assert store.foreign_entries == other.foreign_entries == 7
    assert events_of(open_redis()) == [b"1", b"2", b"3"]
    assert events_of(open_redis(), 2) == [b"3"]
    assert store.heartbeat(3).last_seq == 3


def test_an_entry_read_again_counts_once(store, data, follow):
    assert store.last_seq == 0
    data.client.xadd(data.events, {"mine": "x"})
    store.append([b"1"])
    follow(store).wait_for_seq(1)
    follow(store).wait_for_seq(1)
    assert store.foreign_entries == 1


def test_a_copy_of_an_entry_of_ours_is_foreign(store, data, open_redis, follow):
    store.append([b"1"])
    [(_, fields)] = data.client.xrange(data.events)
    data.client.xadd(data.events, fields)
    store.append([b"2"])
    follower = follow(open_redis())
    follower.wait_for_seq(2)
    assert follower.events == [(1, b"1"), (2, b"2")]
    assert events_of(store) == [b"1", b"2"]


@pytest.mark.parametrize("place", [f"{EPOCH + 9}-1", NEXT, f"{30 * EPOCH}-7"])
def test_a_foreign_entry_lifts_a_log_which_goes_on(store, data, open_redis, follow, place):
    follower = follow(store)
    assert store.append([b"1", b"2"], 1) == 2
    assert int(data.client.hget(data.facts, "tail").partition(b"-")[0]) == EPOCH + 2
    data.client.xadd(data.events, {"mine": "x"}, id=place)
    assert store.append([b"3"], 2) == 3
    assert store.append([b"4"], 3) == 4
    follower.wait_for_seq(4)
    assert follower.append_ids == [1, 2, 3]
    assert store.foreign_entries == 1
    for after in range(4):
        events = [b"1", b"2", b"3", b"4"][after:]
        late = follow(open_redis(), after)
        late.wait_for_seq(4)
        assert [event for _, event in late.events] == events
        assert events_of(open_redis(), after) == events


def test_a_lifted_log_is_trimmed(store, data, open_redis, follow):
    for number in range(3):
        store.append([b"%d" % number])
    data.client.xadd(data.events, {"mine": "x"}, id=NEXT)
    for number in range(3, 6):
        store.append([b"%d" % number])
    store.save_snapshot(2, [b"two"])
    store.heartbeat(6)
    store.trim(2)
    assert data.client.xlen(data.events) == 7  # an earlier epoch is removed as a whole
    store.save_snapshot(4, [b"four"])
    store.trim(4)
    assert data.client.xlen(data.events) == 2
    follower = follow(open_redis(), 4)
    follower.wait_for_seq(6)
    assert [event for _, event in follower.events] == [b"4", b"5"]
    assert isinstance(follow(open_redis(), 2).end(), LogTrimmed)


def test_a_snapshot_beyond_a_lifted_log(store, data, open_redis, follow):
    store.append([b"1"])
    data.client.xadd(data.events, {"mine": "x"}, id=NEXT)
    store.append([b"2"])
    store.save_snapshot(10, [b"ten"])
    assert store.last_seq == 10
    assert store.append([b"11"]) == 11
    follower = follow(open_redis(), 10)
    follower.wait_for_seq(11)


def test_an_entry_with_the_highest_id_stops_only_learning(store, data, open_redis, follow):
    follower = follow(store)
    store.append([b"1"], 1)
    data.client.xadd(data.events, {"mine": "x"}, id=HIGHEST_ID)
    with pytest.raises(StoreUnavailable, match="FOREIGN") as error:
        store.append([b"2"], 2)
    assert "manyclass copy" in error.value.hint
    follower.wait_for_pause()
    assert events_of(open_redis()) == [b"1"]
    assert store.heartbeat(1).last_seq == 1


def test_there_is_room_for_a_log_in_the_last_epoch(store, data, open_redis):
    assert store.last_seq == 0
    data.client.xadd(data.events, {"mine": "x"}, id=f"{LAST_EPOCH * EPOCH - 1}-1")
    assert store.append([b"1"]) == 1
    assert events_of(open_redis()) == [b"1"]


@pytest.mark.parametrize("lost", [1, 2], ids=["amid", "newest"])
def test_foreign_entries_do_not_hide_a_lost_one(store, data, follow, lost):
    for number in range(3):
        store.append([b"%d" % number])
        data.client.xadd(data.events, {"mine": "x"})
    ours = [place for place, fields in data.client.xrange(data.events) if b"body" in fields]
    data.client.xdel(data.events, ours[lost])
    with pytest.raises(LogDamaged) as error:
        events_of(store)
    assert error.value.seq == lost + 1
    assert "skipped" in str(error.value)
    assert follow(store).end().seq == lost + 1


def test_a_foreign_entry_that_a_server_forgets_takes_none_of_ours_along(store, data, follow):
    """Remove an entry, as after a failover to a replica without it."""
    follower = follow(store)
    store.append([b"1"])
    follower.wait_for_seq(1)
    entries, facts = data.client.xrange(data.events), data.client.hgetall(data.facts)
    data.client.xadd(data.events, {"mine": "x"}, id=NEXT)
    follower.wait_for(lambda: store.foreign_entries == 1)
    with data.client.pipeline() as changes:
        changes.delete(data.facts, data.events)
        for place, fields in entries:
            changes.xadd(data.events, fields, id=place)
        changes.hset(data.facts, mapping=facts)
        changes.execute()
    data.client.client_kill_filter(_type="normal", skipme=True)
    store.append([b"2"])
    follower.wait_for_seq(2)
    assert follower.events == [(1, b"1"), (2, b"2")]

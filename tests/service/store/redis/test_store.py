"""One store in Redis, and several processes that use it: here, several stores in one process."""

import threading
import time

import pytest

from manyclass.service.store.errors import (
    LogDamaged,
    LogRewound,
    LogTrimmed,
    StoreError,
    StoreUnavailable,
)
from manyclass.service.store.protocol import Batch
from manyclass.service.store.redis.durability import UNKNOWN
from manyclass.service.store.redis.store import RedisStore


def append_many(store, number, events=3):
    for append_id in range(1, number + 1):
        store.append([f"{store.name} {append_id} {i}".encode() for i in range(events)], append_id)


def in_threads(*calls):
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# --- making one -----------------------------------------------------------------------------------


def test_opening_connects_to_nothing():
    with_nobody_there = RedisStore("redis://127.0.0.1:1", time.time)
    assert with_nobody_there.durability == UNKNOWN
    with_nobody_there.close()


def test_processes_have_names_of_their_own(open_redis):
    first, second = open_redis(), open_redis()
    assert first.name != second.name
    assert first.name.isprintable()
    assert " " not in first.name


def test_services_with_names_of_their_own_share_nothing(redis_url, open_redis):
    first, second = open_redis(), open_redis(f"{redis_url}-other")
    first.append([b"one"])
    first.save_snapshot(1, [b"state"])
    assert second.last_seq == 0
    assert second.snapshots() == []
    assert list(second.read(0)) == []


def test_all_keys_are_of_the_service_and_in_one_slot(store, data):
    store.heartbeat(0)
    store.append([b"one"])
    store.post([(store.name, b"message")])
    store.save_snapshot(1, [b"state"])
    keys = [key.decode() for key in data.client.keys("*")]
    assert len([key for key in keys if key.startswith(data.key(""))]) >= 9
    assert {key.partition("}:")[2].partition(":")[0] for key in keys} <= {
        *("facts", "events", "append", "lease", "processes", "mail"),
        *("snapshots", "chunks", "chunk"),
    }


def test_a_closed_store_answers_nothing(store):
    store.append([b"one"])
    store.close()
    for call in (
        lambda: store.append([b"two"]),
        lambda: store.last_seq,
        lambda: list(store.read(0)),
        lambda: store.heartbeat(1),
    ):
        with pytest.raises(StoreError, match="closed"):
            call()
    assert list(store.follow(0)) == []


def test_a_store_of_another_version_is_refused(data, open_redis):
    open_redis().append([b"one"])
    data.client.hset(data.facts, "version", "3")
    with pytest.raises(StoreError, match="version 3") as error:
        open_redis().append([b"two"])
    assert "release" in error.value.hint


def test_keys_of_another_program_are_refused(data, open_redis):
    data.client.set(data.facts, "something")
    with pytest.raises(StoreError, match="WRONGTYPE") as error:
        open_redis().append([b"one"])
    assert "name=" in error.value.hint
    assert data.client.get(data.facts) == b"something"


def test_events_without_a_store_are_not_taken_for_one(data, open_redis):
    open_redis().append([b"one"])
    data.client.delete(data.facts)
    with pytest.raises(StoreError, match="unknown store"):
        open_redis().append([b"two"])


# --- appending and following ----------------------------------------------------------------------


def test_the_order_of_the_server_is_the_order_for_all(open_redis, follow):
    stores = [open_redis() for _ in range(3)]
    followers = [follow(store) for store in stores]
    in_threads(*(lambda store=store: append_many(store, 60) for store in stores))
    for follower in followers:
        follower.wait_for_seq(540)
        assert [seq for seq, _ in follower.events] == list(range(1, 541))
        assert follower.events == followers[0].events
        assert follower.append_ids == list(range(1, 61))
    assert list(stores[0].read(0)) == followers[0].events
    assert {event for _, event in followers[0].events} == {
        f"{store.name} {append_id} {i}".encode()
        for store in stores
        for append_id in range(1, 61)
        for i in range(3)
    }


def test_an_append_id_comes_back_to_its_owner_only(open_redis, follow):
    first, second = open_redis(), open_redis()
    followers = [follow(first), follow(second)]
    assert first.append([b"a", b"b"], 7) == 2
    assert second.append([b"c"], 7) == 3
    assert first.append([b"d"]) == 4
    for follower in followers:
        follower.wait_for_seq(4)
    assert followers[0].batches == [
        Batch(1, [b"a", b"b"], 7),
        Batch(3, [b"c"], 0),
        Batch(4, [b"d"], 0),
    ]
    assert [batch.append_id for batch in followers[1].batches] == [0, 7, 0]


@pytest.mark.parametrize("after", range(6))
def test_following_begins_after_any_event(store, open_redis, follow, after):
    store.append([b"1", b"2"], 1)
    store.append([b"3", b"4", b"5"], 2)
    follower = follow(open_redis(), after)
    store.append([b"6"], 3)
    follower.wait_for_seq(6)
    assert [seq for seq, _ in follower.events] == list(range(after + 1, 7))
    assert follower.batches[0].first_seq == after + 1


def test_following_goes_on_where_reading_ended(store, open_redis, follow):
    append_many(store, 5)
    other = open_redis()
    assert [seq for seq, _ in other.read(0)] == list(range(1, 16))
    follower = follow(other, 15)
    append_many(store, 1)
    follower.wait_for_seq(18)
    assert [seq for seq, _ in follower.events] == [16, 17, 18]


def test_following_yields_none_without_new_events(store, follow):
    store.append([b"one"])
    follower = follow(store)
    follower.wait_for_pause()
    follower.wait_for_pause()
    assert follower.events == [(1, b"one")]


def test_closing_ends_a_follower_that_waits(store, follow):
    follower = follow(store)
    follower.wait_for_pause()
    store.close()
    assert follower.end() is None


def test_two_may_follow_in_one_process(store, follow):
    followers = [follow(store), follow(store)]
    store.append([b"one"], 1)
    for follower in followers:
        follower.wait_for_seq(1)
        assert follower.append_ids == [1]


@pytest.mark.parametrize("number", [2, 3], ids=["all trimmed", "some trimmed"])
def test_trimmed_events_are_missing_to_a_follower(store, open_redis, follow, number):
    for _ in range(number):
        store.append([b"event"])
    store.save_snapshot(2, [])
    store.heartbeat(number)
    store.trim(2)
    error = follow(open_redis()).end()
    assert isinstance(error, LogTrimmed)
    assert (error.seq, error.floor) == (1, 2)
    late = follow(open_redis(), 2)
    store.append([b"late"])
    late.wait_for_seq(number + 1)


def test_numbers_a_snapshot_took_are_missing_events(store, open_redis, follow):
    store.append([b"1"])
    store.save_snapshot(10, [b"ten"])
    store.append([b"11"])
    behind = follow(open_redis())
    assert isinstance(behind.end(), LogDamaged)
    assert behind.error.seq == 2
    follower = follow(open_redis(), 10)
    follower.wait_for_seq(11)
    assert follower.events == [(11, b"11")]


def test_a_large_batch_is_followed(open_redis, follow):
    events = [bytes([number]) * 50_000 for number in range(100)]
    store = open_redis()
    follower = follow(open_redis())
    store.append(events, 1)
    follower.wait_for_seq(100)
    assert [event for _, event in follower.events] == events


def test_an_append_the_server_would_not_take_is_refused_before_it_is_sent(open_redis, monkeypatch):
    monkeypatch.setattr("manyclass.service.store.redis.store.LARGEST_BATCH", 100)
    store = open_redis()
    with pytest.raises(StoreError, match="fit in one append"):
        store.append([b"x" * 101])
    assert store.append([b"x" * 90]) == 1


def test_pages_of_a_long_log_are_bounded_and_fit_together(open_redis, monkeypatch):
    monkeypatch.setattr("manyclass.service.store.redis.store.READ_BYTES", 2000)
    monkeypatch.setattr("manyclass.service.store.redis.store.READ_ENTRIES", 7)
    store = open_redis()
    events = [bytes([number % 251]) * (number * 3) for number in range(300)]
    for begin in range(0, 300, 3):
        store.append(events[begin : begin + 3])
    pages = []
    run = store._session.run

    def counted(*arguments):
        pages.append(run(*arguments))
        return pages[-1]

    monkeypatch.setattr(store._session, "run", counted)
    assert list(store.read(0)) == list(enumerate(events, 1))
    sizes = [sum(len(fields[5]) for _, fields in page) for page in pages]
    assert max(sizes) < 2000 + 3 * 900
    assert max(map(len, pages)) == 7


# --- damage ---------------------------------------------------------------------------------------


def damage(data, change):
    """Change the fields of the newest entry of the log."""
    client, key = data.client, data.events
    [(place, fields)] = client.xrevrange(key, count=1)
    change(fields)
    dump = client.xrange(key, max=f"({place.decode()}")
    client.delete(key)
    for other, unchanged in [*dump, (place, fields)]:
        client.xadd(key, unchanged, id=other)


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields.update({b"body": fields[b"body"][:-1] + b"!"}),
        lambda fields: fields.update({b"body": b""}),
        lambda fields: fields.update({b"head": b"someone 1 1 00"}),
        lambda fields: fields.update({b"head": b"nonsense"}),
        lambda fields: fields.pop(b"after"),
        lambda fields: fields.update({b"more": b"fields"}),
    ],
)
def test_a_damaged_entry_is_found_where_it_is(store, data, follow, change):
    store.append([b"1", b"2"])
    store.append([b"3"])
    damage(data, change)
    given = []
    with pytest.raises(LogDamaged) as error:
        given.extend(store.read(0))
    assert error.value.seq == 3
    follower = follow(store)
    assert follower.end().seq == 3
    assert follower.events == [(1, b"1"), (2, b"2")]


def test_an_entry_that_comes_after_another_one_is_of_another_log(store, data, follow):
    store.append([b"1", b"2"])
    store.append([b"3"])

    def after_another(fields):
        fields[b"after"] = fields[b"after"].partition(b"-")[0] + b"-1"

    damage(data, after_another)
    given = []
    with pytest.raises(LogRewound) as error:
        given.extend(store.read(0))
    assert error.value.seq == 2
    assert isinstance(follow(store).end(), LogRewound)


@pytest.mark.parametrize("number", [2, 3], ids=["at the end", "in the middle"])
def test_a_missing_entry(store, data, follow, number):
    for _ in range(number):
        store.append([b"event"])
    data.client.xdel(data.events, data.client.xrange(data.events)[1][0])
    with pytest.raises(LogDamaged) as error:
        list(store.read(0))
    assert error.value.seq == 2
    assert follow(store).end().seq == 2


# --- threads --------------------------------------------------------------------------------------


def test_every_thread_may_call_at_once(store, follow):
    follower = follow(store)
    failures = []

    def often(call):
        def run():
            try:
                for _ in range(30):
                    call()
            except Exception as error:
                failures.append(error)

        return run

    def save():
        seq = store.last_seq
        store.save_snapshot(seq, [b"x" * 300_000])
        assert b"".join(store.open_snapshot(seq)) == b"x" * 300_000

    in_threads(
        often(lambda: store.append([b"event"])),
        often(lambda: store.append([b"event"])),
        often(lambda: store.heartbeat(0)),
        often(lambda: list(store.read(0))),
        often(lambda: store.post([(store.name, b"message")])),
        often(store.snapshots),
        often(save),
    )
    assert failures == []
    follower.wait_for_seq(60)
    assert [seq for seq, _ in follower.events] == list(range(1, 61))


def test_only_the_leader_trims_and_deletes(open_redis):
    leader, other = open_redis(), open_redis()
    leader.append([b"1", b"2"])
    leader.save_snapshot(2, [b"state"])
    leader.heartbeat(2)
    other.heartbeat(2)
    for call in (lambda: other.trim(1), lambda: other.delete_snapshot(2)):
        with pytest.raises(StoreUnavailable, match="leads"):
            call()
    assert [info.seq for info in other.snapshots()] == [2]
    assert len(list(other.read(0))) == 2

"""A log that lost its end, or a server with another store, is detected."""

import pytest

from manyclass.service.store.batch import join_batch
from manyclass.service.store.errors import LogRewound, StoreUnavailable
from manyclass.service.store.protocol import Batch
from manyclass.service.store.redis.entry import EPOCH, entry_head
from tests.service.store.following import next_found
from tests.service.store.waiting import appended_again


def test_a_server_that_lost_its_end_is_noticed(forgetful, open_redis):
    store = open_redis(forgetful.url)
    store.append([b"1"], 1)
    with forgetful.client() as client:
        client.save()
    store.append([b"2", b"3"], 2)
    following = store.follow(0)
    assert [next_found(following) for _ in range(2)] == [
        Batch(1, [b"1"], 1),
        Batch(2, [b"2", b"3"], 2),
    ]
    forgetful.kill()
    forgetful.start()
    with pytest.raises(LogRewound) as error:
        next_found(following)
    assert error.value.seq == 3
    assert appended_again(store, b"other 2", 3) == 2
    following = store.follow(1)
    assert next_found(following) == Batch(2, [b"other 2"], 3)
    following.close()


@pytest.mark.parametrize("others", [1, 2, 3, 4])
def test_a_lost_end_is_noticed_after_others_wrote_another(rewound, open_redis, others):
    rewound.store.append([b"3"])
    assert next_found(rewound.following).events == [b"3"]
    rewound.rewind()
    other = open_redis(rewound.server.url)
    for number in range(others):
        other.append([b"other %d" % number])
    rewound.assert_noticed(3)


def test_a_store_follows_the_new_log_from_the_same_number(rewound, open_redis):
    rewound.rewind()
    other = open_redis(rewound.server.url)
    other.append([b"other 2"])
    rewound.assert_noticed()
    other.append([b"3"])  # and the other process's state after event 2 is taken over
    following = rewound.store.follow(2)
    assert next_found(following).events == [b"3"]
    following.close()


def test_a_lost_end_is_noticed_between_reading_and_following(forgetful, open_redis):
    store = open_redis(forgetful.url)
    store.append([b"1"])
    with forgetful.client() as client:
        client.save()
    store.append([b"2"])
    assert len(list(store.read(0))) == 2
    forgetful.kill()
    forgetful.start()
    other = open_redis(forgetful.url)
    other.append([b"other 2"])
    with pytest.raises(LogRewound):
        next_found(store.follow(2))
    assert [event for _, event in store.read(0)] == [b"1", b"other 2"]
    other.append([b"3"])
    following = store.follow(2)
    assert next_found(following).events == [b"3"]
    following.close()


def test_a_lost_end_is_noticed_without_a_new_connection(store, data, follow):
    store.append([b"1"])
    tail = data.client.hget(data.facts, "tail")
    store.append([b"2"])
    follower = follow(store)
    follower.wait_for_seq(2)
    data.client.xdel(data.events, data.client.hget(data.facts, "tail"))
    data.client.hset(data.facts, "tail", tail)
    assert isinstance(follower.end(), LogRewound)


def test_a_log_that_ends_before_where_following_begins(store, open_redis, follow):
    store.append([b"1", b"2"])
    error = follow(open_redis(), 3).end()
    assert isinstance(error, LogRewound)
    assert error.seq == 3


def test_a_state_of_the_lost_log_does_not_become_a_snapshot(rewound, open_redis):
    def chunks():
        yield b"state after the lost event"
        rewound.rewind()
        open_redis(rewound.server.url).append([b"other 2"])

    with pytest.raises(StoreUnavailable):
        rewound.store.save_snapshot(2, chunks())
    with pytest.raises(StoreUnavailable, match="REWOUND"):
        rewound.store.save_snapshot(2, [])
    assert rewound.store.snapshots() == []
    rewound.following.close()


def test_no_snapshot_is_taken_of_a_lost_state(rewound):
    rewound.rewind()
    rewound.assert_noticed()
    with pytest.raises(StoreUnavailable, match="lost events"):
        rewound.store.save_snapshot(2, [b"of a log that is no more"])
    again = rewound.store.follow(1)
    assert next(again) is None
    assert rewound.store.save_snapshot(1, [b"of the log as it is"]).seq == 1


def test_an_emptied_server_is_no_server(followed, server):
    store, follower = followed
    store.heartbeat(0)
    store.save_snapshot(1, [b"state"])
    with server.client() as client:
        kept = {key: client.dump(key) for key in client.keys("*")}
        client.flushall()
        for call in (
            lambda: store.append([b"2"], 2),
            lambda: store.heartbeat(1),
            lambda: store.last_seq,
            lambda: list(store.read(0)),
            lambda: store.save_snapshot(1, [b"state"]),
            lambda: store.post([(store.name, b"message")]),
            lambda: store.trim(1),
        ):
            with pytest.raises(StoreUnavailable, match="emptied or replaced") as error:
                call()
            assert "old data" in error.value.hint
        follower.wait_for_pause()
        server.stop()
        server.start()
        with pytest.raises(StoreUnavailable, match="emptied or replaced"):
            store.append([b"2"], 3)
        follower.wait_for_pause()
        assert client.keys("*") == []
        for key, value in kept.items():
            client.restore(key, 0, value)
    assert store.append([b"2"], 4) == 2
    follower.wait_for_seq(2)
    assert follower.append_ids == [1, 4]


def test_another_store_in_its_place_is_no_server(followed, server, open_redis):
    store, follower = followed
    with server.client() as client:
        client.flushall()
    newcomer = open_redis(server.url)
    assert newcomer.append([b"new"]) == 1
    with pytest.raises(StoreUnavailable, match="replaced"):
        store.append([b"2"], 2)
    server.stop()
    server.start()
    with pytest.raises(StoreUnavailable, match="replaced"):
        store.append([b"2"], 3)
    follower.wait_for_pause()
    assert follower.events == [(1, b"1")]
    assert [event for _, event in newcomer.read(0)] == [b"new"]


def test_the_snapshots_of_another_store_are_not_listed(server, open_redis):
    store = open_redis(server.url)
    store.save_snapshot(0, [b"mine"])
    with server.client() as client:
        client.flushall()
    for call in (store.snapshots, lambda: store.delete_snapshot(0)):
        with pytest.raises(StoreUnavailable, match="emptied or replaced"):
            call()
    open_redis(server.url).save_snapshot(0, [b"another's"])
    with pytest.raises(StoreUnavailable, match="replaced"):
        store.snapshots()


def test_an_entry_of_another_store_between_ours_is_skipped(store, data):
    store.append([b"1"])
    store.append([b"2"])
    body = join_batch([b"3"])
    fields = {
        "after": b"another " + data.client.hget(data.facts, "tail"),
        "head": entry_head("somebody", 1, 5, 1, body),
        "body": body,
    }
    data.client.xadd(data.events, fields, id=f"{EPOCH + 3}-5")
    following = store.follow(0)
    assert [next_found(following).first_seq for _ in range(2)] == [1, 2]
    assert [next(following) for _ in range(3)] == [None] * 3
    assert store.append([b"3"]) == 3
    assert next_found(following).events == [b"3"]

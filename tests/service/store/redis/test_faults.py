"""A Redis server that is away, slow, restarted, emptied, full, demoted, or has lost its end."""

import socket
import threading
import time

import pytest
import redis

from manyclass.service.store.batch import join_batch
from manyclass.service.store.errors import (
    CommitOutcomeUnknown,
    LogRewound,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from manyclass.service.store.protocol import Batch
from manyclass.service.store.redis.entry import EPOCH, entry_head
from manyclass.service.store.redis.link import Link
from manyclass.service.store.redis.scripts import APPEND
from tests.redis_server import RedisServer
from tests.service.store.waiting import SOON, until
from tests.system.proxy import Proxy

FACTS, EVENTS = "{manyclass}:facts", "{manyclass}:events"


@pytest.fixture
def server(tmp_path):
    """Yield a server for this test that loses no acknowledged write."""
    with RedisServer(tmp_path / "redis") as started:
        yield started


@pytest.fixture
def forgetful(tmp_path):
    """Yield a server that keeps only its dumps."""
    with RedisServer(tmp_path / "redis", appendfsync=None) as started:
        yield started


def next_found(following):
    """Return the next item that is not None, within 1000 items."""
    found = (each for _, each in zip(range(1000), following, strict=False))
    return next(each for each in found if each is not None)


def appended_again(store, event, append_id=0):
    """Append an event as soon as the server accepts it, and return its number."""
    deadline = time.monotonic() + SOON
    while True:
        try:
            return store.append([event], append_id)
        except StoreUnavailable:
            assert time.monotonic() < deadline
            time.sleep(0.01)


# --- missing replies ------------------------------------------------------------------------------


@pytest.fixture
def lose(monkeypatch):
    """Make connections fail: the n-th append loses its "request" or its "reply"."""
    what = []
    run = Link.run

    def failing(self, script, *arguments):
        if script is not APPEND or not what:
            return run(self, script, *arguments)
        lost = what.pop(0)
        if lost == "reply":
            run(self, script, *arguments)
        if lost is None:
            return run(self, script, *arguments)
        raise redis.ConnectionError(f"the {lost} was lost")

    monkeypatch.setattr(Link, "run", failing)
    return what.extend


@pytest.mark.parametrize("lost", [["reply"], ["request"], ["reply"] * 3, ["request", "reply"]])
def test_what_was_sent_again_is_there_once(open_redis, follow, lose, lost):
    store = open_redis()
    follower = follow(store)
    store.append([b"1", b"2"], 1)
    lose(lost)
    assert store.append([b"3", b"4"], 2) == 4
    assert store.append([b"5"], 3) == 5
    follower.wait_for_seq(5)
    assert [event for _, event in follower.events] == [b"1", b"2", b"3", b"4", b"5"]
    assert follower.append_ids == [1, 2, 3]


def test_another_append_in_between_changes_nothing_about_that(open_redis, lose):
    store, other = open_redis(), open_redis()
    lose(["reply", None])  # the second append is the other process's
    run = threading.Thread(target=other.append, args=([b"other"],))
    first = store.append([b"1"], 1)
    run.start()
    run.join()
    events = [event for _, event in store.read(0)]
    assert sorted(events) == [b"1", b"other"]
    assert events[first - 1] == b"1"


def test_an_append_that_stays_unanswered_is_uncertain(open_redis, follow, lose):
    store = open_redis(patience=0.5)
    follower = follow(store)
    store.append([b"1"], 1)
    lose(["reply"] * 1000)
    with pytest.raises(CommitOutcomeUnknown) as error:
        store.append([b"2"], 2)
    assert error.value.hint
    follower.wait_for_seq(2)
    assert follower.append_ids == [1, 2]


def test_what_comes_late_does_not_land_after_what_was_sent_later(open_redis, lose, monkeypatch):
    store = open_redis(patience=0.5)
    store.append([b"1"], 1)
    sent = []
    run = Link.run

    def spying(self, script, keys, arguments):
        if script is APPEND:
            sent.append((keys, arguments))
        return run(self, script, keys, arguments)

    monkeypatch.setattr(Link, "run", spying)
    lose(["request"] * 1000)
    with pytest.raises(CommitOutcomeUnknown):
        store.append([b"2"], 2)
    monkeypatch.undo()
    assert store.append([b"3"], 3) == 2
    link, _ = store._session.connect()
    with pytest.raises(redis.ResponseError, match="STALE"):
        link.run(APPEND, *sent[0])
    link.close()
    assert [event for _, event in store.read(0)] == [b"1", b"3"]


def test_a_paused_server_takes_it_once_when_it_goes_on(server, open_redis, follow):
    store = open_redis(server.url, patience=0.5)
    store.append([b"1"], 1)
    server.pause()
    with pytest.raises(CommitOutcomeUnknown):
        store.append([b"2"], 2)
    server.resume()
    assert store.append([b"3"], 3) in (2, 3)
    follower = follow(store)
    follower.wait_for(lambda: 3 in follower.append_ids)
    follower.wait_for_pause()
    assert follower.append_ids in ([1, 2, 3], [1, 3])


# --- away and back --------------------------------------------------------------------------------


def test_no_server_at_the_start(server, open_redis):
    server.stop()
    store = open_redis(server.url)
    for call in (
        lambda: store.append([b"1"]),
        lambda: store.last_seq,
        lambda: store.heartbeat(None),
        lambda: next(store.follow(0)),
        lambda: list(store.read(0)),
        store.snapshots,
    ):
        with pytest.raises(StoreUnavailable) as error:
            call()
        assert not isinstance(error.value, CommitOutcomeUnknown)
    server.start()
    assert store.append([b"1"]) == 1


def test_away_and_back(server, open_redis, follow):
    store = open_redis(server.url, patience=0.5)
    follower = follow(store)
    store.append([b"1"], 1)
    store.heartbeat(0)
    follower.wait_for_seq(1)
    server.kill()
    with pytest.raises(StoreUnavailable):
        store.append([b"2"], 2)
    with pytest.raises(StoreUnavailable) as error:
        store.append([b"2"], 3)
    assert not isinstance(error.value, CommitOutcomeUnknown)  # no server was there to receive it
    with pytest.raises(StoreUnavailable):
        store.heartbeat(1)
    with pytest.raises(StoreUnavailable):
        store.post([(store.name, b"message")])
    follower.wait_for_pause()
    server.start()
    assert store.append([b"3"], 4) == 2
    follower.wait_for_seq(2)
    assert [event for _, event in follower.events] == [b"1", b"3"]
    assert store.heartbeat(2).last_seq == 2


def test_an_idle_connection_that_ended_does_not_make_an_append_uncertain(server, open_redis):
    store = open_redis(server.url)
    store.append([b"1"])
    store.heartbeat(0)
    server.kill()
    until(store._append_link.ended)  # the client becomes idle only after a moment
    with pytest.raises(StoreUnavailable) as error:
        store.append([b"2"])
    assert not isinstance(error.value, CommitOutcomeUnknown)
    server.start()
    assert store.append([b"3"]) == 2
    assert store.heartbeat(2).last_seq == 2


def test_idle_connections_that_ended_are_not_tried_one_by_one(server, open_redis):
    store = open_redis(server.url)
    links = [store._session.connect()[0] for _ in range(4)]
    store._session._spare.extend(links)
    server.kill()
    server.start()
    until(lambda: all(link.ended() for link in links))
    assert store.heartbeat(0).is_leader


def test_a_server_that_is_killed_loses_nothing_and_doubles_nothing(server, open_redis, follow):
    stores = [open_redis(server.url, patience=1.0) for _ in range(2)]
    followers = [follow(store) for store in stores]
    known, refused, uncertain = [], [], []
    stop = threading.Event()

    def write(store):
        number = 0
        while not stop.is_set():
            number += 1
            event = f"{store.name} {number}".encode()
            try:
                known.append((store.append([event], number), event))
            except CommitOutcomeUnknown:
                uncertain.append(event)
            except StoreUnavailable:
                refused.append(event)
                time.sleep(0.01)

    writers = [threading.Thread(target=write, args=(store,)) for store in stores]
    for writer in writers:
        writer.start()
    for _ in range(3):
        so_far = len(known)
        until(lambda so_far=so_far: len(known) > so_far + 20)
        server.kill()
        so_far = len(refused)
        until(lambda so_far=so_far: len(refused) > so_far + 2)
        server.start()
    so_far = len(known)
    until(lambda: len(known) > so_far + 20)
    stop.set()
    for writer in writers:
        writer.join()
    last_seq = appended_again(stores[0], b"last")
    for follower in followers:
        follower.wait_for_seq(last_seq)
        assert [seq for seq, _ in follower.events] == list(range(1, last_seq + 1))
    assert followers[0].events == followers[1].events
    log = [event for _, event in followers[0].events]
    assert len(log) == len(set(log))
    assert set(known) <= set(followers[0].events)
    assert not set(refused) & set(log)
    assert set(log) == {event for _, event in known} | (set(uncertain) & set(log)) | {b"last"}


def test_scripts_the_server_forgot_are_sent_again(redis_server, open_redis):
    store = open_redis()
    store.heartbeat(0)
    with redis_server.client() as client:
        client.script_flush()
        assert store.append([b"1", b"2"]) == 2
        client.script_flush()
        store.save_snapshot(2, [b"state"])
        client.script_flush()
        assert len(list(store.read(0))) == 2
        client.script_flush()
        assert store.heartbeat(2).is_leader
        client.script_flush()
        store.trim(1)


# --- a changed log --------------------------------------------------------------------------------


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
def test_it_is_noticed_after_others_wrote_another_end(forgetful, open_redis, others):
    store = open_redis(forgetful.url)
    store.append([b"1"])
    with forgetful.client() as client:
        client.save()
    store.append([b"2"])
    store.append([b"3"])
    following = store.follow(0)
    assert [next_found(following).events for _ in range(3)] == [[b"1"], [b"2"], [b"3"]]
    forgetful.kill()
    forgetful.start()
    other = open_redis(forgetful.url)
    for number in range(others):
        other.append([b"other %d" % number])
    with pytest.raises(LogRewound) as error:
        next_found(following)
    assert error.value.seq == 3


def test_after_it_was_noticed_one_may_follow_from_the_same_number(forgetful, open_redis):
    store = open_redis(forgetful.url)
    store.append([b"1"])
    with forgetful.client() as client:
        client.save()
    store.append([b"2"])
    following = store.follow(0)
    assert [next_found(following).events for _ in range(2)] == [[b"1"], [b"2"]]
    forgetful.kill()
    forgetful.start()
    other = open_redis(forgetful.url)
    other.append([b"other 2"])
    with pytest.raises(LogRewound):
        next_found(following)
    other.append([b"3"])  # and the other process's state after event 2 is taken over
    following = store.follow(2)
    assert next_found(following).events == [b"3"]
    following.close()


def test_it_is_noticed_between_reading_and_following(forgetful, open_redis):
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


def test_it_is_noticed_without_a_new_connection(redis_server, redis_url, open_redis, follow):
    store = open_redis()
    store.append([b"1"])
    name = redis_url.partition("=")[2]
    with redis_server.client() as client:
        facts, events = f"{{{name}}}:facts", f"{{{name}}}:events"
        tail = client.hget(facts, "tail")
        store.append([b"2"])
        follower = follow(store)
        follower.wait_for_seq(2)
        client.xdel(events, client.hget(facts, "tail"))
        client.hset(facts, "tail", tail)
    assert isinstance(follower.end(), LogRewound)


def test_a_log_that_ends_before_where_following_begins(open_redis, follow):
    store = open_redis()
    store.append([b"1", b"2"])
    error = follow(open_redis(), 3).end()
    assert isinstance(error, LogRewound)
    assert error.seq == 3


def test_a_state_of_the_lost_log_does_not_become_a_snapshot(forgetful, open_redis):
    store = open_redis(forgetful.url)
    store.append([b"1"])
    with forgetful.client() as client:
        client.save()
    store.append([b"2"])
    following = store.follow(0)
    assert [next_found(following).events for _ in range(2)] == [[b"1"], [b"2"]]

    def chunks():
        yield b"state after the lost event"
        forgetful.kill()
        forgetful.start()
        open_redis(forgetful.url).append([b"other 2"])

    with pytest.raises(StoreUnavailable):
        store.save_snapshot(2, chunks())
    with pytest.raises(StoreUnavailable, match="REWOUND"):
        store.save_snapshot(2, [])
    assert store.snapshots() == []
    following.close()


def test_an_emptied_server_is_no_server(server, open_redis, follow):
    store = open_redis(server.url, patience=0.5)
    follower = follow(store)
    store.append([b"1"], 1)
    store.heartbeat(0)
    store.save_snapshot(1, [b"state"])
    follower.wait_for_seq(1)
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


def test_another_store_in_its_place_is_no_server(server, open_redis, follow):
    store = open_redis(server.url, patience=0.5)
    follower = follow(store)
    store.append([b"1"], 1)
    follower.wait_for_seq(1)
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


def test_an_entry_of_another_store_is_not_learned(redis_server, redis_url, open_redis, follow):
    store = open_redis()
    store.append([b"1"])
    follower = follow(store)
    follower.wait_for_seq(1)
    name = redis_url.partition("=")[2]
    with redis_server.client() as client:
        place = client.hget(f"{{{name}}}:facts", "tail")
        body = join_batch([b"2"])
        fields = {
            "after": b"0123456789abcdef " + place,
            "head": entry_head("somebody", 1, 5, 1, body),
            "body": body,
        }
        # as between two reads of the facts
        client.xadd(f"{{{name}}}:events", fields, id=f"{EPOCH + 2}-5")
        follower.wait_for_pause()
        follower.wait_for_pause()
    assert follower.events == [(1, b"1")]


# --- unsuitable servers ---------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_a_server_that_evicts_is_refused_at_the_start(tmp_path, open_redis, policy):
    with RedisServer(tmp_path, options=[f"--maxmemory-policy {policy}"]) as server:
        with pytest.raises(StoreError, match=policy) as error:
            open_redis(server.url).append([b"1"])
        assert not isinstance(error.value, StoreUnavailable)
        assert "noeviction" in error.value.hint


def test_a_server_that_evicts_later_is_as_good_as_away(server, open_redis, follow):
    store = open_redis(server.url, patience=0.5)
    follower = follow(store)
    store.append([b"1"])
    follower.wait_for_seq(1)
    with server.client() as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        client.client_kill_filter(_type="normal", skipme=True)
        for call in (lambda: store.append([b"2"]), lambda: store.heartbeat(1)):
            with pytest.raises(StoreUnavailable, match="allkeys-lru"):
                call()
        follower.wait_for_pause()
        client.config_set("maxmemory-policy", "noeviction")
    assert appended_again(store, b"2") == 2
    follower.wait_for_seq(2)


def test_a_full_server(server, open_redis, follow):
    store = open_redis(server.url)
    follower = follow(store)
    for number in range(10):
        store.append([b"x" * 100_000], number + 1)
    follower.wait_for_seq(10)
    store.save_snapshot(5, [b"five" * 500_000])
    store.save_snapshot(10, [b"ten" * 500_000])
    with server.client() as client:
        assert not store.heartbeat(10).is_full
        client.config_set("maxmemory", "1mb")
        for call in (
            lambda: store.append([b"11"], 11),
            lambda: store.save_snapshot(10, [b"x"]),
            lambda: store.post([(store.name, b"x")]),
        ):
            with pytest.raises(StoreFull) as error:
                call()
            assert "maxmemory" in error.value.hint
        # Operations that free memory or keep the service going still succeed.
        heartbeat = store.heartbeat(10)
        assert heartbeat.is_leader
        assert heartbeat.is_full
        assert len(b"".join(store.open_snapshot(10))) == 1_500_000
        store.save_snapshot(10, [b"ten" * 600_000])  # a notified leader frees memory
        assert len(b"".join(store.open_snapshot(10))) == 1_800_000
        other = open_redis(server.url)
        assert other.heartbeat(10).is_full
        with pytest.raises(StoreFull):  # this process does not lead
            other.save_snapshot(10, [b"x"])
        assert len(list(store.read(0))) == 10
        store.trim(10)
        store.delete_snapshot(5)
        assert client.xlen(EVENTS) == 0
        assert store.last_seq == 10
        client.config_set("maxmemory", "100mb")
    assert store.append([b"11"], 12) == 11
    follower.wait_for_seq(11)
    assert follower.append_ids[-1] == 12


def test_too_few_replicas_for_the_server(server, open_redis):
    store = open_redis(server.url)
    with server.client() as client:
        store.append([b"1"])
        client.config_set("min-replicas-to-write", 1)
        with pytest.raises(StoreUnavailable, match="NOREPLICAS"):
            store.append([b"2"])
        client.config_set("min-replicas-to-write", 0)
    assert store.append([b"2"]) == 2


def test_a_replica_is_refused(server, tmp_path, open_redis):
    open_redis(server.url).append([b"1"])
    with RedisServer(
        tmp_path / "replica", options=[f"--replicaof 127.0.0.1 {server.port}"]
    ) as replica:
        with pytest.raises(StoreUnavailable, match="replica") as error:
            open_redis(replica.url).append([b"2"])
        assert "sentinel" in error.value.hint


def test_a_server_that_becomes_a_replica(server, tmp_path, open_redis, follow):
    store = open_redis(server.url, patience=0.5)
    follower = follow(store)
    store.append([b"1"])
    follower.wait_for_seq(1)
    with RedisServer(tmp_path / "other") as other, server.client() as client:
        client.replicaof("127.0.0.1", other.port)
        with pytest.raises(StoreUnavailable):
            store.append([b"2"])
        with pytest.raises(StoreUnavailable):
            store.heartbeat(1)
        follower.wait_for_pause()
        follower.wait_for_pause()
        client.replicaof("NO", "ONE")
        assert follower.events == [(1, b"1")]


def test_a_replica_is_not_followed_though_it_has_the_same_log(server, tmp_path, open_redis):
    store = open_redis(server.url, patience=0.5)
    store.append([b"1"])
    following = store.follow(0)
    assert next_found(following).events == [b"1"]
    options = [f"--replicaof 127.0.0.1 {server.port}"]
    with (
        RedisServer(tmp_path / "other", options=options) as other,
        server.client() as client,
        other.client() as other_client,
    ):
        until(lambda: other_client.xlen(EVENTS) == 1)
        other_client.replicaof("NO", "ONE")
        client.replicaof("127.0.0.1", other.port)
        until(lambda: client.info("replication")["master_link_status"] == "up")
        assert [next(following) for _ in range(4)] == [None] * 4
        assert open_redis(other.url).append([b"2"]) == 2
        until(lambda: client.xlen(EVENTS) == 2)
        assert [next(following) for _ in range(4)] == [None] * 4
        client.replicaof("NO", "ONE")
    assert next_found(following).events == [b"2"]
    following.close()


def test_replicas_that_are_waited_for(server, tmp_path, open_redis, follow):
    url = f"{server.url}?replicas=1"
    store = open_redis(url, patience=1.0)
    with pytest.raises(CommitOutcomeUnknown, match="0 of 1"):
        store.append([b"1"], 1)
    options = [f"--replicaof 127.0.0.1 {server.port}"]
    with RedisServer(tmp_path / "replica", options=options) as replica:
        patient = open_redis(url)
        assert patient.append([b"2"], 1) == 2
        with replica.client() as client:
            assert client.xlen(EVENTS) == 2
    follower = follow(store)
    follower.wait_for_seq(2)
    assert follower.append_ids == [1]


def test_what_others_appended_is_confirmed_by_replicas(server, tmp_path, open_redis):
    open_redis("redis://127.0.0.1:1").confirm()  # without replicas: no wait
    open_redis(server.url).append([b"1"])
    store = open_redis(f"{server.url}?replicas=1", patience=1.0)
    with pytest.raises(CommitOutcomeUnknown, match="0 of 1"):
        store.confirm()
    options = [f"--replicaof 127.0.0.1 {server.port}"]
    with RedisServer(tmp_path / "replica", options=options) as replica, replica.client() as client:
        open_redis(f"{server.url}?replicas=1").confirm()
        assert client.xlen(EVENTS) == 1
        replica.pause()
        with pytest.raises(CommitOutcomeUnknown):
            store.confirm()
        replica.resume()
        server.kill()
        with pytest.raises(StoreUnavailable):
            store.confirm()


def test_an_append_sent_again_waits_for_replicas_too(server, tmp_path, open_redis, lose):
    store = open_redis(f"{server.url}?replicas=1", patience=1.0)
    lose(["reply", None, None])
    with pytest.raises(CommitOutcomeUnknown, match="0 of 1"):
        store.append([b"1"], 1)
    assert store.last_seq == 1


# --- rare cases -----------------------------------------------------------------------------------


def test_an_append_that_is_sent_again_to_a_log_that_lost_its_end_is_noticed(
    forgetful, open_redis, monkeypatch
):
    """The append gets the same number, but after other events than the followed ones."""
    one, reader, other = (open_redis(forgetful.url) for _ in range(3))
    one.append([b"1"], 1)
    with forgetful.client() as client:
        client.save()
    reader.append([b"2"], 1)
    following = reader.follow(0)
    given = []

    def read_up_to(seq):
        while not given or given[-1][0] < seq:
            batch = next_found(following)
            given.extend(enumerate(batch.events, batch.first_seq))

    run, lost = Link.run, []

    def lose_the_reply_and_the_end(self, script, *arguments):
        answer = run(self, script, *arguments)
        if script is APPEND and not lost:
            lost.append(answer)
            read_up_to(3)
            forgetful.kill()
            forgetful.start()
            assert other.append([b"2 of another"], 1) == 2
            raise redis.ConnectionError("the reply was lost")
        return answer

    monkeypatch.setattr(Link, "run", lose_the_reply_and_the_end)
    assert one.append([b"3"], 2) == 3
    with pytest.raises(LogRewound):
        next_found(following)
    assert given == [(1, b"1"), (2, b"2"), (3, b"3")]
    assert list(other.read(0)) == [(1, b"1"), (2, b"2 of another"), (3, b"3")]


def test_a_log_that_cannot_be_followed_is_reported_once(server, open_redis, follow, caplog):
    store = open_redis(server.url)
    store.append([b"1"])
    following = follow(store)
    following.wait_for_seq(1)
    server.stop()
    for _ in range(3):
        following.wait_for_pause()
    told = [r for r in caplog.records if "cannot be followed" in r.message]
    assert len(told) == 1
    server.start()
    appended_again(store, b"2")
    following.wait_for_seq(2)
    assert any("followed again" in record.message for record in caplog.records)


def test_no_snapshot_is_taken_of_what_was_rewound(forgetful, open_redis):
    store = open_redis(forgetful.url)
    store.append([b"1"])
    with forgetful.client() as client:
        client.save()
    store.append([b"2"])
    following = store.follow(0)
    assert [next_found(following).first_seq for _ in range(2)] == [1, 2]
    forgetful.kill()
    forgetful.start()
    with pytest.raises(LogRewound):
        next_found(following)
    with pytest.raises(StoreUnavailable, match="lost events"):
        store.save_snapshot(2, [b"of a log that is no more"])
    again = store.follow(1)
    assert next(again) is None
    assert store.save_snapshot(1, [b"of the log as it is"]).seq == 1


def test_an_entry_of_another_store_between_ours_is_skipped(server, open_redis):
    store = open_redis(server.url)
    store.append([b"1"])
    store.append([b"2"])
    with server.client() as client:
        body = join_batch([b"3"])
        fields = {"after": b"another " + client.hget(FACTS, "tail"), "body": body}
        fields["head"] = entry_head("somebody", 1, 5, 1, body)
        fields = {name: fields[name] for name in ("after", "head", "body")}
        client.xadd(EVENTS, fields, id=f"{EPOCH + 3}-5")
        following = store.follow(0)
        assert [next_found(following).first_seq for _ in range(2)] == [1, 2]
        assert [next(following) for _ in range(3)] == [None] * 3
    assert store.append([b"3"]) == 3
    assert next_found(following).events == [b"3"]


def test_connections_that_were_cut_silently_do_not_make_a_second_call_fail(server, open_redis):
    with Proxy(server.port) as proxy:
        store = open_redis(f"redis://127.0.0.1:{proxy.port}/0", patience=2.0)
        store.append([b"1"])
        together = threading.Barrier(4)

        def often():
            together.wait()
            for _ in range(20):
                store.heartbeat(1)

        threads = [threading.Thread(target=often) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        proxy.forget()
        assert store.heartbeat(1).last_seq == 1


def test_many_silent_nodes_take_no_longer_than_one_may(open_redis):
    silent = [socket.create_server(("127.0.0.1", 0)) for _ in range(20)]
    try:
        hosts = ",".join(f"127.0.0.1:{each.getsockname()[1]}" for each in silent)
        store = open_redis(f"redis+sentinel://{hosts}/mymaster", patience=1.0)
        began = time.monotonic()
        with pytest.raises(StoreUnavailable):
            store.append([b"1"])
        assert time.monotonic() - began < 3  # a request to all of them takes 6
    finally:
        for each in silent:
            each.close()


def test_large_entries_are_read_one_at_a_time(server, open_redis, monkeypatch):
    store = open_redis(server.url)
    for number in range(12):
        store.append([bytes([number]) * 2**20])
    counts, send = [], Link.send

    def note(self, *commands):
        counts.extend(command[2] for command in commands if command[0] == "XREAD")
        send(self, *commands)

    monkeypatch.setattr(Link, "send", note)
    following = store.follow(0)
    assert [next_found(following).first_seq for _ in range(12)] == list(range(1, 13))
    assert set(counts) == {1}
    for number in range(12):
        store.append([bytes([number])])
    assert [next_found(following).first_seq for _ in range(12)] == list(range(13, 25))
    assert max(counts) > 1


def test_a_server_that_is_set_up_otherwise_while_it_runs(server, open_redis, monkeypatch):
    monkeypatch.setattr("manyclass.service.store.redis.store.DESCRIBED_SECONDS", 0.0)
    store = open_redis(server.url)
    store.append([b"1"])
    store.heartbeat(1)
    assert "appendfsync always" in store.durability
    with server.client() as client:
        client.config_set("appendfsync", "everysec")
        store.heartbeat(1)
        assert "appendfsync everysec" in store.durability
        client.config_set("maxmemory-policy", "allkeys-lru")
        with pytest.raises(StoreUnavailable, match="allkeys-lru"):
            store.heartbeat(1)
        with pytest.raises(StoreUnavailable, match="allkeys-lru"):
            store.append([b"2"])
        client.config_set("maxmemory-policy", "noeviction")
    assert store.append([b"2"]) == 2
    assert store.heartbeat(2).is_leader


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


def test_peer_messages_arrive_after_the_clock_of_the_server_was_set_back(
    server, open_redis, follow
):
    store = open_redis(server.url)
    store.heartbeat(None)
    following = follow(store)
    mailbox = "{manyclass}:mail:" + store.name
    with server.client() as client:
        fields = {"from": "the future", "body": "first"}
        client.xadd(mailbox, fields, id=f"{2**50}-0")
        following.wait_for(lambda: len(following.messages) == 1)
        following.wait_for_pause()
        client.delete(mailbox)
    store.post([(store.name, b"second")])
    following.wait_for(lambda: len(following.messages) == 2)
    assert [message.body for message in following.messages] == [b"first", b"second"]


def test_a_process_seen_in_the_future_is_not_alive_until_then(server, open_redis):
    store = open_redis(server.url)
    store.append([b"1"])
    with server.client() as client:
        later = int(time.time() * 1000) + 3_600_000
        client.hset("{manyclass}:processes", "gone", f"{later} 0")
    assert [process.name for process in store.heartbeat(1).processes] == [store.name]

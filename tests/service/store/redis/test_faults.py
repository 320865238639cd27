"""A Redis server that is unreachable, slow, or restarted."""

import socket
import threading
import time

import pytest

from manyclass.service.store.errors import CommitOutcomeUnknown, StoreUnavailable
from manyclass.service.store.redis.link import Link
from tests.service.store.following import next_found
from tests.service.store.waiting import appended_again, until
from tests.system.proxy import Proxy


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


def test_away_and_back(followed, server):
    store, follower = followed
    store.heartbeat(0)
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


def test_scripts_the_server_forgot_are_sent_again(store, redis_server):
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


def test_a_process_seen_in_the_future_is_not_alive_until_then(server, open_redis):
    store = open_redis(server.url)
    store.append([b"1"])
    with server.client() as client:
        later = int(time.time() * 1000) + 3_600_000
        client.hset("{manyclass}:processes", "gone", f"{later} 0")
    assert [process.name for process in store.heartbeat(1).processes] == [store.name]

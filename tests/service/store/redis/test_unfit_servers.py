"""A Redis server that evicts, is full, or is a replica; and replicas that are waited for."""

import pytest

from manyclass.service.store.errors import (
    CommitOutcomeUnknown,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from tests.redis_server import RedisServer, replica_of
from tests.service.store.following import next_found
from tests.service.store.waiting import appended_again, until

EVENTS = "{manyclass}:events"


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_a_server_that_evicts_is_refused_at_the_start(tmp_path, open_redis, policy):
    with RedisServer(tmp_path, options=[f"--maxmemory-policy {policy}"]) as server:
        with pytest.raises(StoreError, match=policy) as error:
            open_redis(server.url).append([b"1"])
        assert not isinstance(error.value, StoreUnavailable)
        assert "noeviction" in error.value.hint


def test_a_server_that_evicts_later_is_as_good_as_away(followed, server):
    store, follower = followed
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


def test_a_server_with_room_for_less_than_an_append_is_full_for_a_trial_of_it(server, open_redis):
    store = open_redis(server.url)
    store.append([b"1"], 1)
    with server.client() as client:
        client.config_set("maxmemory", client.info("memory")["used_memory"] + 1_000_000)
        for call in (
            lambda: store.append([b"x" * 3_000_000], 2),
            lambda: store.check_append(3_000_000),
        ):
            with pytest.raises(StoreFull):
                call()
        store.check_append(1)
        assert store.append([b"2"], 3) == 2


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
            lambda: store.check_append(2),
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
    with replica_of(server, tmp_path / "replica") as replica:
        with pytest.raises(StoreUnavailable, match="replica") as error:
            open_redis(replica.url).append([b"2"])
        assert "sentinel" in error.value.hint


def test_a_server_that_becomes_a_replica(followed, server, tmp_path):
    store, follower = followed
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
    with (
        replica_of(server, tmp_path / "other") as other,
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
    store = open_redis(url, patience=3.0)
    with pytest.raises(CommitOutcomeUnknown, match="0 of 1"):
        store.append([b"1"], 1)
    with replica_of(server, tmp_path / "replica") as replica:
        patient = open_redis(url)
        assert patient.append([b"2"], 1) == 2
        with replica.client() as client:
            assert client.xlen(EVENTS) == 2
    follower = follow(store)
    follower.wait_for_seq(2)
    assert follower.append_ids == [1]


def test_confirm_waits_for_replicas_of_appends_by_others(server, tmp_path, open_redis):
    open_redis("redis://127.0.0.1:1").confirm()  # without replicas: no wait
    open_redis(server.url).append([b"1"])
    store = open_redis(f"{server.url}?replicas=1", patience=3.0)
    with pytest.raises(CommitOutcomeUnknown, match="0 of 1"):
        store.confirm()
    with replica_of(server, tmp_path / "replica") as replica, replica.client() as client:
        open_redis(f"{server.url}?replicas=1").confirm()
        assert client.xlen(EVENTS) == 1
        replica.pause()
        with pytest.raises(CommitOutcomeUnknown):
            store.confirm()
        replica.resume()
        server.kill()
        with pytest.raises(StoreUnavailable):
            store.confirm()


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

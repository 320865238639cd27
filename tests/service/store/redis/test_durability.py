"""The durability that the store reports for a 200, under different settings of the server."""

import pytest

from tests.redis_server import RedisServer, replica_of
from tests.service.store.waiting import until


def said(open_redis, url, **options):
    store = open_redis(url, **options)
    assert store.last_seq == 0
    return store.durability


@pytest.mark.parametrize(
    ("appendfsync", "what"),
    [
        (
            None,
            "in the memory of Redis: when its process ends, answers since its last dump are lost",
        ),
        ("no", "answers that its system had not written are lost"),
        ("everysec", "up to two seconds of answers are lost"),
        ("always", "on the disk of Redis before the answer"),
    ],
)
def test_by_its_append_only_file(tmp_path, open_redis, appendfsync, what):
    with RedisServer(tmp_path, appendfsync=appendfsync) as server:
        assert what in said(open_redis, server.url)


def test_with_replicas(tmp_path, open_redis):
    with RedisServer(tmp_path / "0") as server:
        assert "replica" not in said(open_redis, server.url)
        assert "received by a replica before" in said(open_redis, f"{server.url}?replicas=1")
        assert "received by 2 replicas before" in said(open_redis, f"{server.url}?replicas=2")
        with replica_of(server, tmp_path / "1") as replica:
            with replica.client() as client:
                until(lambda: client.info("replication")["master_link_status"] == "up")
            text = said(open_redis, server.url)
            assert text.startswith("on the disk of Redis before the answer")
            assert "a failover can lose the newest answers" in text


def test_with_a_least_number_of_replicas(tmp_path, open_redis):
    with RedisServer(tmp_path, options=["--min-replicas-to-write 2"]) as server:
        with server.client() as client:
            client.config_set("min-replicas-to-write", 0)
            store = open_redis(server.url)
            store.append([b"1"])
            client.config_set("min-replicas-to-write", 2)
        other = open_redis(server.url)
        assert other.last_seq == 1
        assert "fewer than 2 replicas" in other.durability


def test_durability_without_permission_to_read_settings(tmp_path, open_redis):
    user = "--user plain on >secret ~{manyclass}:* +@all -@admin +info"
    with RedisServer(tmp_path, options=[user]) as server:
        text = said(open_redis, server.url.replace("//", "//plain:secret@"))
        assert "an unknown number" in text
        assert "appendfsync" in text


def test_durability_is_that_of_the_last_connection(tmp_path, open_redis):
    with RedisServer(tmp_path, appendfsync="always") as server:
        store = open_redis(server.url)
        store.append([b"1"])
        assert "appendfsync always" in store.durability
        with server.client() as client:
            client.config_set("appendfsync", "everysec")
            client.client_kill_filter(_type="normal", skipme=True)
        until(lambda: store.append([b"2"]) and "everysec" in store.durability)

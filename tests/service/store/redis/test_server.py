"""Every way to a server: sockets, passwords, TLS, sentinels, clusters."""

import socket
import threading

import pytest

from deploy.ports import free_port
from manyclass.service.store.errors import LogRewound, StoreError, StoreUnavailable
from tests.certificates import make_certificate, tls_of_server
from tests.redis_groups import SERVICE, ClusterGroup, Sentinel
from tests.redis_server import RedisServer, replica_of
from tests.service.store.waiting import appended_again, until
from tests.system.proxy import Proxy

LEAST = "+@read +@write +@scripting +@connection +time +wait +info +config|get +cluster|slots"


def works(store):
    """Assert that the store returns its events and snapshots."""
    first = store.append([b"1", b"2"])
    store.save_snapshot(first, [b"state"])
    assert [event for _, event in store.read(first - 2)] == [b"1", b"2"]
    assert b"".join(store.open_snapshot(first)) == b"state"
    assert store.heartbeat(first).last_seq == first
    store.post([(store.name, b"message")])
    following = store.follow(first - 2)
    found = [next(following), next(following)]
    assert {type(each).__name__ for each in found} == {"Batch", "PeerMessage"}
    following.close()
    store.trim(first)


# --- one server -----------------------------------------------------------------------------------


def test_a_server(redis_url, open_redis):
    works(open_redis())


def test_another_database(redis_server, open_redis):
    store = open_redis(f"{redis_server.url.removesuffix('0')}7?name=database")
    works(store)
    with redis_server.client(db=7) as client:
        assert client.keys("{database}:*")
        client.flushdb()
    with redis_server.client() as client:
        assert not client.keys("{database}:*")


def test_a_socket_file(tmp_path, open_redis):
    path = tmp_path / "redis.sock"
    with RedisServer(tmp_path, options=[f"--unixsocket {path}"]):
        works(open_redis(f"unix://{path}?db=1"))
    with pytest.raises(StoreUnavailable, match=r"redis\.sock"):
        open_redis(f"unix://{path}").append([b"1"])


@pytest.fixture
def locked(tmp_path):
    options = [
        "--requirepass default-secret",
        f"--user manyclass on >the-secret ~{{manyclass}}:* {LEAST}",
        "--user blind on >the-secret ~other:* +@all",
        "--user mute on >the-secret ~{manyclass}:* +@connection",
    ]
    with RedisServer(tmp_path, options=options) as server:
        yield server


@pytest.mark.parametrize(
    "who", [":default-secret", "default:default-secret", "manyclass:the-secret"]
)
def test_with_a_password(locked, open_redis, who):
    works(open_redis(locked.url.replace("//", f"//{who}@")))


@pytest.mark.parametrize(
    "who",
    ["", ":wrong-secret@", "manyclass:wrong-secret@", "blind:the-secret@", "mute:the-secret@"],
)
def test_without_the_right_one(locked, open_redis, who):
    store = open_redis(locked.url.replace("//", f"//{who}"))
    with pytest.raises(StoreError) as error:
        store.append([b"1"])
    assert not isinstance(error.value, StoreUnavailable)
    assert "password" in error.value.hint
    texts = [str(error.value), error.value.hint, repr(store), store.durability, store.name]
    texts.append(repr(vars(store)))
    assert not any("secret" in text for text in texts)


def test_a_password_that_changes_meanwhile(locked, open_redis, follow):
    store = open_redis(locked.url.replace("//", "//manyclass:the-secret@"), patience=0.5)
    follower = follow(store)
    store.append([b"1"])
    follower.wait_for_seq(1)
    with locked.client(password="default-secret") as client:
        client.acl_setuser("manyclass", enabled=True, passwords=["-the-secret", "+new-secret"])
        client.client_kill_filter(_type="normal", skipme=True)
        with pytest.raises(StoreUnavailable, match=r"(?i)password|closed"):
            store.append([b"2"])
        follower.wait_for_pause()
        client.acl_setuser("manyclass", enabled=True, passwords=["+the-secret"])
    seq = appended_again(store, b"2")
    follower.wait_for_seq(seq)


def test_an_old_server_is_refused(redis_server, open_redis, monkeypatch):
    monkeypatch.setattr("manyclass.service.store.redis.server.OLDEST_VERSION", (99, 1))
    with pytest.raises(StoreError, match="has version") as error:
        open_redis().append([b"1"])
    assert "99.1" in error.value.hint


def test_another_kind_of_server(open_redis):
    listening = socket.create_server(("127.0.0.1", 0))

    def answer():
        connection, _ = listening.accept()
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        connection.close()

    thread = threading.Thread(target=answer)
    thread.start()
    port = listening.getsockname()[1]
    with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{port}"):
        open_redis(f"redis://127.0.0.1:{port}").append([b"1"])
    thread.join()
    listening.close()


def test_a_host_without_an_address(open_redis):
    with pytest.raises(StoreUnavailable, match="no-such-host"):
        open_redis("redis://no-such-host.invalid").append([b"1"])


# --- TLS ------------------------------------------------------------------------------------------


def test_tls(redis_server, tmp_path, open_redis):
    certificate, key = make_certificate(tmp_path, "server")
    with Proxy(redis_server.port, tls_of_server(certificate, key)) as proxy:
        url = f"rediss://localhost:{proxy.port}?name=tls"
        works(open_redis(f"{url}&ca_file={certificate}"))
        with pytest.raises(StoreError, match=r"(?i)certificate") as caught:
            open_redis(url).append([b"1"])
        assert not isinstance(caught.value, StoreUnavailable)  # a start must not wait for it
        assert "ca_file" in caught.value.hint


def test_tls_with_a_certificate_of_the_client(redis_server, tmp_path, open_redis):
    certificate, key = make_certificate(tmp_path, "server")
    own, own_key = make_certificate(tmp_path, "client")
    with Proxy(redis_server.port, tls_of_server(certificate, key, client_ca=own)) as proxy:
        url = f"rediss://127.0.0.1:{proxy.port}?name=mutual&ca_file={certificate}"
        works(open_redis(f"{url}&cert_file={own}&key_file={own_key}"))
        with pytest.raises(StoreUnavailable):
            open_redis(url).append([b"1"])


def test_tls_without_its_files(open_redis, tmp_path):
    with pytest.raises(StoreError):
        open_redis(f"rediss://127.0.0.1:1?ca_file={tmp_path}/none.pem").append([b"1"])


# --- sentinels ------------------------------------------------------------------------------------


def test_sentinels_find_the_server(tmp_path, open_redis):
    with (
        RedisServer(tmp_path / "server", options=["--requirepass the-secret"]) as server,
        Sentinel(
            tmp_path / "sentinel",
            server.port,
            settings=["requirepass its-secret", f"sentinel auth-pass {SERVICE} the-secret"],
        ) as sentinel,
    ):
        nobody, found = free_port(), sentinel.port
        url = f"redis+sentinel://:the-secret@127.0.0.1:{nobody},127.0.0.1:{found}"
        works(open_redis(f"{url}/{SERVICE}/3?sentinel_password=its-secret"))
        with pytest.raises(StoreError, match=r"(?i)auth") as error:
            open_redis(f"{url}/{SERVICE}").append([b"1"])
        assert "secret" not in f"{error.value}"
        with pytest.raises(StoreError, match="does not know 'other'") as error:
            open_redis(f"{url}/other?sentinel_password=its-secret").append([b"1"])
        assert "sentinel monitor" in error.value.hint


def test_a_failover_by_sentinels(tmp_path, open_redis, follow):
    with (
        RedisServer(tmp_path / "0") as server,
        replica_of(server, tmp_path / "1") as replica,
        Sentinel(tmp_path / "sentinel", server.port, quorum=1, down_seconds=0.2) as sentinel,
        sentinel.client() as asking,
    ):
        until(lambda: asking.sentinel_slaves(SERVICE))
        url = f"redis+sentinel://127.0.0.1:{sentinel.port}/{SERVICE}?replicas=1"
        store = open_redis(url, patience=2.0)
        follower = follow(store)
        store.append([b"1"], 1)
        follower.wait_for_seq(1)
        no_replica = open_redis(url.removesuffix("?replicas=1"), patience=2.0)
        server.kill()
        seq = appended_again(no_replica, b"2")
        assert seq == 2
        follower.wait_for_seq(2)
        assert [event for _, event in follower.events] == [b"1", b"2"]
        assert store.last_seq == 2
        with replica.client() as client:
            assert client.info("replication")["role"] == "master"


# --- clusters -------------------------------------------------------------------------------------


def test_a_cluster_of_one(tmp_path, open_redis):
    options = ["--cluster-enabled yes", f"--cluster-port {free_port()}"]
    with RedisServer(tmp_path, options=options) as node, node.client() as client:
        url = f"redis+cluster://127.0.0.1:{node.port}"
        with pytest.raises(StoreUnavailable, match=r"(?i)slot|cluster"):
            open_redis(url).append([b"1"])
        client.execute_command("CLUSTER ADDSLOTSRANGE", 0, 16383)
        until(lambda: client.execute_command("CLUSTER INFO")["cluster_state"] == "ok")
        works(open_redis(url))
        with pytest.raises(StoreError, match="node of a cluster") as error:
            open_redis(node.url).append([b"1"])
        assert "redis+cluster://" in error.value.hint


def test_a_server_outside_a_cluster(redis_server, open_redis):
    with pytest.raises(StoreError, match="not in cluster mode") as error:
        open_redis(f"redis+cluster://127.0.0.1:{redis_server.port}").append([b"1"])
    assert "redis://" in error.value.hint


def test_any_node_of_a_cluster_leads_to_the_keys(tmp_path, open_redis):
    with ClusterGroup(tmp_path) as cluster:
        for name in ("a", "b", "c", "d"):  # some on each node
            urls = [f"redis+cluster://127.0.0.1:{node.port}?name={name}" for node in cluster.nodes]
            works(open_redis(urls[0]))
            assert [open_redis(url).last_seq for url in urls[1:]] == [2] * 3
        for node in cluster.nodes:
            with node.client() as client:
                assert client.dbsize() > 0


def test_a_failover_in_a_cluster(tmp_path, open_redis, follow):
    with ClusterGroup(tmp_path) as cluster:
        owner, *_, replica = cluster.nodes
        url = f"redis+cluster://127.0.0.1:{owner.port}"
        store = open_redis(url, patience=2.0)
        follower = follow(store)
        quiet = open_redis(url, patience=2.0)  # receives nothing meanwhile
        store.append([b"1"], 1)
        follower.wait_for_seq(1)
        store.heartbeat(1)
        assert quiet.last_seq == 1
        with replica.client() as client:
            client.config_set("min-replicas-to-write", 0)
            client.execute_command("CLUSTER FAILOVER")
            until(lambda: client.info("replication")["role"] == "master")
        seq = appended_again(store, b"2")
        follower.wait_for_seq(seq)
        assert not isinstance(follower.error, LogRewound)
        assert [event for _, event in follower.events] == [b"1", b"2"]
        assert store.heartbeat(2).is_leader
        owner.stop()  # the only node in the URL
        seq = appended_again(quiet, b"3")
        assert appended_again(store, b"4") == seq + 1
        follower.wait_for_seq(seq + 1)

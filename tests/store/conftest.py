"""Every store the suite in test_store.py is run on."""

import pytest

from service.store import open_store


class Clock:
    """The time is what the test says it is."""

    def __init__(self):
        self.now = 1_700_000_000.0

    def __call__(self):
        return self.now


class Backend:
    """Where a store is kept: opens it, again too if it is durable, and closes what is left open."""

    def __init__(self, url, durable):
        self.url = url
        self.durable = durable
        self.clock = Clock()
        self._opened = []

    def open(self):
        store = open_store(self.url, self.clock)
        self._opened.append(store)
        return store

    def close(self):
        for store in self._opened:
            store.close()


@pytest.fixture(params=["memory", "sqlite"])
def backend(request, tmp_path):
    made = {
        "memory": lambda: Backend("memory:", durable=False),
        "sqlite": lambda: Backend(f"sqlite:{tmp_path}/new/folder/store.db", durable=True),
    }[request.param]()
    yield made
    made.close()


@pytest.fixture(params=["sqlite"])
def durable_backend(request, tmp_path):
    made = Backend(f"sqlite:{tmp_path}/store.db", durable=True)
    yield made
    made.close()


@pytest.fixture
def store(backend):
    return backend.open()

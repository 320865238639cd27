"""Engines on one Redis server with an archive in a folder."""

import asyncio
import time
from contextlib import asynccontextmanager

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.store import open_store
from tests.service.engines import until


class History:
    """Starts and ends engines; `archive` is its URL, None without one."""

    def __init__(self, server, archive, **settings):
        self.server = server
        self.url = archive
        self.settings = {
            "snapshot_events": 0,
            "snapshot_seconds": 0,
            "store_seconds": 20.0,
            "learner": "svm",
            "rebuild_seconds": 0,
            **settings,
        }

    @asynccontextmanager
    async def engine(self, **settings):
        """Yield a new engine that is ready; close it at the end."""
        store = open_store(self.server.url, time.time, 5.0, archive=self.url)
        engine = Engine(
            Settings(store=self.server.url, archive=self.url, **(self.settings | settings)),
            Cluster(store),
            time.monotonic,
        )
        await engine.start()
        assert engine.status == "ready", engine.failure
        try:
            yield engine
        finally:
            await engine.close()


async def leader(*engines):
    """Return the one that leads, and the others."""
    await until(lambda: any(each.cluster.is_leader for each in engines))
    first = next(each for each in engines if each.cluster.is_leader)
    return [first, *(each for each in engines if each is not first)]


async def same(*engines):
    """Return when all are at the end of the log; assert that their states are equal there.

    A rebuild that a merge began may write to the log meanwhile; they are then compared again.
    """
    last, digests = -1, []
    while last != (end := await asyncio.to_thread(lambda: engines[0].store.last_seq)):
        last = end
        for engine in engines:
            assert await engine.reached(last, 30.0)
        digests = [engine.model.digest() for engine in engines]
    assert len(set(digests)) == 1


def event(features, classes, **more):
    """Return a "learn" event of words."""
    return Event.learn(Instance(dict.fromkeys(features.split(), 1.0)), classes.split(), **more)

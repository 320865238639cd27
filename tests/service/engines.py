"""Engines over a faulty store, and small helpers around them."""

from contextlib import asynccontextmanager

from manyclass.core.learners.options import Options
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.log.recovery import Recovery, recover
from tests.service.faulty import Clock, FaultyStore, learn


@asynccontextmanager
async def running(store=None, **settings):
    """An engine that is ready, closed in the end."""
    store = store or FaultyStore()
    engine = Engine(Settings(**settings), Cluster(store), Clock())
    await engine.start()
    assert engine.status == "ready", engine.failure
    try:
        yield engine, store
    finally:
        await engine.close()


async def teach(engine, *texts):
    """Learn these, one after another; each is "features -> classes"."""
    for text in texts:
        features, _, classes = text.partition(" -> ")
        await engine.submit([learn(features, classes)])


def recovered(store, options=None):
    return recover(store, options or Options(), Clock(), Recovery())


def seqs(infos):
    return [info.seq for info in infos]


async def ticked(engine):
    """Let the schedule look, and wait for what it started; the newest snapshot's seq."""
    engine.tick()
    await engine._tasks.join()
    return engine.newest_snapshot.seq

"""Engines over a faulty store, or several over one log, and small helpers around them."""

import asyncio
import threading
from contextlib import AsyncExitStack, asynccontextmanager

from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.log.recovery import Recovery, recover
from tests.service.faulty import PATIENCE, Clock, FaultyStore, learn


@asynccontextmanager
async def running(store=None, **settings):
    """Yield a ready engine and its store; close the engine at the end."""
    store = store or FaultyStore()
    engine = Engine(Settings(**settings), Cluster(store), Clock())
    await engine.start()
    assert engine.status == "ready", engine.failure
    try:
        yield engine, store
    finally:
        await engine.close()


async def teach(engine, *texts):
    """Learn the texts one after another; each is "features -> classes"."""
    for text in texts:
        features, _, classes = text.partition(" -> ")
        await engine.submit([learn(features, classes)])


def recovered(store, options=None):
    return recover(store, options or Options(), Clock(), Recovery())


def digest_without_newest(engine, store):
    """Damage the newest snapshot; return the digest of the state that is recovered all the same."""
    digest = engine.model.digest()
    store.damage_snapshot(engine.model.seq)
    assert recovered(store).digest() == digest
    return digest


def model_of(*events):
    """Return a model that has learned these events."""
    model = Model(Options())
    for seq, event in enumerate(events, start=1):
        model.apply(seq, event)
    return model


def seqs(infos):
    return [info.seq for info in infos]


async def ticked(engine):
    """Run the schedule, wait for its snapshot, and return the newest snapshot's seq."""
    engine.tick()
    await engine._tasks.join()
    return engine.newest_snapshot.seq


def engine_threads():
    """Return the threads that append and those for snapshots."""
    prefixes = ("append", "snapshot")
    return {thread for thread in threading.enumerate() if thread.name.startswith(prefixes)}


# --- several engines on one log -------------------------------------------------------------------


@asynccontextmanager
async def engine_on(log, name, ready=True, **settings):
    """Yield a new engine on the log, ready unless `ready` is false; close it at the end."""
    wanted = {"snapshot_events": 0, "snapshot_seconds": 0, "store_seconds": PATIENCE} | settings
    engine = Engine(Settings(**wanted), Cluster(log.store(name)), Clock())
    starting = asyncio.create_task(engine.start())
    try:
        if ready:
            await starting
            assert engine.status == "ready", engine.failure
        yield engine
    finally:
        await engine.close()
        await starting


@asynccontextmanager
async def engines_on(log, names, **settings):
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(engine_on(log, name, **settings)) for name in names]


async def until(condition):
    """Return when the condition holds; a test that waits too long has failed."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)


async def equal(*engines):
    """Return when all are at the end of the log; assert that their states are equal there."""
    last = engines[0].store.last_seq
    for engine in engines:
        assert await engine.reached(last, PATIENCE)
    assert len({engine.model.digest() for engine in engines}) == 1


async def leader_first(first, second):
    """Return both engines, as soon as one leads; that one first."""
    await until(lambda: first.stats().is_leader or second.stats().is_leader)
    return (first, second) if first.stats().is_leader else (second, first)

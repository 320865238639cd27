import pytest

from manyclass.service import cluster as cluster_module
from manyclass.service import engine as engine_module
from manyclass.service import pipeline
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.log import group_commit
from tests.service.faulty import Clock, FaultyStore


@pytest.fixture
def short_waits(monkeypatch):
    """Engines poll and retry often, and a store is soon away."""
    monkeypatch.setattr(engine_module, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(cluster_module, "UNREACHABLE_SECONDS", 0.06)
    monkeypatch.setattr(cluster_module, "RETRY_SECONDS", 0.02)
    monkeypatch.setattr(pipeline, "RETRY_SECONDS", 0.02)
    monkeypatch.setattr(group_commit, "EXPIRY_SECONDS", 0.02)


@pytest.fixture
async def start():
    """Return a function that starts engines; close all of them at the end."""
    engines = []

    async def start_one(store=None, **settings):
        engines.append(Engine(Settings(**settings), Cluster(store or FaultyStore()), Clock()))
        await engines[-1].start()
        return engines[-1]

    yield start_one
    for engine in engines:
        await engine.close()

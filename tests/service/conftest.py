import pytest

from manyclass.service import cluster as cluster_module
from manyclass.service import engine as engine_module
from manyclass.service import pipeline
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.history import reader
from manyclass.service.log import group_commit
from tests.service.engines import engine_on, running
from tests.service.faulty import Clock, FaultyStore
from tests.service.shared import SharedLog


@pytest.fixture(scope="session", autouse=True)
def whole_pages():
    """Pages of the history do not end by time: under load a search takes many times as long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "SCAN_SECONDS", 60.0)
        yield


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


@pytest.fixture
def store():
    return FaultyStore()


@pytest.fixture
async def engine(store):
    """Yield a ready engine on `store`."""
    async with running(store) as (made, _):
        yield made


@pytest.fixture
def log():
    return SharedLog()


@pytest.fixture
async def first(log):
    """Yield an engine on the shared log."""
    async with engine_on(log, "A") as made:
        yield made


@pytest.fixture
async def second(log, first):
    """Yield another one."""
    async with engine_on(log, "B") as made:
        yield made


@pytest.fixture
async def impatient(log):
    """Yield an engine that waits for the store for a moment only."""
    async with engine_on(log, "A", store_seconds=0.3) as made:
        yield made

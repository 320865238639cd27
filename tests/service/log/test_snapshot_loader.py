"""SnapshotLoader: models of snapshots, and the damaged ones remembered."""

import pytest

from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.log.snapshot_loader import SnapshotLoader
from manyclass.service.store.errors import SnapshotDamaged, SnapshotMissing
from tests.service.faulty import FaultyStore


def store_with_a_snapshot():
    store = FaultyStore()
    store.save_snapshot(0, Model(Options()).dump())
    return store


async def test_loads_and_remembers_what_is_damaged():
    store = store_with_a_snapshot()
    loader = SnapshotLoader(store)
    assert (await loader.load(0)).digest() == Model(Options()).digest()
    with pytest.raises(SnapshotMissing):
        await loader.load(1)
    assert loader.damaged == set()
    store.damage_snapshot(0)
    with pytest.raises(SnapshotDamaged):
        await loader.load(0)
    assert loader.damaged == {0}


async def test_a_model_that_is_ready_is_given_once_and_for_its_snapshot_only():
    loader = SnapshotLoader(store_with_a_snapshot())
    ready = Model(Options())
    with loader.keep_ready(0, ready):
        assert await loader.load(0) is ready
        assert await loader.load(0) is not ready
    with loader.keep_ready(7, ready):
        assert await loader.load(0) is not ready
    with loader.keep_ready(0, ready):
        pass
    assert await loader.load(0) is not ready

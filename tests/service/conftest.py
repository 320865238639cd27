import pytest

from manyclass.service import cluster as cluster_module
from manyclass.service import engine as engine_module
from manyclass.service import pipeline
from manyclass.service.log import group_commit


@pytest.fixture
def short_waits(monkeypatch):
    """Engines poll and retry often, and a store is soon away."""
    monkeypatch.setattr(engine_module, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(cluster_module, "UNREACHABLE_SECONDS", 0.06)
    monkeypatch.setattr(cluster_module, "RETRY_SECONDS", 0.02)
    monkeypatch.setattr(pipeline, "RETRY_SECONDS", 0.02)
    monkeypatch.setattr(group_commit, "EXPIRY_SECONDS", 0.02)

import pytest

from manyclass.evaluation import cost


@pytest.fixture(scope="session", autouse=True)
def speed_is_measured_shortly():
    """Rank once where a run would rank for a fifth of a second: no test looks at how fast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cost, "SHORTEST", 1e-6)
        yield

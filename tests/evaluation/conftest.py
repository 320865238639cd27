import pytest

from manyclass.evaluation import cost


@pytest.fixture(scope="session", autouse=True)
def speed_is_measured_shortly():
    """Rank once instead of for a fifth of a second: no test depends on the speed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cost, "SHORTEST", 1e-6)
        yield

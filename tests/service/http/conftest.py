import pytest

from tests.service.serving import calling


@pytest.fixture
async def call():
    """Yield calls to a service with default settings; see `calling`."""
    async with calling() as call:
        yield call

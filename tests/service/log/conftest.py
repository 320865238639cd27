import pytest

from tests.service.log.parts import committing


@pytest.fixture
async def parts():
    async with committing() as (made, _):
        yield made


@pytest.fixture
def group_commit(parts):
    return parts.group_commit

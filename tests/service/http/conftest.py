import pytest

from manyclass.service.http import stream_report
from manyclass.service.http.routes import learn_stream
from tests.service.serving import calling


@pytest.fixture
async def call():
    """Yield calls to a service with default settings; see `calling`."""
    async with calling() as call:
        yield call


@pytest.fixture
def report_after(monkeypatch):
    """Return a function that sets the seconds between two reports of a slow stream."""

    def set_seconds(seconds):
        for module in (stream_report, learn_stream):
            monkeypatch.setattr(module, "PROGRESS_SECONDS", seconds)

    return set_seconds

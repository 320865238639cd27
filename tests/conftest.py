"""The event loop of tests, profiles of Hypothesis, and the order of files: slow tests first."""

import pytest
from hypothesis import HealthCheck, settings

# No test asserts a time: under load an example takes many times as long as alone. `make test` takes
# the profile `quick`: a fifth of the examples of each test, see hypothesis_examples.py.
UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("full", max_examples=100, **UNTIMED)
settings.register_profile("quick", max_examples=20, **UNTIMED)
settings.load_profile("full")


@pytest.fixture(scope="session")
def anyio_backend():
    """Run tests that are coroutines by asyncio only."""
    return "asyncio"


def pytest_collection_modifyitems(items):
    """Put files with slow tests first, so that in the end no process waits for a long one."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)

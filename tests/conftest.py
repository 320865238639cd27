"""The event loop of tests, profiles of Hypothesis, the order of files, and names of failures."""

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


def pytest_unconfigure(config):
    """Print the names of tests that failed once more, last: a message before them may be long."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # a process of xdist that does not report
        return
    for outcome in ("failed", "error"):
        for report in reporter.stats.get(outcome, []):
            reporter.write_line(f"{outcome}: {report.nodeid}")

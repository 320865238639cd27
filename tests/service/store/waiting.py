"""For what is sure to come, without a fixed time to wait."""

import time

SOON = 60  # an upper limit; what is waited for takes a moment


def until(condition):
    """Return when the condition holds."""
    deadline = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)

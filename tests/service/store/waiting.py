"""Waits for conditions that are sure to hold, without a fixed time."""

import time

from manyclass.service.store.errors import StoreUnavailable

SOON = 60  # an upper limit; a condition takes a moment to hold


def until(condition):
    """Return when the condition holds."""
    deadline = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def appended_again(store, event, append_id=0):
    """Append an event as soon as the server accepts it, and return its number."""
    deadline = time.monotonic() + SOON
    while True:
        try:
            return store.append([event], append_id)
        except StoreUnavailable:
            assert time.monotonic() < deadline
            time.sleep(0.01)

"""Dumped states: their equality, and names by id."""

import numpy as np


def assert_equal_dumps(ours, others):
    assert list(ours) == list(others)
    for name in ours:
        assert np.array_equal(ours[name], others[name]), name


def assert_same_state(ours, others):
    """Compare the states of two learners."""
    assert_equal_dumps(ours.dump(), others.dump())


def names(state, of):
    """Return the names in a dumped state, by id."""
    sizes = state[f"{of}_name_sizes"].astype(int)
    joined = state[f"{of}_names"].tobytes()
    return [
        joined[end - size : end].decode() for size, end in zip(sizes, np.cumsum(sizes), strict=True)
    ]

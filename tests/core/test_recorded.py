"""The first events of the recorded log: every learner answers and holds what it did then.

`python -m load_tests.recorded` takes all of the log.
"""

import json

import pytest

from load_tests.recorded import RECORDED, SPECIFICATIONS, differences, record


@pytest.fixture(scope="module")
def recorded():
    return json.loads(RECORDED.read_text())


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_same_as_recorded(recorded, specification):
    every = recorded["every"]
    found = record(specification, every, every)
    assert differences(specification, found, recorded) == []


def test_a_difference_is_found(recorded):
    """Another value of an option shows in the rankings, the ranks and the contents."""
    every = recorded["every"]
    found = record("ff(rating=2)", every, every)
    assert len(differences("ff", found, recorded)) == 3

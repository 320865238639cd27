"""The first events of the recorded log: every learner answers and holds what it did then.

`python -m load_tests.recorded` takes all of the log.
"""

import json

import numpy as np
import pytest

from load_tests.recorded import RECORDED, RECORDED_LEARNERS, contents, differences, record

LOG = json.loads(RECORDED.read_text())
EVERY = LOG["every"]


def test_every_learner_of_the_contract_is_recorded_over_the_whole_log():
    digests = LOG["digests"]
    assert {name: len(digests[name]) * EVERY for name in digests} == dict.fromkeys(
        RECORDED_LEARNERS, 50_000
    )


@pytest.mark.parametrize("specification", RECORDED_LEARNERS)
def test_same_as_recorded(specification):
    found = record(specification, EVERY, EVERY)
    assert differences(specification, found, LOG) == []


def test_a_difference_is_found():
    """Another value of an option shows in the rankings, the ranks and the contents."""
    found = record("ff(rating=2)", EVERY, EVERY)
    assert len(differences("ff", found, LOG)) == 3


def test_contents_are_the_values_of_the_arrays_alone():
    masses, times = np.array([0.5, 2.0]), np.array([3, 1], np.uint32)
    before = contents({"masses": masses, "times": times})
    assert contents({"renamed": times, "masses": masses, "new": times[:0]}) == before
    assert contents({"masses": masses, "times": times + 1}) != before

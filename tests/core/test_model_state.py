"""The header of a snapshot is read as it was written, or refused by name."""

import pytest

from manyclass.core.errors import SnapshotError
from manyclass.core.model_state import marks_of

HEADER = {"seq": 9, "rules": 1, "learners": {}, "text": ""}


def test_marks_of_restores_are_read():
    assert marks_of(HEADER | {"restores": [[4, 2], [9, 8]]}) == (9, [(4, 2), (9, 8)])


@pytest.mark.parametrize(
    "mark", [4, [4], [4, 2, 1], [4, "2"], [4, -1], [4, 4], [10, 2], [0, 0], None]
)
def test_a_mark_that_cannot_be_is_named(mark):
    with pytest.raises(SnapshotError, match="which is not a mark"):
        marks_of(HEADER | {"restores": [mark]})


@pytest.mark.parametrize("restores", [[[4, 2], [4, 2]], [[5, 2], [4, 2]]])
def test_marks_that_do_not_rise_are_named(restores):
    with pytest.raises(SnapshotError, match=r"holds \[4, 2\], which is not a mark"):
        marks_of(HEADER | {"restores": restores})


@pytest.mark.parametrize("seq", [-1, "9", None, True])
def test_a_number_of_events_that_is_none_is_named(seq):
    with pytest.raises(SnapshotError, match="must be the number of an event"):
        marks_of(HEADER | {"seq": seq, "restores": []})

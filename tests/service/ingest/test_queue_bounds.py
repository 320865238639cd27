"""The instances that leave the queue when there is no room, and the room for given ones."""

import pytest

from manyclass.service.ingest.queue_bounds import QueueBounds
from manyclass.service.ingest.queued_instance import Head
from manyclass.service.ingest.second_labels import LabelPair

NOW = 1000.0


def head(confidence, age=0.0, given=False, size=10, pair=None):
    return Head(NOW - age, confidence, "x", None, None, given, False, size, pair=pair)


HEADS = {
    "unknown": head(None),
    "sure": head(0.9),
    "surer": head(0.95, size=30),
    "given": head(0.99, given=True),
    "labelled": head(0.97, given=True, pair=LabelPair("anna", ("x",))),
    "old": head(None, age=101.0, given=True),
}


@pytest.mark.parametrize(
    ("items", "size", "gone"),
    [
        (5, 1000, {"old"}),
        (4, 1000, {"old", "labelled"}),
        (3, 1000, {"old", "labelled", "surer"}),
        (5, 60, {"old", "labelled"}),
        (5, 59, {"old", "labelled", "surer"}),
        (1, 1000, {"old", "labelled", "surer", "sure", "unknown"}),
        (0, 0, {"old", "labelled", "surer", "sure", "unknown"}),  # given ones stay
    ],
)
def test_the_most_certain_go_first_and_what_is_too_old(items, size, gone):
    assert {*QueueBounds(items, size, 100.0).surplus(HEADS, [], NOW)} == gone


def test_what_is_over_makes_room():
    bounds = QueueBounds(4, 1000, 100.0)
    assert {*bounds.surplus(HEADS, ["unknown"], NOW)} == {"old", "unknown"}


def test_given_instances_have_the_room_of_all_that_need_not_stay():
    given = {name: head(None, given=True) for name in ("given", "new", "newer")}
    assert QueueBounds(4, 40, 100.0).have_room(HEADS, given)  # with "old", which waits too
    assert not QueueBounds(3, 40, 100.0).have_room(HEADS, given)
    assert not QueueBounds(4, 39, 100.0).have_room(HEADS, given)

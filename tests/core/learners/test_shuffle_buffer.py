"""The events that a member of a committee keeps back."""

import pytest
from manyclass.core.learners.shuffle_buffer import EVENT_BYTES, ShuffleBuffer

from manyclass.core.event import Event
from manyclass.core.instance import Instance

ICE, BALL = Instance(["ice"]), Instance(["ball"])


@pytest.fixture
def buffer():
    made = ShuffleBuffer()
    for instance, classes in ((ICE, ["a"]), (ICE, ["b"]), (BALL, ["a"]), (ICE, ["a", "b"])):
        made.add(Event.learn(instance, classes), True)
    return made


def held(buffer):
    taken = [buffer.take(0)[0] for _ in range(len(buffer))]
    assert buffer.bytes == 0
    return sorted((event.instance == ICE, event.classes) for event in taken)


def test_only_events_of_both_the_instance_and_the_classes_are_dropped(buffer):
    assert buffer.drop(ICE, ["a"]) == 1
    assert held(buffer) == [(False, ["a"]), (True, ["a", "b"]), (True, ["b"])]


def test_an_event_that_is_not_held_drops_nothing(buffer):
    before = buffer.bytes
    assert buffer.drop(BALL, ["b"]) == 0
    assert (len(buffer), buffer.bytes) == (4, before)


def test_a_forgotten_class_takes_its_events_along_unless_they_have_another(buffer):
    assert buffer.has_class("a")
    assert buffer.forget_class("a")
    assert not buffer.has_class("a")
    assert not buffer.forget_class("a")
    assert held(buffer) == [(True, ["b"]), (True, ["b"])]


def test_a_drawn_number_of_any_size_picks_an_event_and_the_last_takes_its_place(buffer):
    assert buffer.take(4 * 10**9 + 1)[0].classes == ["b"]
    assert buffer.take(1)[0].classes == ["a", "b"]


def test_bytes_are_those_of_the_events_and_a_constant_for_each():
    buffer = ShuffleBuffer()
    event = Event.learn(ICE, ["a"])
    buffer.add(event, False)
    assert buffer.bytes == len(bytes(event)) + EVENT_BYTES
    taken, is_first_epoch = buffer.take(0)
    assert (taken.classes, is_first_epoch, buffer.bytes) == (["a"], False, 0)

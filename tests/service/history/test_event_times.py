"""The times of events that are stored with those before them."""

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.service.history.event_times import dated, stamped

ONE, TWO, THREE = (bytes(Event.learn(Instance([name]), ["x"])) for name in "abc")


def test_events_without_a_time_have_that_of_the_one_before():
    events = [(1, ONE), (2, Event.stamped(TWO, 70)), (3, THREE)]
    assert [time for _, _, time in dated(events, 50)] == [50, 70, 70]
    assert [time for _, _, time in dated(events)] == [0, 70, 70]


def test_an_event_is_stamped_where_the_one_before_does_not_tell_its_time():
    made = stamped([ONE, TWO, THREE], [50, 50, 70])
    assert [Event.time_of(each) or None for each in made] == [50, None, 70]
    assert made[1] == TWO


def test_an_event_that_is_gone_stays_empty():
    assert stamped([b"", TWO], [50, 50]) == [b"", Event.stamped(TWO, 50)]


def test_stamped_events_have_the_times_they_were_given():
    times = [50, 50, 70, 50]
    made = stamped([ONE, TWO, THREE, ONE], times)
    assert [time for _, _, time in dated(enumerate(made, 1))] == times

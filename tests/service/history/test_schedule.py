"""When amended events are learned again."""

from manyclass.service.history.schedule import RebuildSchedule
from tests.service.faulty import Clock


def schedule(seconds=100.0):
    clock = Clock()
    clock.now = 1000.0
    return RebuildSchedule(seconds, clock), clock


def test_amendments_are_due_once_they_have_waited():
    rebuilds, clock = schedule()
    assert not rebuilds.is_due(0, 0.0)
    assert not rebuilds.is_due(2, 0.0)
    clock.now += 99
    assert not rebuilds.is_due(3, 99.0)
    clock.now += 1
    assert rebuilds.is_due(3, 100.0)
    assert not rebuilds.is_due(3, 100.0)  # a rebuild that fails is not tried again at once
    clock.now += 100
    assert rebuilds.is_due(3, 200.0)


def test_a_restart_does_not_make_them_wait_anew():
    rebuilds, clock = schedule()
    assert not rebuilds.is_due(1, 60.0)
    clock.now += 40
    assert rebuilds.is_due(1, 100.0)
    rebuilds, _ = schedule()
    assert rebuilds.is_due(1, 1e9)
    assert not rebuilds.is_due(1, 1e9)


def test_a_wall_clock_that_is_set_does_not_start_a_rebuild():
    rebuilds, clock = schedule()
    assert not rebuilds.is_due(0, 0.0)
    assert not rebuilds.is_due(1, 1e9)
    clock.now += 1
    assert not rebuilds.is_due(1, 1e9)


def test_without_a_time_a_rebuild_is_never_due():
    rebuilds, clock = schedule(0.0)
    assert not rebuilds.is_due(1, 1e9)
    clock.now += 1e9
    assert not rebuilds.is_due(1, 1e9)

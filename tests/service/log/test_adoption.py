"""A restore that undoes a rebuilt state; test_interpreter.py adopts states."""

from manyclass.service.log.adoption import is_undone


def test_a_state_is_undone_by_a_restore_between_it_and_its_adoption():
    undone = [mark for mark in range(10) if is_undone([(2, 1), (mark, 1)], made_at=4, adopted_at=7)]
    assert undone == [5, 6]  # the mark of event 4 is in the state, and event 7 adopts it

"""LiveModel: the model in use, through every state of an engine."""

import pytest

from manyclass.service.errors import NotReady
from manyclass.service.log.live_model import LiveModel
from manyclass.service.store.protocol import SnapshotInfo
from tests.service.engines import model_of
from tests.service.faulty import learn


def model_at(seq):
    return model_of(*(learn("a b", f"c{number}") for number in range(seq)))


def test_there_is_none_at_first():
    live = LiveModel()
    assert not live.is_loaded
    with pytest.raises(NotReady):
        _ = live.model
    assert live.position is None
    assert set(live.counts()) == {0}


def test_a_stand_in_ranks_and_a_current_model_takes_its_place():
    live = LiveModel()
    first, newer, current = model_at(1), model_at(2), model_at(3)
    for stand_in in (first, newer):
        live.stand_in(stand_in)
        assert live.model is stand_in
    live.stand_in(None)
    assert live.model is newer
    assert (live.is_loaded, live.is_current) == (True, False)
    live.use(current)
    assert live.is_current
    live.lose()
    live.stand_in(first)
    assert live.model is current  # the old state is better than an older one


def test_the_position_is_that_of_the_recovery_unless_the_model_is_current():
    live = LiveModel()
    live.recovery.snapshot = SnapshotInfo(5, 100, 0.0)
    live.recovery.replayed = 2
    assert live.position == 7
    live.use(model_at(9))
    assert live.position == 9
    live.stop()
    assert live.position == 7


def test_a_loss_is_counted_and_ends_with_the_next_model():
    live = LiveModel()
    live.use(model_at(1))
    live.stop()
    assert (live.is_current, live.is_lost, live.times_lost) == (False, False, 0)
    live.lose()
    assert (live.is_current, live.is_lost, live.times_lost) == (False, True, 1)
    live.use(model_at(2))
    assert (live.is_current, live.is_lost, live.times_lost) == (True, False, 1)

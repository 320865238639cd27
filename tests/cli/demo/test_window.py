import pytest

from manyclass.cli.demo.window import Window


def test_recall_and_reciprocal_rank_over_what_was_added():
    window = Window(10)
    window.add([1, 2, None, 5, 6])
    assert window.recall(1) == pytest.approx(1 / 5)
    assert window.recall(5) == pytest.approx(3 / 5)
    assert window.reciprocal_rank() == pytest.approx((1 + 1 / 2 + 0 + 1 / 5 + 1 / 6) / 5)


def test_the_oldest_fall_out():
    window = Window(2)
    window.add([None, 1, 1])
    assert window.recall(1) == 1.0


def test_without_events_everything_is_zero():
    assert (Window(5).recall(1), Window(5).reciprocal_rank()) == (0.0, 0.0)

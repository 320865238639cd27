import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.dedup_window import DedupWindow


@given(st.lists(st.integers(0, 400).map(str)), st.integers(1, 150))
def test_it_remembers_the_last_ones_and_only_those(ids, capacity):
    recent, kept = DedupWindow(capacity), {}
    for seq, event_id in enumerate(ids):
        recent.add(event_id, seq, seq * 3)
        if event_id not in kept:
            if len(kept) == capacity:
                del kept[next(iter(kept))]
            kept[event_id] = (seq, seq * 3)
    again = DedupWindow.load(recent.dump(), capacity)
    assert len(recent) == len(again) == len(kept)
    for event_id in {*ids, "never"}:
        assert recent.find(event_id) == again.find(event_id) == kept.get(event_id)


def test_it_grows_and_goes_round():
    recent = DedupWindow(5_000)
    for seq in range(12_000):
        recent.add(f"event {seq}", seq, 0)
    assert [recent.find(f"event {seq}") for seq in (6_999, 7_000, 11_999)] == [
        None,
        (7_000, 0),
        (11_999, 0),
    ]
    rows = recent.dump()
    assert rows[:, 3].tolist() == list(range(7_000, 12_000))


@pytest.mark.parametrize("rows", [np.zeros((2, 4), np.uint64), np.zeros((1, 3), np.uint64)])
def test_rows_that_are_none_are_refused(rows):
    with pytest.raises(ValueError, match="remembered"):
        DedupWindow.load(rows)


def test_a_capacity_of_none_is_refused():
    with pytest.raises(ValueError, match="capacity"):
        DedupWindow(0)

"""The baseline ranks classes by their number of updates and ignores the instance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options

CLASSES = ["a", "b", "c", "d", "e"]


@given(
    st.lists(st.lists(st.sampled_from(CLASSES), min_size=1, unique=True)), st.sampled_from([50, 2])
)
def test_classes_stand_in_the_order_of_their_counts(stream, window):
    learner = Learner(Options.of("frequency", retrieval_window=window))
    counts = {}
    for classes in stream:
        ranked = sorted(counts, key=lambda name: -counts[name])[:window]  # older classes first
        places = [ranked.index(name) + 1 for name in classes if name in ranked]
        assert learner.learn({"f": 1.0}, classes)[:2] == (min(places, default=0), True)
        for name in classes:
            counts[name] = counts.get(name, 0) + 1

    order = sorted(counts, key=lambda name: -counts[name])[:window]
    whole = sum(counts[name] for name in order)
    expected = [(name, pytest.approx(counts[name] / whole)) for name in order]
    assert learner.rank({"whatever": 1.0}, 100) == expected
    assert learner.rank([], 1) == expected[:1]
    assert learner.features == learner.edges == 0


def test_given_classes_beyond_the_window_are_ranked_too():
    learner = Learner(Options.of("frequency", retrieval_window=2))
    for name in "aaabbc":
        learner.learn([], [name])

    assert learner.rank([], 5) == [("a", 3 / 5), ("b", 2 / 5)]
    assert learner.rank([], 5, None, ["c", "b"]) == [("b", 2 / 5), ("c", 1 / 5)]
    assert learner.rank([], 5, 0.2, ["c", "b"]) == [("b", 2 / 5)]


def test_a_forgotten_class_is_ranked_no_more_and_begins_anew():
    learner = Learner(Options.of("frequency"))
    for name in "aabbbc":
        learner.learn([], [name])
    learner.forget_class("b")
    assert learner.rank([], 5) == [("a", pytest.approx(2 / 3)), ("c", pytest.approx(1 / 3))]

    learner.learn([], ["b"])
    assert [name for name, _ in learner.rank([], 5)] == ["a", "c", "b"]

"""EMA's moving averages and IND's conditional probabilities, by their formulas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options

CLASSES = ["a", "b", "c"]
ALWAYS = 1e9  # a margin that no class exceeds

named = st.sampled_from(CLASSES)


@given(st.lists(st.tuples(st.floats(0.01, 1.5), named), max_size=80), st.sampled_from([0.7, 0.1]))
def test_an_averaged_weight_is_a_sum_that_fades(stream, rate):
    learner = Learner(
        Options.of(
            "ema", rate=rate, normalize="none", min_weight=0, margin_threshold=ALWAYS, rating=0
        )
    )
    expected = dict.fromkeys(CLASSES, 0.0)
    for value, name in stream:
        learner.learn({"f": value}, [name])
        beta = min(1.0, rate * value)
        expected = {each: weight * (1 - beta) for each, weight in expected.items()}
        expected[name] += beta

    weights = dict(learner.feature("f")["edges"]) if stream else {}
    for name in CLASSES:
        assert weights.get(name, 0.0) == pytest.approx(expected[name], rel=1e-4, abs=1e-12)


def test_a_light_average_is_dropped():
    learner = Learner(
        Options.of(
            "ema", rate=0.5, normalize="none", min_weight=0.2, margin_threshold=ALWAYS, rating=0
        )
    )
    weights = []
    for name in "abbc":
        learner.learn({"f": 1.0}, [name])
        weights.append(learner.feature("f")["edges"])

    assert weights == [
        [("a", 0.5)],
        [("b", 0.5), ("a", 0.25)],
        [("b", 0.75)],  # a has 0.125
        [("c", 0.5), ("b", 0.375)],
    ]


def test_averages_need_not_add_up_to_1():
    learner = Learner(Options.of("ema", rate=0.25, normalize="none", rating=0))
    learner.learn({"f": 1.0}, ["a"])

    assert learner.rank({"f": 1.0}) == [("a", 0.25)]


@given(
    st.lists(
        st.tuples(
            st.sets(st.sampled_from("fgh"), min_size=1), st.sets(named, min_size=1).map(sorted)
        ),
        max_size=30,
    )
)
def test_independent_weights_are_conditional_probabilities(stream):
    learner = Learner(Options.of("ind", min_weight=0.3))
    for features, classes in stream:
        learner.learn(sorted(features), classes)

    for feature in {name for features, _ in stream for name in features}:
        labels = [name for features, classes in stream if feature in features for name in classes]
        shares = {name: labels.count(name) / len(labels) for name in labels}
        assert dict(learner.feature(feature)["edges"]) == shares
        ranked = learner.rank([feature], 100)
        voting = {name: share for name, share in shares.items() if share >= 0.3}
        assert dict(ranked) == pytest.approx(voting)

"""The promises of OOZ about its weights, scores and deductions."""

from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from tests.core.references.ooz import deductions

FEATURES = ["f", "g", "h", "i"]
CLASSES = ["a", "b", "c", "d", "e"]
ROUNDING = 1e-6  # of weights up to 1 in single precision, several times

instances = st.dictionaries(
    st.sampled_from(FEATURES), st.floats(2.0**-7, 2, width=32), min_size=1, max_size=4
)
lessons = st.tuples(instances, st.sampled_from(CLASSES))
several = st.tuples(instances, st.lists(st.sampled_from(CLASSES), min_size=1, unique=True))
rates = st.sampled_from([0.9, 0.2, 0.05])
negatives = st.sampled_from([15, 1, 2, 3])


def options(rate, negatives, **others):
    others = {"margin_threshold": 2 * rate, **others}
    return Options.of("ooz", rate=rate, negatives=negatives, **others)


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0, 1), st.floats(0, 1), negatives)
def test_deductions_sum_to_beta_at_most_and_never_rise_as_scores_fall(scores, gap, beta, most):
    scores = sorted(scores, reverse=True)[:most]
    given = deductions(scores, min(scores, default=0) - gap, beta, most)

    assert len(given) == len(scores)
    assert fsum(given) <= beta + 1e-12
    assert given == sorted(given, reverse=True)
    assert min(given, default=0) >= 0


def test_deductions_walk_down_the_scores():
    assert deductions([0.5, 0.25, 0.125], 0.0, 10.0, 15) == [
        0.25 + 0.125 / 2 + 0.125 / 3,
        0.125 / 2 + 0.125 / 3,
        0.125 / 3,
    ]
    assert deductions([0.5, 0.25, 0.125], 0.0, 0.3125, 15) == [0.25 + 0.0625 / 2, 0.0625 / 2, 0]
    assert deductions([0.5, 0.25], 0.0, 1.0, 2) == [0.25 + 0.75 / 2, 0.75 / 2]


@given(
    st.lists(several, max_size=20),
    rates,
    negatives,
    st.sampled_from([1, 2, 100]),
    st.sampled_from(["l2", "none"]),
)
def test_no_row_has_more_than_1_to_give(stream, rate, negatives, max_outdegree, normalize):
    learner = Learner(options(rate, negatives, max_outdegree=max_outdegree, normalize=normalize))
    for instance, classes in stream:
        learner.learn(instance, classes)
        for name in instance:
            row = learner.feature(name)
            weights = [weight for _, weight in row["edges"]]
            assert all(0 < weight <= 1 for weight in weights)
            assert fsum(weights) <= 1 + 1e-12
            assert row["mass"] == pytest.approx(fsum(weights), abs=1e-12)
            assert row["outdegree"] <= max_outdegree


@given(st.lists(lessons, max_size=20), rates, negatives)
def test_scores_move_by_beta_at_most(stream, rate, negatives):
    learner = Learner(options(rate, negatives))
    for instance, true in stream:
        before = dict(learner.rank(instance, 100))
        updated = learner.learn(instance, [true]).updated
        after = dict(learner.rank(instance, 100))
        gains = {name: after.get(name, 0.0) - before.get(name, 0.0) for name in CLASSES}
        gain = gains.pop(true)
        assert (gain > 0) <= updated
        assert gain <= rate + ROUNDING
        assert max(gains.values()) <= 0
        assert -sum(gains.values()) <= rate + ROUNDING
        assert sum(each < 0 for each in gains.values()) <= negatives
        least = before.get(true, 0.0) - 2 * rate
        assert all(gains[name] == 0 for name in gains if before.get(name, 0.0) <= least)


@given(st.lists(st.sampled_from(CLASSES), max_size=30), st.sampled_from(CLASSES), rates, negatives)
def test_of_one_feature_each_negative_gives_its_deduction(stream, true, rate, negatives):
    learner = Learner(options(rate, negatives))
    for name in stream:
        learner.learn({"f": 1.0}, [name])
    before = dict(learner.rank({"f": 1.0}, 100))
    updated = learner.learn({"f": 1.0}, [true]).updated
    after = dict(learner.rank({"f": 1.0}, 100))

    least = before.pop(true, 0.0) - 2 * rate
    giving = [name for name, score in before.items() if updated and score > least][:negatives]
    given = deductions([before[name] for name in giving], least, rate, negatives)
    for name, most in zip(giving, given, strict=True):
        lost = before[name] - after.get(name, 0.0)
        assert lost == pytest.approx(min(most, before[name]), abs=ROUNDING)


def test_negatives_give_first_and_then_what_is_free():
    learner = Learner(options(0.25, 15))
    assert learner.learn({"f": 1.0}, ["a"])[:2] == (0, True)
    assert learner.feature("f")["edges"] == [("a", 0.25)]  # all of beta from what is free
    assert learner.learn({"f": 1.0}, ["b"])[:2] == (0, True)

    # a, 0.25 above b, is 0.75 above where it would stand well: it gives all of beta, and is gone
    assert learner.feature("f")["edges"] == [("b", 0.25)]
    assert learner.feature("f")["mass"] == 0.25


def test_an_edge_that_finds_no_room_leaves_its_weight_free():
    learner = Learner(options(0.125, 15, max_outdegree=1))
    for _ in range(3):
        learner.learn({"f": 1.0}, ["a"])
    assert learner.feature("f")["edges"] == [("a", 0.375)]
    learner.learn({"f": 1.0}, ["b"])

    assert learner.feature("f")["edges"] == [("a", 0.25)]
    assert learner.feature("f")["mass"] == 0.25


def test_a_larger_value_gives_more():
    learner = Learner(options(0.5, 15, normalize="none"))
    learner.learn({"f": 0.25, "g": 1.0}, ["a"])

    assert learner.feature("f")["edges"] == [("a", 0.125)]
    assert learner.feature("g")["edges"] == [("a", 0.5)]


def test_beta_is_half_of_the_margin_at_most():
    learner = Learner(Options.of("ooz", rate=0.9, margin_threshold=0.5))
    learner.learn({"f": 1.0}, ["a"])

    assert learner.feature("f")["edges"] == [("a", 0.25)]


def test_a_negative_gives_no_more_in_all_than_it_is_to_give():
    learner = Learner(options(0.5, 15, normalize="none", margin_threshold=0.25))
    learner.learn({"f": 1.0, "g": 1.0}, ["a"])
    assert dict(learner.class_("a")["features"]) == {"f": 0.125, "g": 0.125}
    learner.learn({"f": 0.5, "g": 0.5}, ["b"])  # each may move 1/16, a is to give 1/8 in all

    assert dict(learner.class_("b")["features"]) == {"f": 0.0625, "g": 0.0625}
    assert dict(learner.class_("a")["features"]) == {"f": 0.0625, "g": 0.0625}
    learner = Learner(options(0.5, 15, normalize="none", margin_threshold=0.25))
    learner.learn({"f": 1.0, "g": 1.0}, ["a"])
    learner.learn({"f": 1.0, "g": 1.0}, ["b"])  # f gives all that a is to give, g what is free

    assert dict(learner.class_("b")["features"]) == {"f": 0.125, "g": 0.125}
    assert dict(learner.class_("a")["features"]) == {"g": 0.125}

"""The reference of feature focus itself, on cases worked out by hand from its definition."""

from dataclasses import replace
from math import log, sqrt

import pytest
from numpy import float32

from manyclass.core.learners.options import Options
from tests.core.references.ff import FeatureFocus
from tests.core.references.state import Edge, Feature

PLAIN = Options(normalize="none", rating=0, margin_threshold=0, mass_cap=0, sublinear=False)


def taught(options, *lessons):
    learner = FeatureFocus(options)
    for instance, classes in lessons:
        learner.learn(instance, classes)
    return learner


def row(learner, name):
    return [(edge.to, float(edge.mass)) for edge in learner.rows[name].edges]


def test_first_update_makes_an_edge_of_full_weight():
    learner = FeatureFocus(PLAIN)

    assert learner.learn({"f": 2.0}, ["c"])[:2] == (0, True)
    assert learner.feature("f")["edges"] == [("c", 1.0)]
    assert learner.rank({"f": 3.0}) == [("c", 3.0)]


def test_weights_are_shares_of_the_feature_mass():
    options = replace(PLAIN, margin_threshold=100.0)  # always learn
    learner = taught(options, ({"f": 1}, ["a"]), ({"f": 1}, ["b"]), ({"f": 2}, ["b"]))

    assert row(learner, "f") == [("b", 3.0), ("a", 1.0)]
    assert learner.feature("f")["edges"] == [("b", 0.75), ("a", 0.25)]
    assert learner.rank({"f": 1, "unknown": 9}) == [("b", 0.75), ("a", 0.25)]


def test_an_edge_passes_only_strictly_lighter_ones():
    options = replace(PLAIN, margin_threshold=100.0)
    learner = taught(options, ({"f": 1}, ["a"]), ({"f": 1}, ["b"]), ({"f": 1}, ["c"]))
    assert row(learner, "f") == [("a", 1), ("b", 1), ("c", 1)]

    learner.learn({"f": 1}, ["c"])
    assert row(learner, "f") == [("c", 2), ("a", 1), ("b", 1)]
    learner.learn({"f": 1}, ["b"])
    assert row(learner, "f") == [("c", 2), ("b", 2), ("a", 1)]


def test_no_update_when_the_margin_is_above_the_threshold():
    learner = taught(PLAIN, ({"f": 1}, ["a"]))

    assert learner.learn({"f": 1}, ["a"])[:2] == (1, False)  # margin 1 > 0
    assert row(learner, "f") == [("a", 1)]
    assert learner.rows["f"].times_seen == 2

    learner.configure(replace(PLAIN, margin_threshold=1.0))
    assert learner.learn({"f": 1}, ["a"])[:2] == (1, True)  # margin 1 <= 1
    assert row(learner, "f") == [("a", 2)]


def test_dropped_mass_leaks_or_not():
    lessons = [({"f": 3}, ["a"]), ({"f": 1}, ["b"])]  # b would weigh 1/4
    leaking = taught(replace(PLAIN, min_weight=0.3), *lessons)
    tight = taught(replace(PLAIN, min_weight=0.3, leak=False), *lessons)

    assert leaking.feature("f")["edges"] == [("a", 0.75)]
    assert leaking.rows["f"].mass == 4
    assert tight.feature("f")["edges"] == [("a", 1.0)]
    assert tight.rows["f"].mass == 3


def test_rating_lets_little_seen_features_vote_less():
    learner = taught(replace(PLAIN, rating=10), ({"f": 1}, ["a"]))
    assert learner.rank({"f": 1}) == [("a", 0.1)]

    for _ in range(20):
        learner.learn({"f": 1}, ["a"])
    assert learner.rank({"f": 1}) == [("a", 1.0)]


def test_l2_counts_unknown_features_in_the_norm():
    learner = taught(Options(rating=0, sublinear=False), ({"f": 1}, ["a"]))

    assert learner.rank({"f": 3, "unknown": 4}) == [("a", pytest.approx(0.6))]


def test_boolean_values_are_one_and_not_scaled():
    learner = taught(Options(rating=0, binarize=True), ({"f": 5, "g": 7}, ["a"]))

    assert learner.rank({"f": 9, "g": 0.1}) == [("a", 2.0)]
    assert learner.rank({"f": 9, "g": -1}) == [("a", 1.0)]


def test_tfidf_counts_learned_instances_only():
    options = replace(PLAIN, tfidf=True)
    learner = taught(options, ({"f": 1}, ["a"]), ({"g": 1}, ["a"]), ({"f": 1}, ["a"]))

    assert learner.prepare({"f": 2, "g": 1, "h": 1}) == {
        "f": 2 * log(4 / 3) + 2,
        "g": log(4 / 2) + 1,
        "h": log(4 / 1) + 1,
    }
    assert learner.rows["f"].times_seen == 2


def test_scores_use_the_heaviest_edges_only():
    options = replace(PLAIN, margin_threshold=100.0, max_outdegree=1)
    learner = taught(options, ({"f": 2}, ["a"]), ({"f": 1}, ["b"]))

    assert row(learner, "f") == [("a", 2), ("b", 1)]
    assert learner.rank({"f": 1}) == [("a", pytest.approx(2 / 3))]
    assert learner.edges_touched == 0 + 1 + 1  # two updates and a rank
    assert learner.active_features_ranked == 2 + 1


def test_equal_scores_rank_the_older_class_first():
    learner = taught(PLAIN, ({"x": 1}, ["z"]), ({"y": 1}, ["a"]))
    assert learner.rank({"y": 1, "x": 1}) == [("z", 1.0), ("a", 1.0)]

    learner.forget_class("z")
    learner.learn({"x": 1}, ["z"])  # now the younger one
    assert learner.rank({"y": 1, "x": 1}) == [("a", 1.0), ("z", 1.0)]


def test_a_class_outside_the_window_scores_nothing():
    options = replace(PLAIN, margin_threshold=100.0)
    learner = taught(options, ({"f": 3}, ["a"]), ({"f": 2}, ["b"]))

    learner.configure(replace(PLAIN, retrieval_window=1, margin_threshold=-0.5))
    # 0 - 3/5 <= -1/2, though 2/5 - 3/5 is not
    assert learner.learn({"f": 1}, ["b"])[:2] == (2, True)


def test_margins_are_taken_before_any_update():
    learner = FeatureFocus(PLAIN)

    assert learner.learn({"f": 1}, ["a", "b"])[:2] == (0, True)
    assert row(learner, "f") == [("a", 1), ("b", 1)]
    # no other class scores: margins 1/2
    assert learner.learn({"f": 1}, ["a", "b"])[:2] == (1, False)


def test_finite_memory_halves_the_row():
    options = replace(PLAIN, margin_threshold=100.0, mass_cap=4)
    learner = taught(options, ({"f": 3}, ["a"]), ({"f": 2}, ["b"]))

    assert row(learner, "f") == [("a", 1.5), ("b", 1.0)]
    assert learner.rows["f"].mass == 2.5


def test_a_row_never_outgrows_single_precision():
    learner = taught(PLAIN, ({"f": 2.0**21}, ["a"]))

    assert row(learner, "f") == [("a", 2.0**16)]


def test_a_value_lost_in_single_precision_changes_no_row():
    learner = taught(
        Options(margin_threshold=0, mass_cap=0, sublinear=False),
        ({"f": 1e-30, "g": 1e30, "no value": 1e-31}, ["a"]),
    )

    assert row(learner, "f") == []  # 1e-60 once it is scaled
    assert row(learner, "g") == [("a", 1.0)]
    assert learner.rows["f"].times_seen == 1
    assert "no value" not in learner.rows


def test_forgetting_a_class_takes_its_mass_along():
    options = replace(PLAIN, margin_threshold=100.0)
    learner = taught(options, ({"f": 3}, ["a"]), ({"f": 1}, ["b"]), ({"g": 1}, ["b"]))

    assert learner.forget_class("b")
    assert not learner.forget_class("b")
    assert learner.feature("f")["edges"] == [("a", 1.0)]
    assert learner.feature("g") == {
        "times_seen": 1,
        "rating": 1.0,
        "outdegree": 0,
        "mass": 0.0,
        "edges": [],
    }


def test_freed_ids_are_given_again_the_last_freed_first():
    learner = taught(PLAIN, ({"f": 1, "g": 1, "h": 1}, ["a"]))
    learner.forget_feature("f")
    learner.forget_feature("g")
    learner.learn({"i": 1, "j": 1, "k": 1}, ["a"])

    assert {name: learner.rows[name].id for name in "hijk"} == {"h": 2, "i": 1, "j": 0, "k": 3}


def test_the_feature_idle_longest_makes_room():
    learner = taught(
        replace(PLAIN, max_features=2),
        ({"f": 1}, ["a"]),
        ({"g": 1}, ["a"]),
        ({"f": 1}, ["a"]),
        ({"h": 1}, ["a"]),
    )

    assert set(learner.rows) == {"f", "h"}
    assert learner.evicted_features == 1


def test_an_event_never_evicts_its_own_names():
    learner = taught(replace(PLAIN, max_features=2), ({"f": 1}, ["a"]))
    learner.learn({"g": 1, "h": 1, "f": 1}, ["a"])

    assert set(learner.rows) == {"f", "g"}  # f was there, g took the free place, h found none
    assert learner.evicted_features == 0


def test_the_class_idle_longest_makes_room():
    options = replace(PLAIN, max_classes=2, margin_threshold=100.0)
    learner = taught(options, ({"f": 1}, ["a"]), ({"f": 1}, ["b"]), ({"f": 2}, ["a"]))
    learner.learn({"f": 1}, ["c"])

    assert set(learner.labels) == {"a", "c"}
    assert row(learner, "f") == [("a", 3), ("c", 1)]
    assert learner.evicted_classes == 1


def test_one_of_64_neighbours_goes_and_the_hand_moves_on():
    learner = FeatureFocus(replace(PLAIN, max_features=128))
    for number in range(128):
        learner.learn({f"f{number}": 1}, ["a"])
    learner.learn({"f0": 1}, ["a"])
    gone = []
    for number in range(3):
        before = set(learner.rows)
        learner.learn({f"new {number}": 1}, ["a"])
        gone.append(before - set(learner.rows))

    assert gone == [{"f1"}, {"f64"}, {"f2"}]
    assert learner.features == 128
    assert learner.evicted_features == 3


def test_bytes_are_held_by_forgetting_features():
    name = "x" * 20_000
    learner = FeatureFocus(replace(PLAIN, max_bytes=2**20))
    for number in range(100):
        learner.learn({f"{name}{number}": 1}, ["a"])

    assert learner.bytes <= 2**20
    assert learner.features == 2**20 // (20_000 + 2 + 52 + 9)
    assert learner.evicted_features == 100 - learner.features


def test_explain_gives_each_feature_its_share():
    options = replace(PLAIN, margin_threshold=100.0)
    learner = taught(options, ({"f": 1, "g": 1}, ["a"]), ({"f": 3}, ["b"]))

    assert learner.explain({"f": 2, "g": 1}, ["a", "b", "c"]) == [
        [("g", 1.0), ("f", 0.5)],
        [("f", 1.5)],
        [],
    ]
    assert learner.explain({"f": 2, "g": 1}, ["a"], limit=1) == [[("g", 1.0)]]


def test_later_passes_do_not_count_features_again():
    learner = FeatureFocus(PLAIN)
    learner.learn({"f": 1}, ["a"])
    learner.learn({"f": 1}, ["a"], is_first_epoch=False)

    assert learner.rows["f"].times_seen == 1


def test_scores_of_the_paper_are_sums_over_features():
    learner = FeatureFocus(Options(rating=0))
    learner.rows = {
        "f": Feature(0, 1, 1, 4.0, [Edge("a", float32(3)), Edge("b", float32(1))]),
        "g": Feature(1, 1, 1, 2.0, [Edge("b", float32(2))]),
    }
    learner.learn({}, ["a", "b"])

    assert learner.rank({"f": 1, "g": 1}) == [
        ("b", pytest.approx((0.25 + 1) / sqrt(2))),
        ("a", pytest.approx(0.75 / sqrt(2))),
    ]

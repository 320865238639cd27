from dataclasses import replace

import numpy as np
import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation import run
from manyclass.evaluation.estimator import UsesTaxonomy
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.evaluation.run import Stream, fit_and_test, stream_through, train_and_test
from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.rows import Rows
from tests.evaluation.examples import Always, separable


@pytest.fixture
def parts():
    rows = separable(80)
    return rows.split(0.75)


def test_a_learner_is_tested_after_each_pass(parts):
    outcome = train_and_test(Options(), *parts, passes=3, seed=7)

    assert outcome.seed == 7
    assert [each.number for each in outcome.passes] == [1, 2, 3]
    seconds = [each.train_seconds for each in outcome.passes]
    assert 0 < seconds[0] < seconds[1] < seconds[2]
    last = outcome.passes[-1]
    assert last.test["R1"] == 1
    assert last.training["R1"] == 1
    assert last.edges > 0
    assert last.bytes > 0
    assert outcome.ranks_per_second > 0


def test_d_is_edges_touched_for_each_known_active_feature():
    # both features of a test row are known: one has 2 edges, one has 1; the third is unknown
    rows = Rows.of(
        [
            ({"two": 1.0, "one": 1.0}, ["a"]),
            ({"two": 1.0}, ["b"]),
            ({"two": 1.0, "one": 1.0, "never": 1.0}, ["a"]),
        ]
    )
    options = Options(margin_threshold=10.0, rating=0)

    (only,) = train_and_test(options, *rows.split(2 / 3)).passes

    assert only.touched == pytest.approx(1.5)
    assert only.edges == 3


def test_test_rows_are_not_learned(parts):
    training, _ = parts
    other = replace(training, class_indices=(training.class_indices + 1) % 4)

    outcome = train_and_test(Options(), training, other, passes=2)

    assert [each.test["R1"] for each in outcome.passes] == [0, 0]
    assert [each.training["R1"] for each in outcome.passes] == [1, 1]


def test_training_accuracy_of_many_rows_is_that_of_a_sample(parts, monkeypatch):
    monkeypatch.setattr(run, "TRAINING_ROWS", 10)
    ranked = []

    class Watched(Always):
        def rank(self, rows, k):
            ranked.append(len(rows))
            return super().rank(rows, k)

    fit_and_test(Watched(), *parts)

    assert 10 in ranked
    assert 60 not in ranked


def test_any_estimator_is_trained_once_and_tested(parts):
    estimator = Always()

    outcome = fit_and_test(estimator, *parts, seed=3)

    assert estimator.fitted == 60
    assert estimator.taxonomy is None
    (only,) = outcome.passes
    assert only.number == 1
    assert only.test["R1"] == pytest.approx(0.25)
    assert only.test["R5"] == 1
    assert only.bytes == 1000
    assert only.edges is None
    assert only.touched is None
    assert outcome.stream is None
    assert outcome.ranks_per_second > 0


def test_a_estimator_that_uses_a_taxonomy_is_given_it(parts):
    taxonomy = Taxonomy({"class 0": ["above"]})
    estimator = Always()
    assert isinstance(estimator, UsesTaxonomy)

    outcome = fit_and_test(estimator, *parts, taxonomy=taxonomy)

    assert estimator.taxonomy is taxonomy
    assert outcome.passes[0].test["taxo-loss"] > 0


def test_a_stream_is_ranked_before_it_is_learned():
    rows = separable(80)

    outcome = stream_through(Options(rating=0), rows)

    assert outcome.passes == []
    assert outcome.stream.overall["R1"] == pytest.approx(76 / 80)  # each class is new once
    assert outcome.stream.curve["R1"][0] == 0
    assert outcome.stream.curve["R1"][-1] == 1
    assert outcome.stream.curve["learned"][-1] == 80
    assert outcome.stream.edges > 0


def test_the_first_pass_over_training_rows_is_a_stream_too(parts):
    options = Options(rating=0)

    several = train_and_test(options, *parts, passes=2)

    assert several.stream.overall == stream_through(options, parts[0]).stream.overall


def test_a_curve_has_a_point_for_each_segment():
    learner = type("Learner", (), {"edges": 1})()
    of = {"learner": learner, "bytes": lambda self: 1, "first_scores": np.ones((100, 2))}
    taught = type("Taught", (), of)()
    ranks = np.array([0] * 50 + [1] * 25 + [2] * 25, np.int32)

    curve = Stream.of(ranks, 1.0, taught).curve

    assert curve["learned"] == list(range(2, 101, 2))
    assert curve["R1"] == [0] * 25 + [1] * 12 + [0.5] + [0] * 12
    assert curve["R5"] == [0] * 25 + [1] * 25
    assert curve["MRR"][-1] == 0.5


def test_a_short_stream_has_a_point_for_each_instance():
    rows = separable(3)

    assert stream_through(Options(), rows).stream.curve["learned"] == [1, 2, 3]


def test_a_learner_with_costs_learns_by_the_taxonomy():
    names = [f"c{at}" for at in range(6)]
    taxonomy = Taxonomy({name: [f"above {at // 3}"] for at, name in enumerate(names)})
    examples = [({"all": 1.0, f"f{at % 7}": 1.0}, [names[at % 6]]) for at in range(80)]
    rows = Rows.of(examples)
    training, test = rows.take(np.arange(60)), rows.take(np.arange(60, 80))
    with_costs = Options.parse("svm(cost=linear,replay=0)")
    taught = [
        train_and_test(with_costs, training, test, taxonomy=each).passes[-1]
        for each in (taxonomy, None)
    ]
    assert "taxo-loss" in taught[0].test
    streams = [stream_through(with_costs, rows, taxonomy=each).stream for each in (taxonomy, None)]
    assert streams[0] != streams[1]


def test_decoded_rankings_are_measured_with_a_taxonomy(parts):
    taxonomy = Taxonomy({f"class {at}": [f"group {at % 2}"] for at in range(4)})
    training, test = parts
    outcome = train_and_test(Options(), training, test, passes=2, taxonomy=taxonomy)
    for each in outcome.passes:
        assert each.test["R1 decoded"] == each.test["R1"] == 1
        assert each.test["taxo-loss decoded"] == each.test["taxo-loss"] == 0
    plain = train_and_test(Options(), training, test, passes=2)
    assert not [name for name in plain.passes[0].test if "decoded" in name]
    assert plain.passes[0].edges == outcome.passes[0].edges


def test_trees_are_built_of_the_training_rows_before_anything_is_learned(parts, monkeypatch):
    """Also for the learner that fits the expected losses."""
    calls = []
    for name in ("build_tree", "learn", "fit_losses"):
        call = getattr(LearnerEstimator, name)
        monkeypatch.setattr(
            LearnerEstimator,
            name,
            lambda self, rows, name=name, call=call: (
                calls.append((id(self), name, rows is parts[0])) or call(self, rows)
            ),
        )
    taxonomy = Taxonomy({f"class {at}": [f"group {at % 2}"] for at in range(4)})
    train_and_test(Options(), *parts, taxonomy=taxonomy)
    first, second = calls[0][0], calls[-1][0]
    assert calls == [
        (first, "build_tree", True),
        (first, "fit_losses", True),
        (second, "build_tree", True),
        (second, "learn", True),
    ]


def test_the_answers_of_a_stream_are_those_above_falling_limits():
    rows = separable(600)
    stream = stream_through(Options(rating=0), rows).stream
    answered, right = stream.answers["answered"], stream.answers["right"]
    assert answered == sorted(answered)
    assert 0 < answered[0] <= answered[-1] == 1
    assert right[-1] == 1  # each class is new once, in the rows that do not count
    assert stream_through(Options(rating=0), separable(80)).stream.answers == {
        "answered": [],
        "right": [],
    }

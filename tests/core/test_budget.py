"""Rows that keep few edges, and models that are made to keep few."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.errors import OptionError
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import LEARNERS
from tests.core.matrices import Matrices
from tests.hypothesis_examples import examples

FEATURES = ["f", "g", "h", "i"]
CLASSES = [f"c{number}" for number in range(8)]
MATRICES = Matrices(FEATURES, CLASSES)
SIGNED = ["pa", "mmp", "arow", "svm", "path", "hieron"]
BUDGETED = ["ooz", *SIGNED]

instances = st.dictionaries(st.sampled_from(FEATURES), st.floats(0.1, 2), min_size=1)
labels = st.lists(st.sampled_from(CLASSES), min_size=1, max_size=3, unique=True)
streams = st.lists(st.tuples(instances, labels), max_size=30)


def eager(learner, **others):
    """Options with which rows fill up fast."""
    fast = {"rate": 0.3, "margin_threshold": 1.0} if learner == "ooz" else {}
    return Options.of(learner, **{"replay": 0, **fast, **others})


def taught(options, stream):
    learner = Learner(options)
    for instance, classes in stream:
        learner.learn(instance, classes)
    return learner


@pytest.mark.parametrize("name", BUDGETED)
@examples(50)
@given(stream=streams, most=st.integers(1, 5), replay=st.sampled_from([0, 2]))
def test_no_row_has_more_edges_than_it_may(name, stream, most, replay):
    learner = Learner(eager(name, max_outdegree=most, replay=replay))
    for instance, classes in stream:
        learner.learn(instance, classes)
        assert learner.outdegrees()[most + 1 :].sum() == 0


@pytest.mark.parametrize("name", BUDGETED)
def test_a_lowered_limit_holds_from_the_next_new_edge_of_a_row(name):
    random = np.random.default_rng(1)
    learner = Learner(eager(name))
    for _ in range(40):
        instance = dict(zip(FEATURES, random.uniform(0.1, 2, 4).tolist(), strict=True))
        learner.learn(instance, [CLASSES[random.integers(8)]])
    full = learner.feature("g")["outdegree"]
    assert full > 3
    learner.configure(eager(name, max_outdegree=2))
    learner.learn({"f": 1.0}, ["a new class"])

    assert learner.feature("f")["outdegree"] == 2
    assert learner.feature("g")["outdegree"] == full


def test_a_new_edge_that_is_not_heavier_than_the_lightest_stays_out():
    learner = Learner(Options.of("mmp", normalize="none", max_outdegree=2))
    learner.learn({"f": 2.0}, ["a"])
    learner.learn({"g": 1.0}, ["b"])
    learner.learn({"g": 1.0, "f": 1.0, "h": 0.5}, ["c"])  # -1/2 for a and b in f and g, 1 for c
    assert learner.feature("f")["edges"] == [("a", 1.5), ("c", 1.0)]
    assert learner.feature("g")["edges"] == [("c", 1.0), ("b", 0.5)]
    assert learner.feature("h")["edges"] == [("c", 0.5), ("a", -0.25)]


@pytest.mark.parametrize("name", SIGNED)
@examples(50)
@given(stream=streams, wanted=st.integers(0, 40))
def test_sparsifying_keeps_the_heaviest(name, stream, wanted):
    learner = taught(eager(name), stream)
    before, edges = MATRICES.weights(learner), learner.edges
    gone = learner.sparsify(wanted)
    after = MATRICES.weights(learner)

    assert learner.edges == np.count_nonzero(after) == min(wanted, edges)
    assert gone == edges - learner.edges
    kept = after != 0
    assert np.array_equal(after[kept], before[kept])
    if kept.any():
        assert np.abs(before[~kept]).max(initial=0) <= np.abs(after[kept]).min()


def test_of_equal_weights_those_of_the_oldest_features_stay():
    learner = Learner(Options.of("mmp", normalize="none"))
    learner.learn(dict.fromkeys(FEATURES, 1.0), ["a"])
    learner.learn({"j": 2.0}, ["a"])

    assert learner.sparsify(3) == 2
    assert [name for name, _ in learner.class_("a")["features"]] == ["j", "f", "g"]
    assert learner.rank(FEATURES) == [("a", 2.0)]
    assert learner.sparsify(3) == 0


@pytest.mark.parametrize("name", sorted({*LEARNERS} - {*SIGNED} - {"committee"}))
def test_learners_that_keep_their_rows_light_are_not_sparsified(name):
    learner = taught(Options.of(name), [({"f": 1.0}, ["a"])])

    with pytest.raises(OptionError):
        learner.sparsify(1)

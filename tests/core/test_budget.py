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
    index = Learner(options)
    for instance, classes in stream:
        index.learn(instance, classes)
    return index


@pytest.mark.parametrize("learner", BUDGETED)
@examples(50)
@given(stream=streams, most=st.integers(1, 5), replay=st.sampled_from([0, 2]))
def test_no_row_has_more_edges_than_it_may(learner, stream, most, replay):
    index = Learner(eager(learner, max_outdegree=most, replay=replay))
    for instance, classes in stream:
        index.learn(instance, classes)
        assert index.outdegrees()[most + 1 :].sum() == 0


@pytest.mark.parametrize("learner", BUDGETED)
def test_a_lowered_limit_holds_from_the_next_new_edge_of_a_row(learner):
    random = np.random.default_rng(1)
    index = Learner(eager(learner))
    for _ in range(40):
        instance = dict(zip(FEATURES, random.uniform(0.1, 2, 4).tolist(), strict=True))
        index.learn(instance, [CLASSES[random.integers(8)]])
    full = index.feature("g")["outdegree"]
    assert full > 3
    index.configure(eager(learner, max_outdegree=2))
    index.learn({"f": 1.0}, ["a new class"])

    assert index.feature("f")["outdegree"] == 2
    assert index.feature("g")["outdegree"] == full


def test_a_new_edge_that_is_not_heavier_than_the_lightest_stays_out():
    index = Learner(Options.of("mmp", normalize="none", max_outdegree=2))
    index.learn({"f": 2.0}, ["a"])
    index.learn({"g": 1.0}, ["b"])
    index.learn({"g": 1.0, "f": 1.0, "h": 0.5}, ["c"])  # -1/2 for a and b in f and g, 1 for c
    assert index.feature("f")["edges"] == [("a", 1.5), ("c", 1.0)]
    assert index.feature("g")["edges"] == [("c", 1.0), ("b", 0.5)]
    assert index.feature("h")["edges"] == [("c", 0.5), ("a", -0.25)]


@pytest.mark.parametrize("learner", SIGNED)
@examples(50)
@given(stream=streams, wanted=st.integers(0, 40))
def test_sparsifying_keeps_the_heaviest(learner, stream, wanted):
    index = taught(eager(learner), stream)
    before, edges = MATRICES.weights(index), index.edges
    gone = index.sparsify(wanted)
    after = MATRICES.weights(index)

    assert index.edges == np.count_nonzero(after) == min(wanted, edges)
    assert gone == edges - index.edges
    kept = after != 0
    assert np.array_equal(after[kept], before[kept])
    if kept.any():
        assert np.abs(before[~kept]).max(initial=0) <= np.abs(after[kept]).min()


def test_of_equal_weights_those_of_the_oldest_features_stay():
    index = Learner(Options.of("mmp", normalize="none"))
    index.learn(dict.fromkeys(FEATURES, 1.0), ["a"])
    index.learn({"j": 2.0}, ["a"])

    assert index.sparsify(3) == 2
    assert [name for name, _ in index.class_("a")["features"]] == ["j", "f", "g"]
    assert index.rank(FEATURES) == [("a", 2.0)]
    assert index.sparsify(3) == 0


@pytest.mark.parametrize("learner", sorted({*LEARNERS} - {*SIGNED} - {"committee"}))
def test_learners_that_keep_their_rows_light_are_not_sparsified(learner):
    index = taught(Options.of(learner), [({"f": 1.0}, ["a"])])

    with pytest.raises(OptionError):
        index.sparsify(1)

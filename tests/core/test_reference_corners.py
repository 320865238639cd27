"""Corners that random streams seldom reach, each native learner beside its reference."""

from dataclasses import replace

import numpy as np
import pytest

from manyclass.core.columns import Columns
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.linear import LONGEST_ROW
from manyclass.core.learners.options import Options
from tests.core.both import CLASSES, FEATURES, MANY_CLASSES, MANY_FEATURES, Both, lessons
from tests.core.references import REFERENCES
from tests.core.references.budget import Budgeted

SIGNED = [learner for learner in REFERENCES if REFERENCES[learner].signed]


def test_forgetting_leaves_no_edge_without_mass_to_share():
    options = Options(
        normalize="none", rating=0, min_weight=0.0, margin_threshold=100.0, mass_cap=0.0
    )
    both = Both(options, FEATURES, CLASSES)
    both.learn({"f": 1}, ["a"])
    both.learn({"f": 1e-20}, ["b"])  # lost in a feature mass of 1
    both.forget_class("a")

    both.compare()
    assert both.learner.rank(Instance({"f": 1})) == [("b", 1.0)]
    both.reload(1)


def test_a_row_emptied_without_leak_has_no_mass():
    leaking = Options(
        normalize="none", rating=0, min_weight=0.6, margin_threshold=100.0, mass_cap=0.0
    )
    both = Both(leaking, FEATURES, CLASSES)
    for name in ("a", "b", "a"):  # each ousts the other, and leaks
        both.learn({"f": 1}, [name])
    assert both.learner.feature("f")["mass"] == 3
    both.configure(replace(leaking, leak=False))
    both.learn({"f": 1}, ["c"])

    both.compare()
    assert both.learner.feature("f")["mass"] == 0
    both.learn({"f": 1}, ["c"])
    assert both.learner.rank(Instance({"f": 1})) == [("c", 1.0)]


def test_averages_that_all_but_vanish():
    options = Options.of("ema", rate=1.0, normalize="none", min_weight=0.0, margin_threshold=100.0)
    both = Both(options, FEATURES, CLASSES)
    for number in range(12):  # each divides the scale of the row by 2**-53, all it had before
        both.learn({"f": 1 - 2.0**-53, "nine byte": 0.999}, [CLASSES[number % 5]])
        both.compare()
    assert both.learner.rank(Instance({"f": 1.0}))[0] == (CLASSES[1], pytest.approx(1.0))


def test_logarithms_of_counts_and_of_tf_idf_are_those_that_were_asked_for():
    """They are looked up: for small counts, and by the lowest bits of a number of times seen."""
    both = Both(Options.parse("svm(sublinear=yes,tfidf=yes,replay=0)"), ["f", "g"], CLASSES)
    values = [0.5, 1, 1.5, 2, 2.5, 3, 62, 63, 63.5, 64, 65, 1e6]
    for number, value in enumerate(values):
        both.learn({"f": value, "g": 1}, [CLASSES[number % 2]])
        both.rank({"f": value, "g": 2})
    for number in range(1024):
        both.learn({"g": 1}, [CLASSES[number % 2]])
    seen = {name: both.learner.feature(name)["times_seen"] for name in ("f", "g")}
    assert seen == {"f": len(values), "g": len(values) + 1024}
    for f, g in [(2, 1), (1, 2), (64, 3)]:
        both.rank({"f": f, "g": g})
    both.compare()


@pytest.mark.parametrize(
    "learner", [name for name in REFERENCES if issubclass(REFERENCES[name], Budgeted)]
)
def test_rows_longer_than_a_lowered_limit(learner):
    options = Options.of(learner, margin_threshold=0.5) if learner == "ooz" else Options.of(learner)
    both = Both(options, MANY_FEATURES, MANY_CLASSES)
    stream = list(lessons(1, 150, MANY_FEATURES[:20], MANY_CLASSES[:30]))
    for instance, classes in stream[:100]:
        both.learn(instance, classes)
    longest = len(both.reference.outdegrees()) - 1
    assert longest > 4
    both.configure(replace(options, max_outdegree=longest // 2))
    for instance, classes in stream[100:]:
        both.learn(instance, classes)
        both.compare()


@pytest.mark.parametrize("specification", [*SIGNED, "svm(constraints=each,C_negative=3)"])
def test_instances_of_many_classes(specification):
    both = Both(Options.parse(specification, replay=2), MANY_FEATURES, MANY_CLASSES)
    random = np.random.default_rng(3)
    for number in range(60):
        instance = {MANY_FEATURES[place]: 1.0 for place in random.permutation(30)[:8].tolist()}
        true = random.permutation(30)[: random.integers(1, 14)].tolist()
        both.learn(instance, [MANY_CLASSES[place] for place in true])
        if number % 4 == 0:
            both.compare()
    both.compare()


def test_demands_with_subnormal_multipliers_are_forgotten():
    tiny = Options.of("svm", margin_threshold=1e-33, C=1e-9, C_negative=1e-9, replay=1)
    both = Both(tiny, FEATURES, CLASSES)
    for name in ("a", "b", "a"):
        both.learn({"f": 1}, [name])

    both.compare()
    state = both.learner.dump()
    assert len(state["kept_features"]) == 3
    assert state["kept_demands_multiplier"].size == 0


@pytest.mark.parametrize("arity", [2, 3])
@pytest.mark.parametrize("tree", ["complete", "random", "huffman", "kmeans"])
def test_trees_built_over_many_classes(tree, arity):
    options = Options.of("iplt", tree=tree, arity=arity, max_leaves=2, sample=60, seed=4)
    both = Both(options, MANY_FEATURES, MANY_CLASSES)
    for instance, classes in lessons(5, 80, MANY_FEATURES[:30], MANY_CLASSES[:40]):
        both.learn(instance, classes)
    both.compare()
    assert both.reference.is_built
    both.look_inside()


# --- limits that no short stream meets ------------------------------------------------------------


def test_a_row_holds_so_many_edges_and_then_drops_the_lightest():
    classes = [str(number) for number in range(LONGEST_ROW + 2)]
    learner = Learner(
        Options(
            normalize="none",
            min_weight=0.0,
            rating=0,
            leak=False,
            margin_threshold=1e9,
            mass_cap=0.0,
        )
    )
    rows = len(classes)
    masses = np.linspace(0.9, 0.45, rows, dtype=np.float32)
    every = np.arange(rows + 1, dtype=np.int64)
    learner.learn_csr(
        Columns(["f"]),
        every,
        np.zeros(rows, np.int32),
        masses,
        Columns(classes),
        every,
        np.arange(rows, dtype=np.int32),
    )

    row = learner.feature("f")
    kept = np.append(masses[: LONGEST_ROW - 1], masses[-1])  # the two before the last went
    assert row["outdegree"] == learner.edges == LONGEST_ROW
    assert row["mass"] == pytest.approx(kept.astype(float).sum())
    assert [name for name, _ in row["edges"]] == [*classes[: LONGEST_ROW - 1], classes[-1]]


@pytest.mark.parametrize("limit", [1000, 2])
def test_reasons_add_up_to_the_score(limit):
    both = Both(Options(rating=0, margin_threshold=1.0, mass_cap=0.0), FEATURES, CLASSES)
    for number in range(20):
        both.learn({FEATURES[number % 8]: 1, FEATURES[number % 3]: 2}, [CLASSES[number % 5]])
    instance = dict.fromkeys(FEATURES, 1)
    both.explain(instance, limit)

    (best, score), *_ = both.learner.rank(Instance(instance))
    reasons = both.learner.explain(Instance(instance), [best], 1000)[0]
    assert sum(gave for _, gave in reasons) == pytest.approx(score)


@pytest.mark.parametrize("learner", ["pa", "arow", "mmp"])
def test_many_true_classes_push_the_same_negatives_back(learner):
    """Another number of negatives yields to each true class."""
    classes = [f"c{number}" for number in range(60)]
    both = Both(Options.of(learner, negatives=12, max_outdegree=100), FEATURES, classes)
    for number, name in enumerate(classes):
        both.learn({FEATURES[number % 8]: 1 + number % 5, FEATURES[number % 3]: 2}, [name])
    for part in (classes[:40], classes[5::2], classes[::-3]):
        both.learn(dict.fromkeys(FEATURES, 1), part)
    both.explain(dict.fromkeys(FEATURES, 1), 100)

"""Every native learner beside its slow twin: equal in each score, weight and counter, by bit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, given, note
from hypothesis import strategies as st

from manyclass.core.event import LONGEST_NAME, Instance
from manyclass.core.index import Columns, Index
from manyclass.core.learners.options import (
    LEARNERS,
    LONGEST_ROW,
    MATTERS,
    TREES,
    Options,
    defaults_of,
)
from tests.core.both import MOST, Both
from tests.core.twins import TWINS
from tests.core.twins.budget import Budgeted
from tests.examples import examples

FEATURES = ["f", "of the _", "eight by", "nine byte", "Käse", "日本語", "a\0b", "x" * 300]
CLASSES = ["a", "b", "rec.autos", "Ö", "class with a long name", "z" * 40]
NO_LIMITS = {"max_features": 10_000_000, "max_classes": 1_000_000, "max_bytes": 4 * 2**30}


def test_every_learner_but_the_committee_has_a_twin():
    assert {*TWINS} == {*LEARNERS} - {"committee"}


# --- options: every one that matters to a learner is varied ---------------------------------------

SOME_VALUES = {
    "aggressiveness": [0.01, 0.5, 30.0],
    "alpha": [0.0, 0.5, 1.0],
    "arity": [2, 2, 3, 5],
    "boolean": [False, False, True],
    "caution": [0.02, 1.0, 30.0],
    "demands": ["pairs", "each"],
    "epsilon": [1e-9, 0.1, 1e9],
    "feature_memory": [0.0, 1.0, 1.3, 2.5, 10.0, 30.0],
    "leak": [True, False],
    "margin_threshold": [0.0, 0.1, 0.5, 1.0, 100.0, -0.2],
    "max_bytes": [2**30],  # it never binds so few names: streams of their own are bound by it
    "max_classes": [1_000_000, 1, 2, 3],
    "max_features": [10_000_000, 1, 2, 3, 5],
    "max_leaves": [1, 2, 2, 3],
    "max_outdegree": [25, 1, 2, 3],
    "min_weight": [0.01, 0.0, 0.1, 0.3, 0.6, 0.99],
    "normalize": ["l2", "none"],
    "policy": ["greedy", "random"],
    "rate": [0.1, 0.3, 0.9, 1.0],
    "rating": [10, 0, 1, 3],
    "replay": [0, 0, 1, 3],
    "replay_size": [10_000, 1, 2, 5],
    "retrieval_window": [50, 1, 2, 3],
    "rivals": [5, 1, 2, 3],
    "sample": [0, 1, 5, 60],
    "seed": [0, 1, 2**63 - 1],
    "sublinear": [False, False, True],
    "tfidf": [False, True],
    "tree": ["complete", "random", "huffman", "kmeans"],
}
SOME_VALUES_OF_TREES = {"min_weight": [0.0, 0.0, 0.2, 0.9], "rate": [0.1, 1.0, 100.0]}
ONLY_IN_COMMITTEES = {"subsample", "shuffle"}


def options_of(learner):
    defaults = defaults_of(learner)
    some_values = SOME_VALUES | (SOME_VALUES_OF_TREES if learner in TREES else {})
    varied = {
        name: st.sampled_from([defaults[name], *some_values[name]])
        for name in sorted(MATTERS[learner] - ONLY_IN_COMMITTEES)
    }
    if learner == "ooz":
        varied["margin_threshold"] = varied["margin_threshold"].filter(lambda margin: margin > 0)
    return st.builds(Options.of, st.just(learner), **varied)


every_learner = pytest.mark.parametrize("learner", TWINS)
SIGNED = [learner for learner in TWINS if TWINS[learner].signed]

# --- short streams over few names, so that they meet often ------------------------------------

values = st.one_of(
    st.sampled_from([1, 1.0, 2.0, 0.5]),
    st.floats(-1, 4, width=32),
    st.floats(0, 4),
    st.sampled_from([1e-60, 1e-30, 1e-20, 2.0**20, 1e30]),
)
array_values = st.one_of(
    st.sampled_from([1.0, 2.0, 0.5]),
    st.floats(-1, 4, width=32),
    st.sampled_from([2.0**-140, 2.0**-80, 2.0**60]),
)
feature_names, class_names = st.sampled_from(FEATURES), st.sampled_from(CLASSES)
instances = st.dictionaries(feature_names, values, max_size=6)
array_instances = st.dictionaries(feature_names, array_values, max_size=6)
true_classes = st.lists(class_names, min_size=1, max_size=3, unique=True)
passes_done = st.sampled_from([0, 0, 1])


def calls_of(learner):
    calls = [
        st.tuples(st.just("learn"), instances, true_classes, passes_done),
        st.tuples(st.just("learn"), instances, true_classes),
        st.tuples(st.just("apply"), instances, true_classes),
        st.tuples(
            st.just("learn_csr"),
            st.lists(st.tuples(array_instances, true_classes), max_size=5),
            passes_done,
        ),
        st.tuples(
            st.just("rank"),
            instances,
            st.sampled_from([1, 2, MOST]),
            st.sampled_from([None, 0, 0.2, -1]),
        ),
        st.tuples(
            st.just("rank_csr"),
            st.lists(array_instances, max_size=4),
            st.sampled_from([1, 3, MOST]),
        ),
        st.tuples(st.just("explain"), instances, st.sampled_from([1, 10])),
        st.tuples(st.just("forget_class"), class_names),
        st.tuples(st.just("forget_feature"), feature_names),
        st.tuples(st.just("configure"), options_of(learner)),
        st.tuples(st.just("reload"), st.integers(0, 2**64 - 1)),
    ]
    if learner in TREES:
        lessons = st.lists(st.tuples(array_instances, true_classes), max_size=8)
        calls.append(st.tuples(st.just("plant_csr"), lessons))
    if TWINS[learner].signed:
        calls.append(st.tuples(st.just("sparsify"), st.integers(0, 20)))
    return st.one_of(calls)


@every_learner
@examples(150)
@given(data=st.data())
def test_short_streams(learner, data):
    options = data.draw(options_of(learner))
    stream = data.draw(st.lists(calls_of(learner), max_size=25))
    both = Both(options, FEATURES, CLASSES)
    note(f"{options.specification} {stream}")
    for call, *arguments in stream:
        getattr(both, call)(*arguments)
        both.compare()
    both.look_inside()


# --- long streams over many names: rows grow, move, are packed; many are evicted at once ----------

MANY_FEATURES = [f"feature {number}" for number in range(400)]
MANY_CLASSES = [f"class {number}" for number in range(150)]
LIST_LENGTHS = [1, 5, 32, 33, 0, MOST]


def lessons(seed, count, features, classes):
    """Random lessons in which some features and classes are far more frequent than others."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        size = random.integers(1, 15)
        places = np.unique((len(features) * random.random(size) ** 3).astype(int))
        true = np.unique((len(classes) * random.random(random.integers(1, 3)) ** 2).astype(int))
        random.shuffle(places)
        random.shuffle(true)
        drawn = random.choice([1.0, 0.25, 3.0, random.random(dtype=np.float32)], len(places))
        instance = {features[place]: float(v) for place, v in zip(places, drawn, strict=True)}
        yield instance, [classes[place] for place in true]


def teach(both, stream):
    """The whole stream in a first pass, and a part of it in a second."""
    stream = list(stream)
    for number, (instance, classes) in enumerate([*stream, *stream[:30]]):
        passes_done = number // len(stream)
        if number % 3:
            both.learn(instance, classes, passes_done)
        else:
            both.learn_csr([(instance, classes)], passes_done)
        if number % 5 == 0:
            both.rank(instance, LIST_LENGTHS[number % len(LIST_LENGTHS)])
        if number % 50 == 0:
            both.reload(number)
        if number % 100 == 0:
            both.compare()
    both.rank_csr([instance for instance, _ in stream], 5)
    both.compare()
    both.look_inside()


seeds = st.integers(0, 2**32 - 1)


def long_streams(count):
    """A smaller seed makes no simpler stream: nothing is gained by looking for one."""
    phases = [Phase.explicit, Phase.reuse, Phase.generate]
    return examples(count, phases=phases)


@every_learner
@long_streams(5)
@given(st.data())
def test_long_streams(learner, data):
    options = replace(data.draw(options_of(learner)), **NO_LIMITS)
    both = Both(options, MANY_FEATURES, MANY_CLASSES)
    teach(both, lessons(data.draw(seeds), 250, MANY_FEATURES, MANY_CLASSES))


@every_learner
@long_streams(5)
@given(st.data(), st.sampled_from([64, 150]), st.sampled_from([20, 64]))
def test_long_streams_with_eviction(learner, data, max_features, max_classes):
    options = replace(
        data.draw(options_of(learner)), max_features=max_features, max_classes=max_classes
    )
    both = Both(options, MANY_FEATURES, MANY_CLASSES)
    teach(both, lessons(data.draw(seeds), 250, MANY_FEATURES, MANY_CLASSES))

    assert both.twin.evicted_classes > 0
    assert both.twin.evicted_features > 0 or learner == "frequency"


@every_learner
@long_streams(3)
@given(st.data(), st.booleans())
def test_long_streams_within_bytes(learner, data, heavy_classes):
    options = replace(data.draw(options_of(learner)), **{**NO_LIMITS, "max_bytes": 2**20})
    heavy = [f"{number} ".ljust(LONGEST_NAME, "x") for number in range(500)]
    light = [f"{number}" for number in range(150)]
    heavy_classes |= learner == "frequency"  # it knows no features
    features, classes = (light, heavy) if heavy_classes else (heavy, light)
    both = Both(options, features, classes)
    teach(both, lessons(data.draw(seeds), 400 if heavy_classes else 200, features, classes))

    assert (both.twin.evicted_classes if heavy_classes else both.twin.evicted_features) > 0
    assert both.index.bytes <= 2**20


@pytest.mark.parametrize(
    "specification",
    [
        "ff(replay=1,max_outdegree=3)",
        pytest.param(
            "svm(replay=1,max_outdegree=3,demands=each,rivals=50,caution=5)",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_past_bound_in_bytes(specification):
    options = Options.parse(specification, max_bytes=2**20)
    both = Both(options, MANY_FEATURES, MANY_CLASSES)
    random = np.random.default_rng(7)
    for number in range(350):
        places = random.permutation(200)[:100].tolist()
        instance = {MANY_FEATURES[place]: float(random.uniform(0.1, 2)) for place in places}
        both.learn(instance, [MANY_CLASSES[random.integers(20)]])
        if number % 10 == 9:
            both.compare()
    both.reload(number)
    both.compare()

    assert len(both.twin.past.kept) < both.twin.past.came


# --- corners that random streams seldom reach -----------------------------------------------------


def test_forgetting_leaves_no_edge_without_mass_to_share():
    options = Options(
        normalize="none", rating=0, min_weight=0.0, margin_threshold=100.0, feature_memory=0.0
    )
    both = Both(options, FEATURES, CLASSES)
    both.learn({"f": 1}, ["a"])
    both.learn({"f": 1e-20}, ["b"])  # lost in a feature mass of 1
    both.forget_class("a")

    both.compare()
    assert both.index.rank(Instance({"f": 1})) == [("b", 1.0)]
    both.reload(1)


def test_a_row_emptied_without_leak_has_no_mass():
    leaking = Options(
        normalize="none", rating=0, min_weight=0.6, margin_threshold=100.0, feature_memory=0.0
    )
    both = Both(leaking, FEATURES, CLASSES)
    for name in ("a", "b", "a"):  # each ousts the other, and leaks
        both.learn({"f": 1}, [name])
    assert both.index.feature("f")["mass"] == 3
    both.configure(replace(leaking, leak=False))
    both.learn({"f": 1}, ["c"])

    both.compare()
    assert both.index.feature("f")["mass"] == 0
    both.learn({"f": 1}, ["c"])
    assert both.index.rank(Instance({"f": 1})) == [("c", 1.0)]


def test_averages_that_all_but_vanish():
    options = Options.of("ema", rate=1.0, normalize="none", min_weight=0.0, margin_threshold=100.0)
    both = Both(options, FEATURES, CLASSES)
    for number in range(12):  # each divides the scale of the row by 2**-53, all it had before
        both.learn({"f": 1 - 2.0**-53, "nine byte": 0.999}, [CLASSES[number % 5]])
        both.compare()
    assert both.index.rank(Instance({"f": 1.0}))[0] == (CLASSES[1], pytest.approx(1.0))


@pytest.mark.parametrize("learner", [name for name in TWINS if issubclass(TWINS[name], Budgeted)])
def test_rows_longer_than_a_lowered_limit(learner):
    options = Options.of(learner, margin_threshold=0.5) if learner == "ooz" else Options.of(learner)
    both = Both(options, MANY_FEATURES, MANY_CLASSES)
    stream = list(lessons(1, 150, MANY_FEATURES[:20], MANY_CLASSES[:30]))
    for instance, classes in stream[:100]:
        both.learn(instance, classes)
    longest = len(both.twin.outdegrees()) - 1
    assert longest > 4
    both.configure(replace(options, max_outdegree=longest // 2))
    for instance, classes in stream[100:]:
        both.learn(instance, classes)
        both.compare()


@pytest.mark.parametrize("specification", [*SIGNED, "svm(demands=each,caution=3)"])
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
    tiny = Options.of("svm", margin_threshold=1e-33, aggressiveness=1e-9, caution=1e-9, replay=1)
    both = Both(tiny, FEATURES, CLASSES)
    for name in ("a", "b", "a"):
        both.learn({"f": 1}, [name])

    both.compare()
    state = both.index.dump()
    assert len(state["kept_features"]) == 3
    assert state["kept_demands_multiplier"].size == 0


@pytest.mark.parametrize("arity", [2, 3])
@pytest.mark.parametrize("tree", ["complete", "random", "huffman", "kmeans"])
def test_trees_planted_over_many_classes(tree, arity):
    options = Options.of("iplt", tree=tree, arity=arity, max_leaves=2, sample=60, seed=4)
    both = Both(options, MANY_FEATURES, MANY_CLASSES)
    for instance, classes in lessons(5, 80, MANY_FEATURES[:30], MANY_CLASSES[:40]):
        both.learn(instance, classes)
    both.compare()
    assert both.twin.planted
    both.look_inside()


# --- limits that no short stream meets ------------------------------------------------------------


def test_a_row_holds_so_many_edges_and_then_drops_the_lightest():
    classes = [str(number) for number in range(LONGEST_ROW + 2)]
    index = Index(
        Options(
            normalize="none",
            min_weight=0.0,
            rating=0,
            leak=False,
            margin_threshold=1e9,
            feature_memory=0.0,
        )
    )
    rows = len(classes)
    masses = np.linspace(0.9, 0.45, rows, dtype=np.float32)
    every = np.arange(rows + 1, dtype=np.int64)
    index.learn_csr(
        Columns(["f"]),
        every,
        np.zeros(rows, np.int32),
        masses,
        Columns(classes),
        every,
        np.arange(rows, dtype=np.int32),
    )

    row = index.feature("f")
    kept = np.append(masses[: LONGEST_ROW - 1], masses[-1])  # the two before the last went
    assert row["outdegree"] == index.edges == LONGEST_ROW
    assert row["mass"] == pytest.approx(kept.astype(float).sum())
    assert [name for name, _ in row["edges"]] == [*classes[: LONGEST_ROW - 1], classes[-1]]


@pytest.mark.parametrize("limit", [1000, 2])
def test_reasons_add_up_to_the_score(limit):
    both = Both(Options(rating=0, margin_threshold=1.0, feature_memory=0.0), FEATURES, CLASSES)
    for number in range(20):
        both.learn({FEATURES[number % 8]: 1, FEATURES[number % 3]: 2}, [CLASSES[number % 5]])
    instance = dict.fromkeys(FEATURES, 1)
    both.explain(instance, limit)

    (best, score), *_ = both.index.rank(Instance(instance))
    reasons = both.index.explain(Instance(instance), [best], 1000)[0]
    assert sum(gave for _, gave in reasons) == pytest.approx(score)


@pytest.mark.parametrize("learner", ["pa", "arow", "mmp"])
def test_many_true_classes_push_the_same_rivals_back(learner):
    """Of each true class another number of rivals gives way."""
    classes = [f"c{number}" for number in range(60)]
    both = Both(Options.of(learner, rivals=12, max_outdegree=100), FEATURES, classes)
    for number, name in enumerate(classes):
        both.learn({FEATURES[number % 8]: 1 + number % 5, FEATURES[number % 3]: 2}, [name])
    for part in (classes[:40], classes[5::2], classes[::-3]):
        both.learn(dict.fromkeys(FEATURES, 1), part)
    both.explain(dict.fromkeys(FEATURES, 1), 100)

"""Every native learner beside its slow reference: equal scores, weights and counters, by bit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, given, note
from hypothesis import strategies as st

from manyclass.core.instance import LONGEST_NAME
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import LEARNERS
from tests.core.both import CLASSES, FEATURES, MANY_CLASSES, MANY_FEATURES, MOST, Both, lessons
from tests.core.references import REFERENCES
from tests.hypothesis_examples import examples

NO_LIMITS = {"max_features": 10_000_000, "max_classes": 1_000_000, "max_bytes": 4 * 2**30}


def test_every_learner_but_the_committee_has_a_reference():
    assert {*REFERENCES} == {*LEARNERS} - {"committee"}


# --- options: every one that matters to a learner is varied ---------------------------------------

SOME_VALUES = {
    "C": [0.01, 0.5, 30.0],
    "C_negative": [0.02, 1.0, 30.0],
    "alpha": [0.0, 0.5, 1.0],
    "arity": [2, 2, 3, 5],
    "budget": [0.0, 1.0, 1.2, 3.0],
    "budget_floor": [0, 0, 30, 131_072],
    "binarize": [False, False, True],
    "bias": [0.0, 0.3, 5.0],
    "constraints": ["pairs", "each", "auto"],
    "cost": ["sqrt", "linear"],
    "family_rate": [0.0, 0.3, 1.0],
    "epsilon": [1e-9, 0.1, 1e9],
    "leak": [True, False],
    "margin_threshold": [0.0, 0.1, 0.5, 1.0, 100.0, -0.2],
    "mass_cap": [0.0, 1.0, 1.3, 2.5, 10.0, 30.0],
    "max_bytes": [2**30],  # it never binds so few names: streams of their own are bound by it
    "max_classes": [1_000_000, 1, 2, 3],
    "max_features": [10_000_000, 1, 2, 3, 5],
    "max_leaves": [1, 2, 2, 3],
    "max_outdegree": [25, 1, 2, 3],
    "min_weight": [0.01, 0.0, 0.1, 0.3, 0.6, 0.99],
    "normalize": ["l2", "none"],
    "policy": ["greedy", "sampled", "random"],
    "rate": [0.1, 0.3, 0.9, 1.0],
    "rating": [10, 0, 1, 3],
    "replay": [0, 0, 1, 3],
    "replay_size": [10_000, 1, 2, 5],
    "neighbors": [0, 1, 2, 20],
    "retrieval_window": [50, 1, 2, 3],
    "negatives": [5, 1, 2, 3],
    "sample": [0, 1, 5, 60],
    "seed": [0, 1, 2**63 - 1],
    "sublinear": [False, False, True],
    "tfidf": [False, True],
    "tree": ["complete", "random", "huffman", "kmeans"],
}
SOME_VALUES_OF_TREES = {"min_weight": [0.0, 0.0, 0.2, 0.9], "rate": [0.1, 1.0, 100.0]}


def is_tree(learner):
    return LEARNERS[learner].is_probabilistic


def options_of(learner):
    some_values = SOME_VALUES | (SOME_VALUES_OF_TREES if is_tree(learner) else {})
    varied = {
        option.name: st.sampled_from([option.default, *some_values[option.name]])
        for option in sorted(LEARNERS[learner].options, key=lambda option: option.name)
        if not option.of_members
    }
    if learner == "ooz":
        varied["margin_threshold"] = varied["margin_threshold"].filter(lambda margin: margin > 0)
    return st.builds(Options.of, st.just(learner), **varied)


every_learner = pytest.mark.parametrize("learner", REFERENCES)

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
epoch = st.sampled_from([0, 0, 1])
weights = st.sampled_from([1.0, 1.0, 0.001, 0.3, 2.5, 1000.0])
said = st.lists(  # of classes, whether they are true or wrong
    st.tuples(class_names, st.booleans()), min_size=1, max_size=4, unique_by=lambda said: said[0]
)


def weighted_calls(spec):
    """Return calls with a weight, and with rejected classes, as far as the learner learns them."""
    if not spec.learns_weights:
        return []
    if not spec.learns_rejections:
        return [
            st.tuples(st.just("learn"), instances, true_classes, epoch, st.just(()), weights),
            st.tuples(st.just("apply"), instances, true_classes, st.just(()), weights),
        ]
    split = said.map(
        lambda said: [[name for name, is_true in said if is_true == each] for each in (True, False)]
    )
    return [
        st.tuples(st.just("learn"), instances, split, epoch, weights).map(
            lambda call: (call[0], call[1], call[2][0], call[3], call[2][1], call[4])
        ),
        st.tuples(st.just("apply"), instances, split, weights).map(
            lambda call: (call[0], call[1], *call[2], call[3])
        ),
    ]


places = st.tuples(
    st.just("place"),
    class_names,
    st.none() | class_names | st.sampled_from(["inner", "another inner"]),
    st.booleans(),
)


def calls_of(learner):
    calls = [
        st.tuples(st.just("learn"), instances, true_classes, epoch),
        st.tuples(st.just("learn"), instances, true_classes),
        *weighted_calls(LEARNERS[learner]),
        st.tuples(st.just("apply"), instances, true_classes),
        st.tuples(
            st.just("learn_csr"),
            st.lists(st.tuples(array_instances, true_classes), max_size=5),
            epoch,
        ),
        st.tuples(
            st.just("rank"),
            instances,
            st.sampled_from([1, 2, MOST]),
            st.sampled_from([None, 0, 0.2, -1]),
            st.none() | st.lists(class_names | st.just("unknown"), max_size=4),
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
    if is_tree(learner):
        lessons = st.lists(st.tuples(array_instances, true_classes), max_size=8)
        calls.append(st.tuples(st.just("build_csr"), lessons))
    if LEARNERS[learner].option("cost"):
        calls += [places, places]
        calls.append(
            st.tuples(st.just("learn_placed"), instances, true_classes, places).map(
                lambda call: (*call[:3], *call[3][1:])
            )
        )
    if REFERENCES[learner].signed:
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

LIST_LENGTHS = [1, 5, 32, 33, 0, MOST]


def teach(both, stream):
    """Learn the stream in a first pass, and a part of it in a second."""
    stream = list(stream)
    random = np.random.default_rng(len(stream))
    for number, (instance, classes) in enumerate([*stream, *stream[:30]]):
        epoch = number // len(stream)
        if both.reference.options.spec.option("cost") and number % 2:
            name, parent = (both.classes[place] for place in random.integers(40, size=2))
            both.place(name, parent if number % 3 else "inner", moves=number % 5 == 0)
        if number % 3:
            both.learn(instance, classes, epoch)
        else:
            both.learn_csr([(instance, classes)], epoch)
        if number % 5 == 0:
            both.rank(instance, LIST_LENGTHS[number % len(LIST_LENGTHS)])
            both.rank(instance, 10, None, both.classes[number % 3 :: 3])
        if number % 50 == 0:
            both.reload(number)
        if number % 100 == 0:
            both.compare()
    both.rank_csr([instance for instance, _ in stream], 5)
    both.compare()
    both.look_inside()


seeds = st.integers(0, 2**32 - 1)


def long_streams(count):
    """Return settings without shrinking: a smaller seed makes no simpler stream."""
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

    assert both.reference.evicted_classes > 0
    assert both.reference.evicted_features > 0 or learner == "frequency"


def test_a_forgotten_family_without_events_has_evicted_classes_freed():
    both = Both(Options.parse("path(max_classes=2)"), FEATURES, CLASSES)
    both.learn_placed({}, ["b"], "rec.autos", "a", False)
    both.forget_class("a")
    both.compare()


def test_a_new_class_that_joins_a_family_while_neighbors_vote():
    """It has no rank in its first event, neither with votes nor without."""
    options = Options.parse(
        "hieron(budget=1,budget_floor=30,rating=1,binarize=yes,normalize=none,C=0.5,replay=3,"
        "replay_size=2,neighbors=2,max_features=150,max_classes=20)",
        seed=2**63 - 1,
    )
    both = Both(options, MANY_FEATURES, MANY_CLASSES)
    teach(both, lessons(20096, 250, MANY_FEATURES, MANY_CLASSES))


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
    teach(both, lessons(data.draw(seeds), 360 if heavy_classes else 150, features, classes))

    assert (
        both.reference.evicted_classes if heavy_classes else both.reference.evicted_features
    ) > 0
    assert both.learner.bytes <= 2**20


@long_streams(10)
@given(st.data(), st.sampled_from([10, 64, 1_000_000]))
def test_streams_of_many_classes_an_instance(data, max_classes):
    """The SVM separates classes otherwise while instances have more than 8 on average."""
    options = replace(
        data.draw(options_of("svm")),
        **NO_LIMITS | {"max_classes": max_classes},
        constraints=data.draw(st.sampled_from(["auto", "auto", "each", "pairs"])),
    )
    both = Both(options, MANY_FEATURES, MANY_CLASSES)
    random = np.random.default_rng(data.draw(seeds))
    means = set()
    for number in range(120):
        most = (3, 40, 40, 1)[number * 4 // 120]
        true = random.permutation(40)[: random.integers(1, most + 1)]
        places = random.permutation(30)[: random.integers(1, 8)]
        instance = {MANY_FEATURES[place]: float(random.uniform(0.1, 2)) for place in places}
        both.learn(instance, [MANY_CLASSES[label] for label in true])
        both.rank(instance, 5)
        means.add(both.reference.mean_classes > 8)
        if number % 20 == 19:
            both.forget_class(MANY_CLASSES[number % 7])
            both.reload(number)
            both.compare()
    both.look_inside()
    assert True in means or max_classes == 10


@pytest.mark.parametrize("max_outdegree", [25, 5])
def test_steps_of_several_classes_that_remove_and_replace_edges(max_outdegree):
    """The places of the edges that an update moves are found before its first step."""
    whole = "normalize=none,rating=0,sublinear=no,negatives=5,budget=0"
    specification = f"mmp({whole},max_outdegree={max_outdegree})"
    both = Both(Options.parse(specification), MANY_FEATURES, MANY_CLASSES)
    random = np.random.default_rng(1)
    removed = 0
    for number in range(300):
        places = random.permutation(4)[: random.integers(1, 4)]
        true = random.permutation(12)[: random.integers(1, 4)]
        before = both.learner.edges
        both.learn(
            {MANY_FEATURES[place]: 1.0 for place in places}, [MANY_CLASSES[label] for label in true]
        )
        removed += both.learner.edges < before
        if number % 10 == 9:
            both.compare()
    assert removed > 0


@pytest.mark.parametrize("apart", [1.0, 1e-9, 0.0])
@pytest.mark.parametrize("outlier", [0, 1, 10_000])
def test_long_lists_of_scores_that_lie_close_together(apart, outlier):
    """Ranked lists of more than 32 classes are sorted in another way than short ones."""
    specification = "ind(max_outdegree=200,min_weight=0,normalize=none,sublinear=no)"
    both = Both(Options.parse(specification), MANY_FEATURES, MANY_CLASSES)
    random = np.random.default_rng(7)
    for number in random.permutation(150):
        both.learn({"feature 0": 1.0 + apart * int(number % 40)}, [MANY_CLASSES[number]])
    for _ in range(outlier and 3):
        both.learn({"feature 0": float(outlier)}, ["class 7"])
    for k in (33, 40, 60, 149, 150, MOST):
        both.rank({"feature 0": 1.0}, k)
    both.forget_class("class 20")
    both.rank({"feature 0": 1.0}, 60)


@pytest.mark.parametrize(
    "specification",
    [
        "ff(replay=1,max_outdegree=3)",
        pytest.param(
            "svm(replay=1,max_outdegree=3,constraints=each,negatives=50,C_negative=5)",
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

    assert len(both.reference.past.kept) < both.reference.past.came

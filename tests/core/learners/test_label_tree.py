"""The promises of theory about label trees: properness, efficiency, exact search; and sanity."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.columns import Columns
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from tests.core.csr import instances_of, rows_of
from tests.core.dumped_tree import nodes_of, paths_of, untrained
from tests.core.dumps import names
from tests.hypothesis_examples import examples

FEATURES = [f"f{number}" for number in range(10)]
CLASSES = [f"c{number}" for number in range(25)]
MOST = 1000

instances = st.dictionaries(
    st.sampled_from(FEATURES), st.sampled_from([0.5, 1.0, 3.0, 1e-20, 1e29]), max_size=5
)
true_classes = st.lists(st.sampled_from(CLASSES), min_size=1, max_size=3, unique=True)
streams = st.lists(st.tuples(instances, true_classes), min_size=1, max_size=60)
growing_trees = st.builds(
    Options.of,
    st.just("iplt"),  # the tree builder needs this learner
    sample=st.just(0),
    policy=st.sampled_from(["greedy", "random"]),
    arity=st.sampled_from([2, 3, 5]),
    max_leaves=st.sampled_from([1, 2, 4]),
    alpha=st.sampled_from([0.0, 0.75, 1.0]),
    rate=st.sampled_from([0.1, 1.0, 5.0]),
    epsilon=st.sampled_from([1e-6, 0.001, 1.0]),
    bias=st.sampled_from([0.0, 0.1, 1.0]),
    normalize=st.sampled_from(["l2", "none"]),
    sublinear=st.booleans(),
    seed=st.integers(0, 5),
    tfidf=st.just(False),  # its counts would differ when a stream is taught twice
)


def rows(lessons):
    """Return the examples as CSR arrays: features, then classes."""
    instances, classes = zip(*lessons, strict=True)
    features = Columns(FEATURES), *instances_of(FEATURES, instances)
    return *features, Columns(CLASSES), *rows_of(CLASSES, classes)


def taught(options, stream, built=()):
    learner = Learner(options)
    if built:
        learner.build_csr(*rows(built))
    for instance, classes in stream:
        learner.learn(instance, classes)
    return learner


# --- properness -----------------------------------------------------------------------------------


@examples(300)
@given(growing_trees, streams, st.one_of(st.just([]), streams))
def test_a_tree_that_grew_equals_one_that_was_there_from_the_start(options, stream, built):
    grown = taught(options, stream, built)
    there = Learner.load(options, untrained(grown.dump()))
    for instance, classes in stream:
        there.learn(instance, classes)

    compared = 0
    for ours, theirs in zip(nodes_of(grown.dump()), nodes_of(there.dump()), strict=True):
        assert (ours.children, ours.grows) == (theirs.children, theirs.grows)
        assert ours.blocks.keys() == theirs.blocks.keys()
        for feature in ours.blocks:
            assert ours.classifiers(feature) == theirs.classifiers(feature)
            compared += len(ours.children)
    assert compared >= 1
    for instance, _ in stream:
        assert grown.rank(instance, MOST) == there.rank(instance, MOST)


# --- efficiency -----------------------------------------------------------------------------------


def stream_of(classes, random):
    """Yield two instances per class in random order, with own and shared features."""
    for label in random.permutation(np.repeat(np.arange(classes), 2)).tolist():
        own = random.integers(0, 5, 3)
        noise = random.integers(0, 50, 3)
        yield {*(f"{label} {n}" for n in own), *(f"noise {n}" for n in noise)}, f"{label}"


class Costs:
    """Costs of the present tree, in weights: to store it, and to learn the examples with it."""

    def __init__(self, learner, lessons, auxiliary):
        state = learner.dump()
        nodes, paths = nodes_of(state), paths_of(state)
        widths = [len(node.children) + (node.grows and auxiliary) for node in nodes]
        of_class = dict(zip(names(state, "class"), map(paths.get, range(len(paths))), strict=True))
        self.stored = sum(
            len(node.blocks) * width for node, width in zip(nodes, widths, strict=True)
        )
        self.moved = sum(
            widths[node] * (len(instance) + 1)
            for instance, label in lessons
            for node in of_class[label]
        )


@pytest.mark.parametrize("policy", ["greedy", "random"])
@pytest.mark.parametrize(("arity", "max_leaves"), [(2, 2), (16, 16)])
@pytest.mark.parametrize("classes", [50, 300, pytest.param(2000, marks=pytest.mark.slow)])
def test_growing_costs_a_constant_factor_of_building(policy, arity, max_leaves, classes):
    """The paper's bound is 2, for the auxiliary classifiers, over a tree of the same shape."""
    shape = {"arity": arity, "max_leaves": max_leaves}
    lessons = list(stream_of(classes, np.random.default_rng(classes)))
    grown = Learner(Options.of("oplt", policy=policy, **shape))
    built = Learner(Options.of("iplt", sample=len(lessons), tree="complete", **shape))
    for instance, label in lessons:
        grown.learn(instance, [label])
        built.learn(instance, [label])
    ours, same_shape = Costs(grown, lessons, True), Costs(grown, lessons, False)
    complete = Costs(built, lessons, False)
    assert ours.stored >= grown.edges  # an only child has no classifier of its own
    assert ours.stored <= 2 * same_shape.stored
    assert ours.moved <= 2 * same_shape.moved
    assert ours.stored <= 2.2 * complete.stored
    assert ours.moved <= 2.2 * complete.moved


# --- exact search ---------------------------------------------------------------------------------


def by_brute_force(learner, instance):
    """Return every class and its path product, the likeliest first; older classes win ties."""
    state = learner.dump()
    turns = dict(zip(names(state, "class"), state["class_turns"].tolist(), strict=True))
    classes = [name for name in CLASSES if learner.has_class(name)]
    products = [
        prod(node.probability for node in path) for path in learner.paths(instance, classes)
    ]
    return sorted(zip(classes, products, strict=True), key=lambda each: (-each[1], turns[each[0]]))


@examples(150)
@given(growing_trees, streams, st.one_of(st.just([]), streams), instances)
def test_the_best_are_those_that_brute_force_finds(options, stream, built, probe):
    learner = taught(options, stream, built)
    whole = by_brute_force(learner, probe)
    assert len(whole) == learner.classes
    for k in (1, 2, 5, MOST):
        assert learner.rank(probe, k) == whole[:k]
    for threshold in (0.0, 0.5, whole[-1][1], whole[0][1], 1.0):
        above = [each for each in whole if each[1] > threshold]
        assert learner.rank(probe, MOST, threshold) == above
    assert all(0 <= probability <= 1 for _, probability in whole)


def of_many_classes(**options):
    """Return a tree of 2000 classes; only classes of the same hundred share a feature."""
    learner = Learner(Options.of("oplt", **options))
    for n in range(2000):
        learner.learn({f"f{n}": 1.0, f"of hundred {n // 100}": 1.0}, [f"c{n}"])
    return learner


def product(learner, probe, name):
    [path] = learner.paths(probe, [name])
    return prod(node.probability for node in path)


def nodes_opened(learner, probe, k):
    before = learner.work()["nodes_opened"]
    ranked = learner.rank(probe, k)
    return ranked, learner.work()["nodes_opened"] - before


def test_a_search_of_a_tree_that_evicted_nothing_is_exact_however_many_nodes_it_opens():
    learner = of_many_classes(arity=2, max_leaves=1)
    probe = {"unknown": 1.0}
    whole = sorted((product(learner, probe, f"c{n}") for n in range(2000)), reverse=True)
    ranked, opened = nodes_opened(learner, probe, 500)
    assert [probability for _, probability in ranked] == whole[:500]
    assert opened > 1000


def of_nearly_equal_classes(**options):
    """Return an almost untrained tree of 4096 pre-leaves with two classes each."""
    classes = [f"c{n}" for n in range(8192)]
    shape = {"arity": 16, "max_leaves": 2, "tree": "complete", "rate": 1e-6}
    learner = Learner(Options.of("iplt", **shape, **options))
    none = np.zeros(0, np.int32)
    learner.build_csr(
        *(Columns([]), np.zeros(8193, np.int64), none, none.astype(np.float32)),
        *(Columns(classes), np.arange(8193), np.arange(8192, dtype=np.int32)),
    )
    learner.learn({"one": 1.0}, ["c1"])
    learner.learn({"two": 1.0}, ["c2000"])
    return learner


@pytest.mark.parametrize("k", [1, 5, 50])
def test_a_search_after_an_eviction_opens_a_bounded_number_of_nodes(k):
    probe, deepest = {"unknown": 1.0}, 4
    assert nodes_opened(of_nearly_equal_classes(), probe, k)[1] > 4000
    learner = of_nearly_equal_classes(max_features=1)
    assert learner.evicted_features == 1
    ranked, opened = nodes_opened(learner, probe, k)
    assert opened <= 512 + max(32, k) * deepest
    assert len({name for name, _ in ranked}) == k
    assert ranked == sorted(ranked, key=lambda each: -each[1])
    assert all(product(learner, probe, name) == probability for name, probability in ranked)


def test_all_classes_are_ranked_after_evictions_too():
    learner = of_many_classes(arity=2, max_leaves=1, max_features=1000)
    names_met = [name for name, _ in learner.rank({"unknown": 1.0}, 3000)]
    assert sorted(names_met) == sorted(f"c{n}" for n in range(2000))


@given(st.lists(true_classes, min_size=1, max_size=30), st.sampled_from([1, 3]))
def test_equal_classes_stand_as_they_came(stream, max_leaves):
    learner = Learner(Options.of("iplt", arity=2, max_leaves=max_leaves))
    learner.build_csr(*rows([({}, classes) for classes in stream]))
    came = list(dict.fromkeys(name for classes in stream for name in classes))
    for name in came[:2]:
        learner.forget_class(name)
    learner.build_csr(*rows([({}, classes) for classes in stream]))
    order = [*came[2:], *came[:2]]  # differs from the order of ids, since ids are reused
    ranked = learner.rank({}, MOST)
    assert ranked == sorted(ranked, key=lambda each: (-each[1], order.index(each[0])))
    assert {np.log2(probability) % 1 for _, probability in ranked} == {0.0}  # halves of halves


@examples(100)
@given(growing_trees, streams, instances)
def test_paths_agree_where_they_are_the_same(options, stream, probe):
    learner = taught(options, stream)
    state = learner.dump()
    nodes, ids = paths_of(state), names(state, "class")
    probability, classes = {}, {}
    for cls, path in zip(ids, learner.paths(probe, ids), strict=True):
        below = [ids.index(cls), *nodes[ids.index(cls)]]  # each node with its parent to the right
        met = list(zip(below[-2::-1], below[:0:-1], strict=True))  # (node, parent); the root first
        assert len(path) == len(met)
        assert path[-1].classes == 1
        for node, edge in zip(path, met, strict=True):
            assert probability.setdefault(edge, node.probability) == node.probability
            assert classes.setdefault(edge, node.classes) == node.classes
            assert 0 <= node.probability <= 1
    assert sum(count == 1 for count in classes.values()) >= learner.classes
    of_root = [
        count for (_, above), count in classes.items() if above == int(state["counts"][7]) - 1
    ]
    assert sum(of_root) == learner.classes


def test_contributions_add_up_to_the_log_odds_of_the_path():
    stream = [({FEATURES[n % 10]: 1.0, FEATURES[n % 7]: 2.0}, [CLASSES[n % 25]]) for n in range(90)]
    learner = taught(Options.of("oplt", arity=2, max_leaves=3), stream)
    probe, depth = {FEATURES[0]: 1.0, FEATURES[3]: 0.5, "unknown": 1.0}, 0
    reasons = learner.explain(probe, CLASSES, MOST)
    for path, given_by in zip(learner.paths(probe, CLASSES, MOST), reasons, strict=True):
        whole = 0.0
        for node in path:
            score = sum(moved for _, moved in node.moved) + node.bias
            assert (
                node.probability == pytest.approx(1 / (1 + np.exp(-score)), rel=1e-4) or score == 0
            )
            whole += score - node.bias
        assert sum(moved for _, moved in given_by) == pytest.approx(whole, abs=1e-4)
        assert {name for name, _ in given_by} <= {FEATURES[0], FEATURES[3]}
        depth = max(depth, len(path))
    assert depth > 3


def test_the_bias_is_an_input_of_the_value_of_the_option():
    fixed = {"normalize": "none", "sublinear": False, "tfidf": False, "rate": 1, "epsilon": 1}
    stream = [({"f0": 1.0}, ["c0"]), ({"f0": 1.0}, ["c1"])]

    def odds_of_the_second(bias):
        learner = taught(Options.of("oplt", bias=bias, **fixed), stream)
        [[node]] = learner.paths({"f0": 1.0}, ["c1"])
        [(_, moved)] = node.moved
        return moved, node.bias

    def expected(bias):
        """Step from the negative of the first step, which has the slope 1/2."""
        first = [value * 0.5 / np.sqrt((value * 0.5) ** 2 + 1) for value in (1.0, bias)]
        slope = 1 / (1 + np.exp(-first[0] - bias * first[1]))
        return [
            value * (value * slope / np.sqrt((value * 0.5) ** 2 + (value * slope) ** 2 + 1) - start)
            for value, start in zip((1.0, bias), first, strict=True)
        ]

    for bias in (0.0, 0.1, 1.0, 3.0):
        assert odds_of_the_second(bias) == pytest.approx(expected(bias), rel=1e-4)


@pytest.mark.parametrize(("bias", "expected"), [(0.1, 0.4), (0.3, 1.0), (1.0, 1.0), (2.0, 2.0)])
def test_the_bias_grows_with_the_classes_of_an_event_up_to_1(bias, expected):
    learner = taught(Options.of("oplt", bias=bias, tfidf=False), [({"f0": 1.0}, CLASSES[:4])])
    weight = learner.dump()["tree_weights"][-1]  # of the bias, the last input
    [[node]] = learner.paths({"f0": 1.0}, [CLASSES[0]])
    assert node.bias / weight == pytest.approx(expected)


# --- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        "normalize=none,sublinear=no,rate=100",
        "normalize=none,sublinear=no,rate=100,epsilon=0.000000001",
        "normalize=none,sublinear=no,epsilon=1000000000,tfidf=no",
        "rate=100,min_weight=0.99",
        "rate=100,bias=1000",
        "bias=0",
    ],
)
@pytest.mark.parametrize(
    "specification", ["oplt", "oplt(policy=random", "iplt(sample=50", "iplt(sample=200"]
)
def test_extreme_values_make_probabilities_and_states_that_load(specification, options):
    given = f"{specification},{options}" if "(" in specification else f"{specification}({options}"
    learner = Learner(Options.parse(f"{given},arity=2,max_leaves=2)"))
    random = np.random.default_rng(4)
    for number in range(300):
        features = {f"f{n}": float(10.0 ** random.integers(-30, 31)) for n in range(3)}
        learner.learn(features, [f"c{number % 13}"])
        assert all(0 <= probability <= 1 for _, probability in learner.rank(features, MOST))
    state = learner.dump()
    assert np.abs(state["tree_weights"]).max() < 1e10
    assert Learner.load(learner.options, state).rank({"f1": 1e30, "f2": 1e-30}, 20) == learner.rank(
        {"f1": 1e30, "f2": 1e-30}, 20
    )


def test_a_feature_whose_vector_vanishes_divides_no_one():
    """The only value of the scaled instance underflows in single precision."""
    lessons = [({"f0": 1e-10, "f1": 1e29}, [CLASSES[n % 9]]) for n in range(18)]
    learner = Learner(Options.of("iplt", arity=2, max_leaves=2, max_features=1))
    learner.build_csr(*rows(lessons))
    assert learner.classes == 9
    assert len(learner.rank({}, MOST)) == 9

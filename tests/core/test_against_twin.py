"""The native index beside its slow twin: equal in every score, weight and counter, bit by bit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from core.event import LONGEST_NAME, Event, Instance
from core.index import Columns, Index
from core.options import LONGEST_ROW, Options
from tests.core.twin import Twin

FEATURES = ["f", "of the _", "eight by", "nine byte", "Käse", "日本語", "a\0b", "x" * 300]
CLASSES = ["a", "b", "rec.autos", "Ö", "class with a long name", "z" * 40]
MOST = 200  # more than there are classes
COUNTERS = [
    "features",
    "classes",
    "edges",
    "bytes",
    "learned",
    "evicted_features",
    "evicted_classes",
    "active_features_ranked",
    "edges_touched",
]


class Both:
    """An index and its twin. Every call goes to both, and must answer the same."""

    def __init__(self, options, features=FEATURES, classes=CLASSES):
        self.index = Index(options)
        self.twin = Twin(options)
        self.features, self.classes = features, classes
        self.feature_columns, self.class_columns = Columns(features), Columns(classes)

    def rank(self, instance, k=MOST, threshold=0.0):
        given = Instance(instance)
        ours = self.index.rank(given, k, threshold)
        assert ours == self.twin.rank(dict(given.items()), k, threshold)

    def explain(self, instance, limit):
        given = Instance(instance)
        ours = self.index.explain(given, self.classes, limit)
        assert ours == self.twin.explain(dict(given.items()), self.classes, limit)

    def learn(self, instance, classes):
        given = Instance(instance)
        assert self.index.learn(given, classes) == self.twin.learn(dict(given.items()), classes)

    def apply(self, instance, classes):
        given = Instance(instance)
        ours = self.index.apply(Event.learn(given, classes))
        assert ours == self.twin.learn(dict(given.items()), classes)

    def forget_class(self, name):
        assert self.index.forget_class(name) == self.twin.forget_class(name)

    def forget_feature(self, name):
        assert self.index.forget_feature(name) == self.twin.forget_feature(name)

    def configure(self, options):
        self.index.configure(options)
        self.twin.configure(options)

    def rank_csr(self, instances, k):
        ids, scores = self.index.rank_csr(self.feature_columns, *self.rows(instances), k)
        for row, instance in enumerate(instances):
            ranked = self.twin.rank(instance, k)
            gap = k - len(ranked)
            assert ids[row].tolist() == [self.twin.labels[c].id for c, _ in ranked] + [-1] * gap
            assert scores[row].tolist() == [score for _, score in ranked] + [0.0] * gap

    def learn_csr(self, lessons, passes_done):
        class_indptr = np.cumsum([0] + [len(classes) for _, classes in lessons])
        class_indices = [self.classes.index(name) for _, classes in lessons for name in classes]
        ranks = self.index.learn_csr(
            self.feature_columns,
            *self.rows([instance for instance, _ in lessons]),
            self.class_columns,
            class_indptr.astype(np.int64),
            np.array(class_indices, np.int32),
            passes_done,
        )
        assert ranks.tolist() == [
            self.twin.learn(instance, classes, passes_done == 0)[0] for instance, classes in lessons
        ]

    def rows(self, instances):
        indptr = np.cumsum([0] + [len(instance) for instance in instances])
        indices = [self.features.index(name) for instance in instances for name in instance]
        values = [value for instance in instances for value in instance.values()]
        return indptr.astype(np.int64), np.array(indices, np.int32), np.array(values, np.float32)

    def reload(self, hash_seed):
        sections = self.index.dump()
        self.index = Index.load(self.index.options, sections, hash_seed)
        again = self.index.dump()
        assert list(again) == list(sections)
        for name in sections:
            assert np.array_equal(again[name], sections[name])
        self.twin.active_features_ranked = self.twin.edges_touched = 0  # no part of the state

    def compare(self):
        """Every row, weight and counter."""
        index, twin = self.index, self.twin
        for counter in COUNTERS:
            assert getattr(index, counter) == getattr(twin, counter), counter
        for name in twin.rows:
            assert index.feature(name) == twin.feature(name)
        for name in twin.labels:
            assert index.class_(name) == twin.class_(name)
        assert index.class_page("", "", MOST) == twin.class_page("", "", MOST)
        degrees = twin.outdegrees()
        assert index.outdegrees()[: len(degrees)].tolist() == degrees.tolist()
        assert index.class_ids(self.class_columns).tolist() == [
            twin.labels[name].id if name in twin.labels else -1 for name in self.classes
        ]


# --- short streams over few names, so that they meet often ------------------------------------

values = st.one_of(
    st.sampled_from([1, 1.0, 2.0, 0.5]),
    st.floats(-1, 4, width=32),
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

options = st.builds(
    Options,
    margin_threshold=st.sampled_from([0.0, 0.0, 0.1, 0.5, -0.2, 100.0]),
    min_weight=st.sampled_from([0.01, 0.0, 0.1, 0.3, 0.6, 0.99]),
    max_outdegree=st.sampled_from([25, 1, 2, 3]),
    rating=st.sampled_from([10, 0, 1, 3]),
    leak=st.booleans(),
    boolean=st.sampled_from([False, False, True]),
    normalize=st.sampled_from(["l2", "none"]),
    tfidf=st.booleans(),
    retrieval_window=st.sampled_from([50, 1, 2, 3]),
    feature_memory=st.sampled_from([0.0, 1.0, 1.3, 2.5, 10.0, 30.0]),
    max_features=st.sampled_from([10_000_000, 1, 2, 3, 5]),
    max_classes=st.sampled_from([1_000_000, 1, 2, 3]),
)

calls = st.one_of(
    st.tuples(st.sampled_from(["learn", "learn", "learn", "apply"]), instances, true_classes),
    st.tuples(
        st.just("learn_csr"),
        st.lists(st.tuples(array_instances, true_classes), max_size=5),
        st.sampled_from([0, 0, 1]),
    ),
    st.tuples(
        st.just("rank"), instances, st.sampled_from([1, 2, MOST]), st.sampled_from([0, 0.2, -1])
    ),
    st.tuples(
        st.just("rank_csr"), st.lists(array_instances, max_size=4), st.sampled_from([1, 3, MOST])
    ),
    st.tuples(st.just("explain"), instances, st.sampled_from([1, 10])),
    st.tuples(st.just("forget_class"), class_names),
    st.tuples(st.just("forget_feature"), feature_names),
    st.tuples(st.just("configure"), options),
    st.tuples(st.just("reload"), st.integers(0, 2**64 - 1)),
)


@settings(max_examples=1000, deadline=None)
@given(options, st.lists(calls, max_size=25))
def test_short_streams(options, stream):
    both = Both(options)
    note(f"{options} {stream}")
    for call, *arguments in stream:
        getattr(both, call)(*arguments)
        both.compare()


# --- long streams over many names: rows grow, move, are packed; many are evicted at once ----------


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
    stream = list(stream)
    for number, (instance, classes) in enumerate(stream):
        if number % 3:
            both.learn(instance, classes)
        else:
            both.learn_csr([(instance, classes)], 0)
        if number % 5 == 0:
            both.rank(instance, LIST_LENGTHS[number % len(LIST_LENGTHS)])
        if number % 50 == 0:
            both.reload(number)
        if number % 100 == 0:
            both.compare()
    both.rank_csr([instance for instance, _ in stream], 5)
    both.compare()


LIST_LENGTHS = [1, 5, 32, 33, 0, MOST]
seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=40, deadline=None)
@given(options, seeds)
def test_long_streams(options, seed):
    features = [f"feature {number}" for number in range(400)]
    classes = [f"class {number}" for number in range(150)]
    options = replace(options, max_features=10_000_000, max_classes=1_000_000)
    teach(Both(options, features, classes), lessons(seed, 300, features, classes))


@settings(max_examples=40, deadline=None)
@given(options, seeds, st.sampled_from([64, 150, 200]), st.sampled_from([20, 64, 130]))
def test_long_streams_with_eviction(options, seed, max_features, max_classes):
    features = [f"feature {number}" for number in range(400)]
    classes = [f"class {number}" for number in range(150)]
    options = replace(options, max_features=max_features, max_classes=max_classes)
    both = Both(options, features, classes)
    teach(both, lessons(seed, 300, features, classes))

    assert both.twin.evicted_features > 0


@settings(max_examples=10, deadline=None)
@given(options, seeds)
def test_long_streams_within_bytes(options, seed):
    features = [f"{number} ".ljust(LONGEST_NAME, "x") for number in range(400)]
    classes = [f"class {number}" for number in range(50)]
    options = replace(options, max_bytes=2**20, max_features=10_000_000, max_classes=1_000_000)
    both = Both(options, features, classes)
    teach(both, lessons(seed, 300, features, classes))

    assert both.twin.evicted_features > 0
    assert both.index.bytes <= 2**20


# --- corners that random streams seldom reach -----------------------------------------------------


def test_forgetting_leaves_no_edge_without_mass_to_share():
    both = Both(
        Options(
            normalize="none", rating=0, min_weight=0.0, margin_threshold=100.0, feature_memory=0.0
        )
    )
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
    both = Both(leaking)
    for name in ("a", "b", "a"):  # each ousts the other, and leaks
        both.learn({"f": 1}, [name])
    assert both.index.feature("f")["mass"] == 3
    both.configure(replace(leaking, leak=False))
    both.learn({"f": 1}, ["c"])

    both.compare()
    assert both.index.feature("f")["mass"] == 0
    both.learn({"f": 1}, ["c"])
    assert both.index.rank(Instance({"f": 1})) == [("c", 1.0)]


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
    both = Both(Options(rating=0, margin_threshold=1.0, feature_memory=0.0))
    for number in range(20):
        both.learn({FEATURES[number % 8]: 1, FEATURES[number % 3]: 2}, [CLASSES[number % 5]])
    instance = dict.fromkeys(FEATURES, 1)
    both.explain(instance, limit)

    (best, score), *_ = both.index.rank(Instance(instance))
    reasons = both.index.explain(Instance(instance), [best], 1000)[0]
    assert sum(gave for _, gave in reasons) == pytest.approx(score)

"""An index beside its reference, and names and labelled examples for both."""

import numpy as np
import pytest

from manyclass.core.columns import Columns
from manyclass.core.event import Event
from manyclass.core.index import Index
from manyclass.core.instance import Instance
from tests.core.references import reference_of

FEATURES = ["f", "of the _", "eight by", "nine byte", "Käse", "日本語", "a\0b", "x" * 300]
CLASSES = ["a", "b", "rec.autos", "Ö", "class with a long name", "z" * 40]
MANY_FEATURES = [f"feature {number}" for number in range(400)]
MANY_CLASSES = [f"class {number}" for number in range(150)]
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


def assert_alike(ours, its_own):
    """Compare two results; scores before an update are differences, rounded in other ways."""
    assert ours[:2] == its_own[:2]
    assert ours[2:] == pytest.approx(its_own[2:], rel=1e-9, abs=1e-12)


class Both:
    """An index and its reference: every call goes to both, and the answers must be equal."""

    def __init__(self, options, features, classes):
        self.index = Index(options)
        self.reference = reference_of(options)
        self.features, self.classes = features, classes
        self.feature_columns, self.class_columns = Columns(features), Columns(classes)

    # --- one instance -----------------------------------------------------------------------------

    def rank(self, instance, k=MOST, threshold=None):
        given = Instance(instance)
        ours = self.index.rank(given, k, threshold)
        assert ours == self.reference.rank(dict(given.items()), k, threshold)

    def explain(self, instance, limit):
        given = Instance(instance)
        ours = self.index.explain(given, self.classes, limit)
        assert ours == self.reference.explain(dict(given.items()), self.classes, limit)
        paths = self.index.paths(given, self.classes, limit)
        assert paths == self.reference.paths(dict(given.items()), self.classes, limit)

    def learn(self, instance, classes, passes_done=0):
        given = Instance(instance)
        ours = self.index.learn(given, classes, passes_done)
        assert_alike(ours, self.reference.learn(dict(given.items()), classes, passes_done == 0))

    def apply(self, instance, classes):
        given = Instance(instance)
        ours = self.index.apply(Event.learn(given, classes))
        assert_alike(ours, self.reference.learn(dict(given.items()), classes))

    def forget_class(self, name):
        assert self.index.forget_class(name) == self.reference.forget_class(name)

    def forget_feature(self, name):
        assert self.index.forget_feature(name) == self.reference.forget_feature(name)

    # --- many instances ---------------------------------------------------------------------------

    def rank_csr(self, instances, k):
        ids, scores = self.index.rank_csr(self.feature_columns, *self.rows(instances), k)
        for row, instance in enumerate(instances):
            ranked = self.reference.rank(instance, k)
            gap = k - len(ranked)
            assert (
                ids[row].tolist() == [self.reference.labels[c].id for c, _ in ranked] + [-1] * gap
            )
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
            self.reference.learn(instance, classes, passes_done == 0)[0]
            for instance, classes in lessons
        ]

    def plant_csr(self, lessons):
        class_indptr = np.cumsum([0] + [len(classes) for _, classes in lessons])
        class_indices = [self.classes.index(name) for _, classes in lessons for name in classes]
        planted = self.index.plant_csr(
            self.feature_columns,
            *self.rows([instance for instance, _ in lessons]),
            self.class_columns,
            class_indptr.astype(np.int64),
            np.array(class_indices, np.int32),
        )
        assert planted == self.reference.plant_rows(lessons)

    def rows(self, instances):
        indptr = np.cumsum([0] + [len(instance) for instance in instances])
        indices = [self.features.index(name) for instance in instances for name in instance]
        values = [value for instance in instances for value in instance.values()]
        return indptr.astype(np.int64), np.array(indices, np.int32), np.array(values, np.float32)

    # --- the whole --------------------------------------------------------------------------------

    def configure(self, options):
        self.index.configure(options)
        self.reference.configure(options)

    def sparsify(self, edges):
        assert self.index.sparsify(edges) == self.reference.sparsify(edges)

    def reload(self, hash_seed):
        self.index = Index.load(self.index.options, self.index.dump(), hash_seed)
        self.reference.active_features_ranked = self.reference.edges_touched = (
            0  # no part of the state
        )

    def compare(self):
        """Compare every counter and every array of the state."""
        for counter in COUNTERS:
            assert getattr(self.index, counter) == getattr(self.reference, counter), counter
        ours = self.index.dump()
        its_own = self.reference.dump()
        assert list(ours) == list(its_own)
        for name, array in ours.items():
            assert array.tolist() == its_own[name], name

    def look_inside(self):
        """Compare every view of the index with the reference's."""
        index, reference = self.index, self.reference
        for name in reference.rows:
            assert index.feature(name) == reference.feature(name)
        for name in reference.labels:
            assert index.class_(name) == reference.class_(name)
            assert index.class_(name, 1) == reference.class_(name, 1)
        assert index.class_page("", "", MOST) == reference.class_page("", "", MOST)
        assert index.feature_page("", "", MOST) == reference.feature_page("", "", MOST)
        degrees = reference.outdegrees()
        assert index.outdegrees()[: len(degrees)].tolist() == degrees.tolist()
        assert index.class_ids(self.class_columns).tolist() == [
            reference.labels[name].id if name in reference.labels else -1 for name in self.classes
        ]


def lessons(seed, count, features, classes):
    """Yield random examples; some features and classes are far more frequent than others."""
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

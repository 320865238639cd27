"""A learner beside its reference, and names and labelled examples for both."""

from contextlib import contextmanager

import numpy as np
import pytest

from manyclass.core.columns import Columns
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from tests.core.csr import instances_of, rows_of
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


class Both:
    """A learner and its reference: every call goes to both, and the answers must be equal."""

    def __init__(self, options, features, classes, learner=Learner, reference=reference_of):
        self.learner = learner(options)
        self.reference = reference(options)
        self.features, self.classes = features, classes
        self.feature_columns, self.class_columns = Columns(features), Columns(classes)

    @staticmethod
    def assert_alike(ours, its_own):
        """Compare two results; scores before an update are differences, rounded in other ways."""
        assert ours[:2] == its_own[:2]
        assert ours[2:] == pytest.approx(its_own[2:], rel=1e-9, abs=1e-12)

    # --- one instance -----------------------------------------------------------------------------

    def rank(self, instance, k=MOST, threshold=None, among=None):
        given = Instance(instance)
        ours = self.learner.rank(given, k, threshold, among)
        assert ours == self.reference.rank(dict(given.items()), k, threshold, among)

    def explain(self, instance, limit):
        given = Instance(instance)
        ours = self.learner.explain(given, self.classes, limit)
        assert ours == self.reference.explain(dict(given.items()), self.classes, limit)
        paths = self.learner.paths(given, self.classes, limit)
        assert paths == self.reference.paths(dict(given.items()), self.classes, limit)

    def learn(self, instance, classes, epoch=0, rejected=(), weight=1.0):
        given = Instance(instance)
        arguments = dict(given.items()), classes, epoch == 0, rejected, weight
        with self.placing(self.note_classes(classes)):
            ours = self.learner.learn(given, classes, epoch, rejected, weight)
            self.assert_alike(ours, self.reference.learn(*arguments))

    def learn_placed(self, instance, classes, name, parent, moves):
        """Learn an event that places a class as well."""
        given = Instance(instance)
        event = Event.learn(given, classes)
        names = self.place_in_taxonomies(name, parent, moves)
        with self.placing([*names, *self.note_classes(classes)]):
            ours = self.learner.apply(event)
            self.assert_alike(ours, self.reference.learn(dict(given.items()), classes))

    def apply(self, instance, classes, rejected=(), weight=1.0):
        given = Instance(instance)
        event = Event.learn(given, classes, rejected=rejected, weight=weight)
        arguments = dict(given.items()), classes, True, rejected, weight
        with self.placing(self.note_classes(classes)):
            self.assert_alike(self.learner.apply(event), self.reference.learn(*arguments))

    def forget_class(self, name):
        assert self.learner.forget_class(name) == self.reference.forget_class(name)
        own = [name] if name in self.learner.taxonomy else []
        gone = self.learner.taxonomy.forget(name)
        assert self.reference.taxonomy.forget(name) == gone
        self.placed([*own, *gone])

    def forget_feature(self, name):
        assert self.learner.forget_feature(name) == self.reference.forget_feature(name)

    # --- the taxonomy -----------------------------------------------------------------------------

    def place(self, name, parent, moves=False):
        self.placed(self.place_in_taxonomies(name, parent, moves))

    def place_in_taxonomies(self, name, parent, moves):
        """Place a class; return the names of the nodes that a learner has to look at."""
        gone = self.learner.taxonomy.place(name, parent, moves)
        assert self.reference.taxonomy.place(name, parent, moves) == gone
        return [*dict.fromkeys([name, *filter(None, [parent]), *gone])]

    def note_classes(self, names):
        noted = self.learner.taxonomy.note_classes(names)
        assert self.reference.taxonomy.note_classes(names) == noted
        return noted

    def placed(self, names, before_learning=False):
        if names:
            self.learner.placed(names, before_learning)
            self.reference.placed(names, before_learning)

    @contextmanager
    def placing(self, names):
        """Let the learners take in changed nodes, for an event that is learned inside."""
        self.placed(names, before_learning=True)
        yield
        self.placed(names)

    # --- many instances ---------------------------------------------------------------------------

    def rank_csr(self, instances, k):
        rows = instances_of(self.features, instances)
        ids, scores = self.learner.rank_csr(self.feature_columns, *rows, k)
        id_of = dict(zip(self.classes, self.learner.class_ids(self.class_columns), strict=True))
        for row, instance in enumerate(instances):
            ranked = self.reference.rank(dict(Instance(instance).items()), k) if k else []
            gap = k - len(ranked)
            assert ids[row].tolist() == [id_of[name] for name, _ in ranked] + [-1] * gap
            assert scores[row].tolist() == [score for _, score in ranked] + [0.0] * gap

    def learn_csr(self, lessons, epoch):
        top_two = np.full((len(lessons), 2), np.nan)
        ranks = self.learner.learn_csr(*self.arrays(lessons), epoch, top_two=top_two)
        outcomes = [
            self.reference.learn(dict(Instance(instance).items()), classes, epoch == 0)
            for instance, classes in lessons
        ]
        assert ranks.tolist() == [each.rank for each in outcomes]
        for given, its_own in zip(top_two.tolist(), outcomes, strict=True):
            assert given == pytest.approx(its_own[2:], rel=1e-9, abs=1e-12)

    def build_csr(self, lessons):
        is_built = self.learner.build_csr(*self.arrays(lessons))
        assert is_built == self.reference.build_from_rows(lessons)

    def arrays(self, lessons):
        instances, classes = [each for each, _ in lessons], [each for _, each in lessons]
        rows = self.feature_columns, *instances_of(self.features, instances)
        return *rows, self.class_columns, *rows_of(self.classes, classes)

    # --- the whole --------------------------------------------------------------------------------

    def configure(self, options):
        self.learner.configure(options)
        self.reference.configure(options)

    def sparsify(self, edges):
        assert self.learner.sparsify(edges) == self.reference.sparsify(edges)

    def reload(self, hash_seed):
        state = self.learner.dump()
        options, taxonomy = self.learner.options, self.learner.taxonomy
        self.learner = type(self.learner).load(options, state, hash_seed, taxonomy)
        self.reference.active_features_ranked = self.reference.edges_touched = 0  # not in the state

    def compare(self):
        """Compare every counter and every array of the state."""
        for counter in COUNTERS:
            assert getattr(self.learner, counter) == getattr(self.reference, counter), counter
        ours = self.learner.dump()
        its_own = self.reference.dump()
        assert list(ours) == list(its_own)
        for name, array in ours.items():
            assert array.tolist() == its_own[name], name

    def look_inside(self):
        """Compare every view of the learner with the reference's."""
        learner, reference = self.learner, self.reference
        for name in reference.rows:
            assert learner.feature(name) == reference.feature(name)
        for name in reference.labels:
            assert learner.class_(name) == reference.class_(name)
            assert learner.class_(name, 1) == reference.class_(name, 1)
        assert learner.class_page("", "", MOST) == reference.class_page("", "", MOST)
        assert learner.feature_page("", "", MOST) == reference.feature_page("", "", MOST)
        degrees = reference.outdegrees()
        assert learner.outdegrees()[: len(degrees)].tolist() == degrees.tolist()
        assert learner.class_ids(self.class_columns).tolist() == [
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

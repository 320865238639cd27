"""The native votes of a committee beside plain ones over the same members, equal by bit."""

from dataclasses import replace

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st

from manyclass.core.columns import Columns
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from tests.core.csr import instances_of, rows_of
from tests.core.references.voting import Voting
from tests.hypothesis_examples import examples

FEATURES = [f"feature {number}" for number in range(12)]
CLASSES = [f"class {number}" for number in range(70)]  # more than a member nominates
DEEPEST = 10  # places that learning looks at
MOST = 2**32 - 1

NAMED = "ff", "ff(margin_threshold=100", "pa(max_outdegree=3", "arow", "svm(neighbors=3"
LEARNERS = [*NAMED, "frequency"]
TREES = ["oplt(policy=random", "oplt(arity=3,max_leaves=2", "oplt", "iplt"]


def members_from(learners):
    """Return specifications of members, equal ones among them, some of which learn little."""
    each = st.builds(
        lambda learner, options: f"{learner}{',' if '(' in learner else '('}{options})",
        st.sampled_from(learners),
        st.builds(
            "subsample={},shuffle={},max_classes={}".format,
            st.sampled_from([1, 1, 1, 0.5, 0.05]),
            st.sampled_from([0, 0, 0, 3]),
            st.sampled_from([1000, 1000, 5]),
        ),
    )
    return st.lists(each, min_size=1, max_size=4).map("+".join)


def options_of(learners, votes):
    return st.builds(
        lambda members, vote, most: Options.of(
            "committee", members=members, vote=vote, max_classes=most
        ),
        members_from(learners),
        st.sampled_from(votes),
        st.sampled_from([1000, 1000, 8]),
    )


options = st.one_of(
    options_of(LEARNERS, ["majority", "rarest", "score"]),
    options_of(TREES, ["probability", "probability", "majority", "score"]),
    options_of([*LEARNERS, *TREES], ["majority", "rarest", "score"]),
)
values = st.sampled_from([1.0, 1.0, 2.0, 0.5])
instances = st.dictionaries(st.sampled_from(FEATURES), values, max_size=4)
few = st.sampled_from(CLASSES[:4])
class_names = few | st.sampled_from(CLASSES)
lessons = st.lists(
    st.tuples(instances, st.lists(class_names, min_size=1, max_size=3, unique=True)), max_size=40
)
calls = st.one_of(
    st.tuples(st.just("learn"), lessons),
    st.tuples(st.just("learn_csr"), lessons),
    st.tuples(
        st.just("rank"),
        instances,
        st.sampled_from([0, 1, 2, 5, 100, MOST]),
        st.sampled_from([None, None, 0.0, 0.3, 1.0]),
        st.none() | st.lists(class_names | st.just("unknown"), max_size=6),
    ),
    st.tuples(st.just("rank_csr"), st.lists(instances, max_size=5), st.sampled_from([0, 1, 5, 90])),
    st.tuples(st.just("forget"), few),
    st.tuples(st.just("vote"), st.sampled_from(["majority", "rarest", "score"])),
    st.tuples(st.just("reload"), st.integers(0, 2**64 - 1)),
)


class Table:
    """The classes that the committee itself has, whether or not its members have them."""

    def __init__(self, committee):
        self._committee = committee

    def has_class(self, name):
        return self._committee.class_ids(Columns([name]))[0] >= 0

    def class_(self, name, limit):
        return self._committee.class_(name, limit)


class Beside:
    """A committee, and the plain votes of its members."""

    def __init__(self, options):
        self.committee = Learner(options)
        self.features, self.classes = Columns(FEATURES), Columns(CLASSES)

    @property
    def voting(self):
        members = [member.learner for member in self.committee.members]
        return Voting(members, Table(self.committee), self.committee.options.vote)

    def expected(self, instance, k, threshold=None, among=None):
        if among is None:
            _, ranked = self.voting.rank(Instance(instance), max(k, 1))
        else:
            ranked = self.voting.rank_among(Instance(instance), among)
        return [each for each in ranked if threshold is None or each[1] > threshold][:k]

    def rank(self, instance, k, threshold, among):
        ours = self.committee.rank(instance, k, threshold, among)
        assert ours == self.expected(instance, k, threshold, among)

    def rank_csr(self, instances, k):
        ids, scores = self.committee.rank_csr(self.features, *instances_of(FEATURES, instances), k)
        id_of = dict(zip(CLASSES, self.committee.class_ids(self.classes).tolist(), strict=True))
        for row, instance in enumerate(instances):
            ranked = self.expected(instance, k)
            gap = k - len(ranked)
            assert ids[row].tolist() == [id_of[name] for name, _ in ranked] + [-1] * gap
            assert scores[row].tolist() == [score for _, score in ranked] + [0.0] * gap

    def learn(self, lessons):
        for instance, true in lessons:
            self.learn_one(instance, true, lambda *given: self.committee.learn(*given))

    def learn_csr(self, lessons):
        def learn(instance, true):
            top_two = np.empty((1, 2))
            rows = self.features, *instances_of(FEATURES, [instance])
            labels = self.classes, *rows_of(CLASSES, [true])
            ranks = self.committee.learn_csr(*rows, *labels, top_two=top_two)
            return int(ranks[0]), None, *top_two[0].tolist()

        for instance, true in lessons:
            self.learn_one(instance, true, learn)

    def learn_one(self, instance, true, learn):
        nominations, ranking = self.voting.rank(Instance(instance), DEEPEST)
        places = [place_of(each, true) for each in nominations]
        progress = [member.progress.examples for member in self.committee.members]

        rank, _, first, second = learn(instance, true)

        assert rank == place_of(ranking, true)
        assert [first, second] == [*(score for _, score in ranking[:2]), 0.0, 0.0][:2]
        for member, place, before in zip(self.committee.members, places, progress, strict=True):
            assert member.progress.dump()["progress_ranks"][before] == place

    def forget(self, name):
        self.committee.forget_class(name)

    def vote(self, vote):
        self.committee.configure(replace(self.committee.options, vote=vote))

    def reload(self, hash_seed):
        state = self.committee.dump()
        self.committee = Learner.load(self.committee.options, state, hash_seed)


def place_of(ranking, true):
    """Return the place of the best true class, 0 for none."""
    places = (place for place, (name, _) in enumerate(ranking, start=1) if name in true)
    return next(places, 0)


@examples(200)
@given(options, st.lists(calls, max_size=12))
def test_short_streams(options, stream):
    beside = Beside(options)
    note(f"{options} {stream}")
    for call, *arguments in stream:
        getattr(beside, call)(*arguments)


@examples(20)
@given(options, st.integers(0, 2**32 - 1))
def test_long_streams(options, seed):
    random = np.random.default_rng(seed)
    beside = Beside(options)
    for number in range(300):
        true = CLASSES[int(70 * random.random() ** 2)]
        active = [FEATURES[at] for at in random.choice(12, random.integers(0, 4), replace=False)]
        lesson = dict.fromkeys([*active, FEATURES[CLASSES.index(true) % 12]], 1.0), [true]
        getattr(beside, ["learn", "learn_csr"][number % 2])([lesson])
        if number % 10 == 0:
            beside.rank(lesson[0], 5, None, None)
            beside.rank(lesson[0], 5, None, CLASSES[number % 7 :: 7])
            beside.rank_csr([lesson[0]], 3)
        if number % 50 == 49:
            beside.forget(CLASSES[number % 11])

"""The committee beside its slow reference, and its promises beyond the contract of a learner."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from manyclass.core.columns import Columns
from manyclass.core.errors import OptionError, SnapshotError, UnknownName
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.ensemble import members_of
from manyclass.core.learners.options import Options
from tests.core.both import Both
from tests.core.dumps import assert_equal_dumps, names
from tests.core.references.committee import CommitteeReference
from tests.hypothesis_examples import examples

FEATURES = ["f", "of the _", "Käse", "日本語", "a\0b", "x" * 300]
CLASSES = ["a", "b", "rec.autos", "Ö", "z" * 40]
MOST = 100  # more than there are classes
OF_MEMBERS = ["edges", "evicted_features", "active_features_ranked", "edges_touched"]
OWN = ["features", "classes", "bytes", "learned", "evicted_classes"]


def committee_of(*members, **options):
    return Learner(Options.of("committee", members="+".join(members), **options))


class CommitteeBoth(Both):
    """A committee and its reference."""

    def __init__(self, options):
        super().__init__(options, FEATURES, CLASSES, Learner, CommitteeReference)

    @staticmethod
    def assert_alike(ours, its_own):
        assert ours == its_own

    def forget_class(self, name):
        assert self.learner.has_class(name) == self.reference.has_class(name)
        super().forget_class(name)

    def forget_feature(self, name):
        assert self.learner.has_feature(name) == self.reference.has_feature(name)
        super().forget_feature(name)

    def configure(self, options):
        before, after = (
            [member.learner for member in members_of(each)]
            for each in (self.learner.options, options)
        )
        if before == after:
            super().configure(options)
            return
        with pytest.raises(OptionError, match="cannot change"):
            self.learner.configure(options)

    def weighted(self, call, instance, said, weight):
        """Learn with a weight, and with rejected classes, as far as all members can."""
        options = self.learner.options
        true = [name for name, is_true in said if is_true or not options.learns_rejections]
        rejected = [name for name, _ in said if name not in true]
        weight = weight if options.learns_weights else 1.0
        given = (instance, true, rejected, weight)
        self.apply(*given) if call == "apply" else self.learn(*given[:2], 0, *given[2:])

    def change(self, vote, shuffled):
        """Use other options for the same members."""
        options = self.learner.options
        members = [replace(each, shuffle=4 if shuffled else 0) for each in members_of(options)]
        text = "+".join(member.specification for member in members)
        self.configure(replace(options, vote=vote, members=text))

    def reload(self, hash_seed):
        sections = self.learner.dump()
        super().reload(hash_seed)
        assert_equal_dumps(self.learner.dump(), sections)
        for member in self.reference.members:  # not in the state
            member.learner.active_features_ranked = member.learner.edges_touched = 0

    def compare(self):
        committee, reference = self.learner, self.reference
        for counter in OWN:
            assert getattr(committee, counter) == getattr(reference, counter), counter
        for counter in OF_MEMBERS:
            assert getattr(committee, counter) == reference.sum_of(counter), counter
        for member, its_reference in zip(committee.members, reference.members, strict=True):
            assert member.waiting == len(its_reference.waiting)
            assert member.progress.examples == len(its_reference.ranks)
            for k, hits in member.progress.hits.items():
                assert hits == sum(0 < rank <= k for rank in its_reference.ranks)
            for name in its_reference.learner.rows:
                assert member.learner.feature(name) == its_reference.learner.feature(name)
                assert committee.feature(name) == reference.feature(name)
        for name in reference.table.labels:
            assert committee.class_(name, 3) == reference.class_(name, 3)
        assert committee.feature_page("", "f", 3) == reference.feature_page("", "f", 3)
        assert committee.class_page("", "", MOST) == reference.table.class_page("", "", MOST)


# --- short streams over few names, so that names repeat -- ------------------------------------

values = st.one_of(st.sampled_from([1.0, 2.0, 0.5, 0.0]), st.floats(-1, 4, width=32))
values = values.filter(lambda value: value <= 0 or value > 1e-20)
feature_names, class_names = st.sampled_from(FEATURES), st.sampled_from(CLASSES)
instances = st.dictionaries(feature_names, values, max_size=5)
true_classes = st.lists(class_names, min_size=1, max_size=2, unique=True)

# few options: the tests of the learner cover those of the members
LEARNERS = [
    "ff(margin_threshold=100,rating=0",
    "ff(tfidf=yes,min_weight=0.3",
    "ema(rate=0.5,max_outdegree=2",
    "ind(normalize=none,binarize=no",
    "ooz(rate=0.2,margin_threshold=0.5",
    "pa(max_outdegree=2",
    "mmp(replay=1,replay_size=3",
    "arow(negatives=1",
    "frequency(retrieval_window=50",
]
member_options = st.builds(
    "{},subsample={},shuffle={})".format,
    st.sampled_from(LEARNERS),
    st.sampled_from([1.0, 1.0, 0.5]),
    st.sampled_from([0, 0, 1, 4]),
)
options = st.builds(
    lambda members, **given: Options.of("committee", members="+".join(members), **given),
    members=st.lists(member_options, min_size=1, max_size=3)
    | st.lists(
        member_options.filter(lambda text: text.startswith(("pa", "mmp", "arow"))),
        min_size=1,
        max_size=3,
    ),
    vote=st.sampled_from(["majority", "rarest", "score"]),
    seed=st.sampled_from([0, 3, 2**63 - 3]),
    max_features=st.sampled_from([10_000_000, 3]),
    max_classes=st.sampled_from([1_000_000, 3]),
)
calls = st.one_of(
    st.tuples(st.sampled_from(["learn", "learn", "learn", "apply"]), instances, true_classes),
    st.tuples(
        st.just("weighted"),
        st.sampled_from(["learn", "apply"]),
        instances,
        st.lists(
            st.tuples(class_names, st.booleans()), min_size=1, max_size=3, unique_by=lambda x: x[0]
        ),
        st.sampled_from([1.0, 2.5, 0.01]),
    ),
    st.tuples(
        st.just("learn_csr"),
        st.lists(st.tuples(instances, true_classes), max_size=5),
        st.sampled_from([0, 0, 1]),
    ),
    st.tuples(
        st.just("rank"),
        instances,
        st.sampled_from([0, 1, 2, MOST]),
        st.sampled_from([None, 0.5, 1.0]),
        st.none() | st.lists(class_names | st.just("unknown"), max_size=4),
    ),
    st.tuples(st.just("rank_csr"), st.lists(instances, max_size=3), st.sampled_from([0, 1, MOST])),
    st.tuples(st.just("explain"), instances, st.sampled_from([1, 10])),
    st.tuples(st.just("forget_class"), class_names),
    st.tuples(st.just("forget_feature"), feature_names),
    st.tuples(st.just("configure"), options),
    st.tuples(st.just("change"), st.sampled_from(["majority", "rarest", "score"]), st.booleans()),
    st.tuples(st.just("reload"), st.integers(0, 2**64 - 1)),
)


@examples(300)
@given(options, st.lists(calls, max_size=20))
def test_short_streams(options, stream):
    both = CommitteeBoth(options)
    note(f"{options} {stream}")
    for call, *arguments in stream:
        getattr(both, call)(*arguments)
        both.compare()


# --- members ----------------------------------------------------------------------------------


def lessons(number):
    random = np.random.default_rng(7)
    for _ in range(number):
        label = int(random.integers(6))
        noise = [f"n{n}" for n in random.integers(0, 30, 4)]
        yield [f"f{label}", f"g{label // 2}", *noise], [f"c{label}"]


def test_a_subsample_is_a_share_of_the_events_and_follows_from_the_seed():
    committee = committee_of("ff(subsample=0.3)", "ff(subsample=0.3)", "ff(subsample=0.3,seed=0)")
    for instance, classes in lessons(1000):
        committee.learn(instance, classes)

    first, second, like_the_first = (member.learner for member in committee.members)
    assert first.learned == pytest.approx(300, abs=60)
    assert second.learned == pytest.approx(300, abs=60)
    assert_equal_dumps(first.dump(), like_the_first.dump())
    assert first.learned != second.learned or not np.array_equal(
        first.dump()["class_learned"], second.dump()["class_learned"]
    )


def test_events_wait_and_come_in_another_order():
    committee = committee_of("ff", "ff(shuffle=100)")
    for number in range(400):
        committee.learn(["f"], [f"{number}"])

    plain, shuffled = (member.learner for member in committee.members)
    assert (plain.learned, shuffled.learned) == (400, 300)
    state = shuffled.dump()
    by_age = [int(names(state, "class")[id]) for id in np.argsort(state["class_born"])]
    assert by_age != sorted(by_age)
    waited = np.arange(len(by_age)) - by_age
    assert waited.max() > 0 > waited.min()  # some are delayed, others overtake them


def test_a_smaller_shuffle_sends_on_what_waits_too_many():
    committee = committee_of("ff(shuffle=50)")
    for instance, classes in lessons(60):
        committee.learn(instance, classes)
    committee.configure(Options.of("committee", members="ff(shuffle=10)"))
    assert committee.members[0].waiting == 50

    committee.learn(["f0"], ["c0"])
    assert committee.members[0].waiting == 10
    assert committee.members[0].learner.learned == 51


def test_the_shuffle_buffer_stays_within_its_bytes():
    limit = 4 * 2**20
    committee = committee_of("ff(shuffle=1000)", max_bytes=limit)
    for number in range(300):
        committee.learn([f"{number} {n}".ljust(2000, "x") for n in range(5)], ["c"])
        assert committee.bytes <= limit
    [member] = committee.members
    assert 0 < member.waiting < 300
    assert member.waiting_bytes <= limit // 3


def test_a_class_that_was_evicted_is_in_no_ranking():
    committee = committee_of("ff(shuffle=2,seed=1)", "ff", max_classes=3)
    for number in range(50):
        committee.learn([f"f{number % 10}"], [f"c{number % 10}"])
        known = {name for name, _ in committee.class_page("", "", 10)}
        assert len(known) <= 3
        for n in range(10):
            assert {name for name, _ in committee.rank([f"f{n}"])} <= known


def test_a_class_that_only_members_still_know_is_forgotten():
    committee = committee_of("ff(shuffle=4)", max_classes=1)
    committee.learn(["f"], ["evicted"])
    committee.learn(["f"], ["c"])
    assert committee.classes == 1
    assert committee.has_class("evicted")
    assert committee.forget_class("evicted")
    assert not committee.has_class("evicted")


@pytest.mark.parametrize("kind", ["class", "feature"])
def test_forgetting_reaches_the_shuffle_buffer(kind):
    committee = committee_of("ff(shuffle=10)")
    secret = "s3cr3t"
    committee.learn({secret: 1.0, "f": 2.0}, ["other", secret])
    committee.learn({"f": 2.0}, [secret])
    committee.learn({secret: 1.0}, ["other"])
    if kind == "class":
        assert committee.has_class(secret)
        committee.forget_feature(secret)
        assert committee.forget_class(secret)
        assert committee.members[0].waiting == 2  # one was removed completely
    else:
        assert committee.has_feature(secret)
        committee.forget_class(secret)
        assert committee.forget_feature(secret)
    assert not committee.has_class(secret)
    assert not committee.has_feature(secret)
    assert all(secret.encode() not in part.tobytes() for part in committee.dump().values())


def waiting_events(committee):
    """Return the events in the shuffle buffer of the first member."""
    state = committee.dump()
    data, ends = (
        state["member_0_waiting_events"].tobytes(),
        state["member_0_waiting_sizes"].cumsum(),
    )
    return [
        Event.from_bytes(data[begin:end]) for begin, end in pairwise([0, *map(int, ends.tolist())])
    ]


def test_a_buffered_event_has_the_bytes_of_its_event():
    committee = committee_of("pa(shuffle=10)")
    instance = Instance({"f": 2.5, "Käse": -1.0, "g": 1.0})
    events = [
        Event.learn(instance, ["a", "Ö"]),
        Event.learn(instance, ["a"], rejected=["b", "c"], weight=0.1),
        Event.learn(Instance({}), [], rejected=["a"]),
    ]
    for event in events:
        committee.apply(event)
    committee.apply(Event.learn(instance, ["a"], "id", 7, source="web", time=5, parents={"a": "z"}))
    assert waiting_events(committee) == [*events, Event.learn(instance, ["a"])]
    assert committee.members[0].waiting_bytes == sum(
        100 + len(bytes(event)) for event in waiting_events(committee)
    )


def test_a_buffered_row_has_the_bytes_of_its_event():
    committee = committee_of("pa(shuffle=10)")
    row = np.array([0, 4], np.int64), np.array([2, 0, 3, 1], np.int32)
    values = np.array([0.1, -2, 0, 1], np.float32)
    committee.learn_csr(
        Columns(["p", "q", "r", "s"]),
        *row,
        values,
        Columns(["b", "a"]),
        *(each[:2] for each in ROW),
        weights=np.array([0.3], np.float32),
    )
    instance = Instance({"r": float(np.float32(0.1)), "p": -2.0, "q": 1.0})
    expected = Event.learn(instance, ["b"], weight=float(np.float32(0.3)))
    assert waiting_events(committee) == [expected]


ROW = np.array([0, 1], np.int64), np.array([0], np.int32)


def test_renaming_reaches_the_shuffle_buffer():
    committee = committee_of("pa(shuffle=10)")
    for classes, rejected in [(["a", "b"], []), (["b", "c"], ["a"]), (["c"], []), ([], ["a"])]:
        committee.learn({"f": 1.0}, classes, rejected=rejected)
    assert committee.rename_class("c", "z")
    assert committee.rename_class("a", "b")  # two events have that name already
    assert [(event.classes, event.rejected) for event in waiting_events(committee)] == [
        (["b"], []),
        (["b", "z"], []),
        (["z"], []),
        ([], ["b"]),
    ]
    assert not committee.rename_class("unknown", "d")


def test_an_example_that_waits_is_dropped():
    committee = committee_of("pa(shuffle=10)", "pa(replay=1)")
    for features, classes in [("f", "a"), ("f", "b"), ("g", "a"), ("f", "a")]:
        committee.learn({features: 1.0}, [classes])
    assert committee.drop_example(Instance({"f": 1.0}), ["a"]) == 4
    assert [event.classes for event in waiting_events(committee)] == [["b"], ["a"]]
    assert committee.drop_example(Instance({"f": 1.0}), ["a"]) == 0


def test_each_member_has_its_own_progressive_accuracy():
    committee = committee_of("ff", "ff(subsample=0.01)")
    for instance, classes in lessons(300):
        committee.learn(instance, classes)

    keen, lazy = (member.progress.windows()[1000] for member in committee.members)
    assert keen["examples"] == lazy["examples"] == 300
    assert keen["r1"] > 0.8 > lazy["r1"]


# --- refused options and states ---------------------------------------------------------------


def test_members_cannot_become_other_learners():
    committee = committee_of("ff", "ff")
    for members in ("ff", "ff+ff+ff", "ff+ema"):
        with pytest.raises(OptionError, match="cannot change"):
            committee.configure(Options.of("committee", members=members))
    assert committee.options.members == "ff+ff"


def test_the_bytes_are_parted_among_all():
    with pytest.raises(OptionError, match="4 parts"):
        committee_of("ff", "ff(shuffle=1)", max_bytes=4 * 2**20 - 1)
    committee = committee_of("ff(max_bytes=1048576)", "ff", max_bytes=30 * 2**20)
    assert [m.options.max_bytes for m in committee.members] == [2**20, 10 * 2**20]


def test_there_are_not_too_many_members():
    with pytest.raises(OptionError, match="64 at most"):
        committee_of(*["ff"] * 65)


def test_unknown_names():
    committee = committee_of("ff", "ff(shuffle=5)")
    with pytest.raises(UnknownName, match="feature"):
        committee.feature("f")
    with pytest.raises(UnknownName, match="class"):
        committee.class_("c")
    with pytest.raises(OverflowError):
        committee.rank(["f"], -1)


def waiting_state():
    committee = committee_of("ff(shuffle=5)")
    for instance, classes in lessons(8):
        committee.learn(instance, classes)
    return committee.options, committee.dump()


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("waiting_sizes", lambda sizes: sizes + np.uint64(1)),
        ("waiting_sizes", lambda sizes: sizes.astype(np.int32)),
        ("waiting_sizes", lambda sizes: sizes[:-1]),
        ("waiting_sizes", lambda sizes: sizes[::-1] * 2),
        ("waiting_events", lambda data: data[:-1]),
        ("waiting_events", lambda data: data * 0 + np.uint8(3)),
        ("waiting_events", lambda data: data.reshape(1, -1)),
        ("waiting_first_pass", lambda passes: passes + np.uint8(1)),
        ("waiting_first_pass", lambda passes: passes[1:]),
        ("progress_counts", lambda counts: counts[1:]),
    ],
)
def test_waiting_events_that_are_none_are_not_loaded(name, damage):
    options, sections = waiting_state()
    sections[f"member_0_{name}"] = damage(sections[f"member_0_{name}"])
    with pytest.raises(SnapshotError) as refused:
        Learner.load(options, sections)
    assert refused.value.section.startswith("member_0_")


def test_only_learn_events_are_buffered():
    options, sections = waiting_state()
    event = np.frombuffer(bytes(Event.forget_class("c")), np.uint8)
    sections["member_0_waiting_events"] = event
    sections["member_0_waiting_sizes"] = np.array([len(event)], np.uint64)
    sections["member_0_waiting_first_pass"] = np.array([1], np.uint8)
    with pytest.raises(SnapshotError, match="a shuffle buffer cannot hold a"):
        Learner.load(options, sections)


@pytest.mark.parametrize(
    ("event", "fault"),
    [
        (Event.learn(Instance({"f": 1.0}), ["a"], "id"), "neither id nor origin"),
        (Event.learn(Instance({"f": 1.0}), ["a"], source="web"), "neither id nor origin"),
        (Event.learn(Instance({"f": 1.0}), ["a"], parents={"a": "b"}), "neither id nor origin"),
        (Event.learn(Instance({"f": 1.0}), ["a"], rejected=["b"]), "cannot learn"),
    ],
)
def test_buffered_events_are_such_as_the_member_learns(event, fault):
    options, sections = waiting_state()
    sections["member_0_waiting_events"] = np.frombuffer(bytes(event), np.uint8)
    sections["member_0_waiting_sizes"] = np.array([len(bytes(event))], np.uint64)
    sections["member_0_waiting_first_pass"] = np.array([1], np.uint8)
    with pytest.raises(SnapshotError, match=fault):
        Learner.load(options, sections)


NO_ROWS = np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
MISTAKES = {
    "a negative k": lambda learner: learner.rank(["f"], -1),
    "an instance that is none": lambda learner: learner.rank(None),
    "a threshold that is no number": lambda learner: learner.rank(["unknown"], 5, "0.5"),
    "to explain nothing": lambda learner: learner.explain(None, ["c"]),
    "to explain a class that is no name": lambda learner: learner.explain(["unknown"], [5]),
    "a negative limit": lambda learner: learner.explain(["f"], ["c"], -1),
    "to learn nothing": lambda learner: learner.learn(None, ["c"]),
    "no classes": lambda learner: learner.learn(["f"], None),
    "bytes for classes": lambda learner: learner.learn(["f"], b"cd"),
    "a class that is no name": lambda learner: learner.learn(["f"], [5]),
    "passes that are no number": lambda learner: learner.learn(["f"], ["c"], "1"),
    "no event": lambda learner: learner.apply(None),
    "a negative k of rows": lambda learner: learner.rank_csr(Columns(["f"]), *NO_ROWS, -1),
    "a negative number of features": lambda learner: learner.class_("c", -1),
    "other options": lambda learner: learner.configure(Options.of("pa")),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_the_same_error_as_of_a_learner(mistake):
    errors = []
    for learner in (Learner(Options.of("ff")), committee_of("ff", "pa")):
        learner.learn(["f"], ["c"])
        before = learner.dump()
        with pytest.raises((TypeError, ValueError, OverflowError, OptionError)) as caught:
            MISTAKES[mistake](learner)
        errors.append((caught.type, getattr(caught.value, "option", None)))
        assert_equal_dumps(learner.dump(), before)
    assert errors[0] == errors[1]

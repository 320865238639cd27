"""The contract of every learner, tested for each one, alone and with important options.

The first functions find the learners that cannot keep a promise by their nature, most of them by a
declared ability. There are no other exceptions.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from manyclass.core.columns import Columns
from manyclass.core.errors import InstanceError, OptionError, SnapshotError, UnknownName
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.ensemble import members_of
from manyclass.core.learners.learner import load, make
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import LEARNERS
from tests.core.csr import instances_of, rows_of
from tests.core.dumps import assert_equal_dumps, assert_same_state
from tests.core.specifications import SPECIFICATIONS


def every(specification):
    """Return the options of the specification, and of its members if it is an ensemble."""
    options = Options.parse(specification)
    return [options, *members_of(options)]


def learns_at_once(specification):
    """Return true if no member subsamples or shuffles events."""
    return all(options.subsample == 1 and options.shuffle == 0 for options in every(specification))


def treats_all_alike(specification):
    """Return true if every event is learned equally often."""
    return learns_at_once(specification) and all(o.replay == 0 for o in every(specification))


def heeds_features(specification):
    """Return false if any member declares that it ranks all instances alike."""
    return all(options.spec.needs_features for options in every(specification))


def needs_features(specification):
    """Return true if an instance without known features has an empty ranking.

    A label tree still has its bias.
    """
    return heeds_features(specification) and has_edges(specification)


def learns_features(specification):
    """Return false if every member ranks all instances alike."""
    options = Options.parse(specification)
    return any(each.spec.needs_features for each in members_of(options) or [options])


def has_edges(specification):
    """Return true if scores sum edges from features to classes, not nodes on a path."""
    return all(not options.spec.is_probabilistic for options in every(specification))


def adds_up(specification):
    """Return true if a score is the sum of the features' votes.

    It is not if members vote by first places or score below 0, nor if a score has other parts.
    """
    options = Options.parse(specification)
    return needs_features(specification) and (
        options.learner != "committee"
        or (
            options.vote == "score"
            and all(member.learner in ("ff", "ind", "ema", "ooz") for member in members_of(options))
        )
    )


def those(holds):
    """Return the specifications that satisfy the predicate."""
    return [specification for specification in SPECIFICATIONS if holds(specification)]


def a_learner(specification, hash_seed=0, **limits):
    return make(Options.parse(specification, **limits), hash_seed)


# --- training data ------ ---------------------------------------------------------------------

FEATURES = [f"<feature {number}>" for number in range(40)]
CLASSES = [f"<class {number}>" for number in range(12)]


def lessons(count, seed=0):
    """Yield random instances with features of their classes; float32 holds the values exactly."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        true = random.choice(len(CLASSES), random.choice([1, 1, 1, 2]), replace=False)
        hints = [(3 * label + random.integers(4)) % len(FEATURES) for label in true]
        noise = random.integers(0, len(FEATURES), random.integers(0, 5))
        active = dict.fromkeys([*hints, *noise.tolist()])
        values = random.choice([1.0, 0.5, 3.0, 0.25], len(active))
        instance = {FEATURES[at]: float(v) for at, v in zip(active, values, strict=True)}
        yield instance, [CLASSES[label] for label in true]


LESSONS = list(lessons(120))
PROBES = [instance for instance, _ in lessons(30, seed=1)]


def taught(specification, hash_seed=0, **limits):
    learner = a_learner(specification, hash_seed, **limits)
    for instance, classes in LESSONS:
        learner.learn(instance, classes)
    return learner


def names(ranking):
    return [name for name, _ in ranking]


def test_every_learner_is_in_the_table():
    assert {Options.parse(each).learner for each in SPECIFICATIONS} == set(LEARNERS)


# --- the state follows from the events alone --------------------------------------------------


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_the_same_events_make_the_same_state(specification):
    ours, others = taught(specification, 1), taught(specification, 2**64 - 1)
    for learner in (ours, others):
        learner.forget_class(CLASSES[2])
        learner.forget_feature(FEATURES[3])
        for instance, classes in lessons(20, seed=2):
            learner.apply(Event.learn(Instance(instance), classes))
        learner.apply(Event.forget_class(CLASSES[0]))
        learner.apply(Event.forget_feature(FEATURES[0]))
    assert_same_state(ours, others)


@pytest.mark.parametrize("stop", [0, 1, 30, 70, 119])
@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_it_goes_on_from_a_dump_as_if_nothing_had_been(specification, stop):
    stopped, undisturbed = a_learner(specification), a_learner(specification)
    for number, (instance, classes) in enumerate(LESSONS):
        if number == stop:
            stopped = load(stopped.options, stopped.dump(), hash_seed=99)
            assert_same_state(stopped, undisturbed)
            for counter in ("features", "classes", "edges", "bytes", "learned"):
                assert getattr(stopped, counter) == getattr(undisturbed, counter), counter
            for probe in PROBES:
                assert stopped.rank(probe) == undisturbed.rank(probe)
        for learner in (stopped, undisturbed):
            if number == 60:
                learner.forget_class(CLASSES[1])
                learner.forget_feature(FEATURES[5])
            learner.learn(instance, classes)
    assert_same_state(stopped, undisturbed)


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_reading_changes_nothing(specification):
    read, left_alone = taught(specification), taught(specification)
    for probe in PROBES:
        read.rank(probe, 3, 0.1)
        read.explain(probe, CLASSES)
    read.rank_csr(Columns(FEATURES), *instances_of(FEATURES, PROBES), 4)
    read.class_ids(Columns(CLASSES))
    read.class_page("", "", 100)
    read.feature_page("", "", 100)
    read.outdegrees()
    for name in (name for name in FEATURES if read.has_feature(name)):
        read.feature(name)
    for name in CLASSES:
        read.class_(name)
    assert_same_state(read, left_alone)
    for learner in (read, left_alone):
        learner.learn(*LESSONS[0])
    assert_same_state(read, left_alone)


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_an_event_teaches_what_a_call_does(specification):
    by_event, by_call = a_learner(specification), a_learner(specification)
    for instance, classes in LESSONS:
        event = Event.learn(Instance(instance), [*classes, classes[0]])
        assert by_event.apply(event) == by_call.learn(instance, [*classes, *classes])
    assert_same_state(by_event, by_call)


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_arrays_and_instances_are_learned_and_ranked_alike(specification):
    by_arrays, one_by_one = a_learner(specification), a_learner(specification)
    features, classes = Columns(FEATURES), Columns(CLASSES)
    instances, true = zip(*LESSONS, strict=True)
    for epoch in (0, 1):
        ranks = by_arrays.learn_csr(
            features, *instances_of(FEATURES, instances), classes, *rows_of(CLASSES, true), epoch
        )
        assert ranks.dtype == np.int32
        assert ranks.tolist() == [
            one_by_one.learn(instance, of_instance, epoch)[0] for instance, of_instance in LESSONS
        ]
    assert_same_state(by_arrays, one_by_one)

    ids, scores = by_arrays.rank_csr(features, *instances_of(FEATURES, PROBES), 7)
    assert ids.shape == scores.shape == (len(PROBES), 7)
    assert (ids.dtype, scores.dtype) == (np.int32, np.float64)
    id_of = dict(zip(CLASSES, by_arrays.class_ids(classes).tolist(), strict=True))
    for row, probe in enumerate(PROBES):
        ranked = one_by_one.rank(probe, 7)
        gap = 7 - len(ranked)
        assert ids[row].tolist() == [id_of[name] for name in names(ranked)] + [-1] * gap
        assert scores[row].tolist() == [score for _, score in ranked] + [0.0] * gap


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_others_may_rank_while_one_learns(specification):
    busy, stop = a_learner(specification), []
    columns, probes = Columns(FEATURES), instances_of(FEATURES, PROBES)

    def rank_on():
        rounds = 0
        while not stop or rounds == 0:
            for probe in PROBES:
                assert_is_ranking(busy.rank(probe))
                busy.explain(probe, CLASSES)
            _, scores = busy.rank_csr(columns, *probes)
            assert np.isfinite(scores).all()
            rounds += 1

    with ThreadPoolExecutor(2) as pool:
        ranking = [pool.submit(rank_on) for _ in range(2)]
        try:
            for instance, classes in LESSONS:
                busy.learn(instance, classes)
        finally:
            stop.append(True)
        for each in ranking:
            each.result()
    assert_same_state(busy, taught(specification))


# --- rankings ---------------------------------------------------------------------------------


def assert_is_ranking(ranked):
    """Assert a ranking: best first, finite scores, each class once."""
    scores = [score for _, score in ranked]
    assert scores == sorted(scores, reverse=True)
    assert np.isfinite(scores).all()
    assert len(set(names(ranked))) == len(ranked)


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_nothing_is_ranked_before_anything_is_learned(specification):
    learner = a_learner(specification)
    assert learner.rank(PROBES[0]) == []
    assert learner.explain(PROBES[0], CLASSES) == [[] for _ in CLASSES]
    ids, scores = learner.rank_csr(Columns(FEATURES), *instances_of(FEATURES, PROBES), 3)
    assert (ids == -1).all()
    assert (scores == 0).all()
    assert (learner.class_ids(Columns(CLASSES)) == -1).all()
    assert (learner.features, learner.classes, learner.edges, learner.learned) == (0, 0, 0, 0)
    assert learner.class_page("", "", 10) == learner.feature_page("", "", 10) == []
    assert learner.outdegrees().sum() == 0


@pytest.mark.parametrize("specification", those(learns_at_once))
def test_an_example_just_learned_is_retrieved(specification):
    learner = a_learner(specification)
    for number in range(20):
        lesson = {f"its own {number}": 1.0, f"and {number}": 2.0}
        assert learner.learn(lesson, [f"class {number}"])[0] == 0  # not before
        if heeds_features(specification):
            assert learner.rank(lesson)[0][0] == f"class {number}"
        else:
            assert f"class {number}" in names(learner.rank(lesson, 50))


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_rankings_are_in_order_and_as_long_as_asked(specification):
    learner = taught(specification)
    for probe in PROBES:
        whole = learner.rank(probe, len(CLASSES))
        assert_is_ranking(whole)
        for k in (0, 1, 3, 1000):
            assert learner.rank(probe, k) == whole[:k]
        assert learner.rank(probe) == whole[:5]
        for _, score in whole[:3]:
            above = [ranked for ranked in whole if ranked[1] > score]
            assert learner.rank(probe, 1000, score) == above
    with pytest.raises((OverflowError, ValueError)):
        learner.rank(PROBES[0], -1)


@pytest.mark.parametrize("specification", those(treats_all_alike))
def test_of_equal_classes_the_one_learned_first_comes_first(specification):
    learner = a_learner(specification)
    learner.learn(["f"], ["second by name"])
    learner.learn(["g"], ["first by name"])
    ranked = learner.rank(["f", "g"])
    assert names(ranked) == ["second by name", "first by name"]
    if has_edges(specification) and Options.parse(specification).vote == "score":
        assert ranked[0][1] == ranked[1][1]


@pytest.mark.parametrize("specification", those(heeds_features))
def test_an_unknown_feature_is_as_good_as_none(specification):
    learner = taught(specification)
    nothing = learner.rank({})
    assert learner.rank({"never seen": 1.0, "nor this": 4.0}) == nothing
    assert nothing == [] or not needs_features(specification)


@pytest.mark.parametrize("specification", those(needs_features))
def test_unknown_features_are_ignored(specification):
    learner = taught(specification)
    for probe in PROBES:
        assert names(learner.rank({**probe, "never seen": 0.5})) == names(learner.rank(probe))
    assert not learner.has_feature("never seen")


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_values_not_above_0_do_not_vote(specification):
    plain, noisy = a_learner(specification), a_learner(specification)
    columns, value_of = Columns(["f", "less", "none"]), [2.0, -np.inf, 0.0]
    values, indptr = np.array(value_of, np.float32), np.array([0, 3])
    for _ in range(10):
        noisy.learn_csr(
            columns,
            indptr,
            np.arange(3, dtype=np.int32),
            values,
            Columns(["c"]),
            np.array([0, 1]),
            np.zeros(1, np.int32),
        )
        noisy.learn({"less": -1.0, "f": 2.0, "none": 0.0}, ["c"])
        plain.learn({"f": 2.0}, ["c"])
        plain.learn({"f": 2.0}, ["c"])
    assert_same_state(noisy, plain)
    _, scores = noisy.rank_csr(columns, indptr, np.arange(3, dtype=np.int32), values, 1)
    assert scores[0, 0] == plain.rank({"f": 2.0})[0][1]


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_an_instance_may_be_empty(specification):
    learner = a_learner(specification)
    for _ in range(30):
        assert learner.learn({}, ["c"])[0] in ((0,) if needs_features(specification) else (0, 1))
    assert learner.classes == 1
    assert learner.learned == 30
    if needs_features(specification):
        assert learner.rank({}) == learner.rank(["f"]) == []


@pytest.mark.parametrize("specification", those(adds_up))
def test_contributions_add_up_to_the_score(specification):
    learner = taught(specification)
    scored = 0
    for probe in PROBES:
        ranked = learner.rank(probe, 1000)
        for (_, score), reasons in zip(
            ranked, learner.explain(probe, names(ranked), 1000), strict=True
        ):
            assert sum(gave for _, gave in reasons) == pytest.approx(score)
            assert {name for name, _ in reasons} <= probe.keys()
            scored += 1
    assert scored > 50


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_reasons_are_the_heaviest_first_and_no_more_than_asked(specification):
    learner = taught(specification)
    for probe in PROBES:
        for of_class in learner.explain(probe, CLASSES, 1000):
            weights = [abs(gave) for _, gave in of_class]
            assert weights == sorted(weights, reverse=True)
        assert learner.explain(probe, CLASSES, 2) == [
            of_class[:2] for of_class in learner.explain(probe, CLASSES, 1000)
        ]
    assert learner.explain(PROBES[0], ["no such class"]) == [[]]


@pytest.mark.parametrize("specification", those(heeds_features))
def test_it_learns_what_can_be_learned(specification):
    learner = a_learner(specification)
    random = np.random.default_rng(5)
    ranks = []
    for _ in range(600):
        label = int(random.integers(10))
        noise = random.integers(0, 20, 3)
        instance = [f"says {label}", f"hints {label // 3}", *(f"noise {n}" for n in noise)]
        ranks.append(learner.learn(instance, [f"{label}"])[0])
    assert np.mean(np.array(ranks[300:]) == 1) > 0.8  # by chance: 0.1


@pytest.mark.parametrize("specification", SPECIFICATIONS)
@pytest.mark.parametrize("value", [1e30, 1e-30, 1.0])
def test_scores_stay_finite(specification, value):
    learner = a_learner(specification)
    for number in range(60):
        instance = {f"f{number % 7}": value, f"g{number % 3}": 1.0, f"h{number % 5}": 1e30}
        learner.learn(instance, [f"{number % 4}"])
        for probe in (instance, {f"f{number % 7}": 1e30, "h0": 1e-30}):
            assert_is_ranking(learner.rank(probe))
    load(learner.options, learner.dump())


# --- forgetting -------------------------------------------------------------------------------


def assert_no_trace(learner, name):
    assert all(name.encode() not in section.tobytes() for section in learner.dump().values())


@pytest.mark.parametrize("stop", [5, 50, 120])
@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_a_forgotten_class_leaves_no_trace(specification, stop):
    learner, gone = a_learner(specification), CLASSES[4]
    for instance, classes in LESSONS[:stop]:
        learner.learn(instance, classes)
    learner.learn({FEATURES[0]: 1.0}, [gone])
    assert learner.has_class(gone)
    assert learner.forget_class(gone)

    later = [
        (instance, [name for name in classes if name != gone] or [CLASSES[5]])
        for instance, classes in lessons(60, seed=3)
    ]
    for instance, classes in [({FEATURES[1]: 1.0}, [CLASSES[0]]), *later]:
        assert not learner.has_class(gone)
        assert gone not in names(learner.class_page("", "", 100))
        assert_no_trace(learner, gone)
        for probe in PROBES[:5]:
            assert gone not in names(learner.rank(probe, 100))
            assert learner.explain(probe, [gone]) == [[]]
        learner.learn(instance, classes)
    with pytest.raises(UnknownName):
        learner.class_(gone)
    assert not learner.forget_class(gone)
    for name in FEATURES:
        if learner.has_feature(name):
            assert gone not in names(learner.feature(name)["edges"])


@pytest.mark.parametrize("stop", [5, 50, 120])
@pytest.mark.parametrize("specification", those(heeds_features))
def test_a_forgotten_feature_leaves_no_trace(specification, stop):
    learner, gone = a_learner(specification), FEATURES[7]
    for instance, classes in LESSONS[:stop]:
        learner.learn(instance, classes)
    for _ in range(30):
        learner.learn({gone: 1.0}, [CLASSES[0]])
    assert learner.has_feature(gone)
    assert learner.forget_feature(gone)

    for instance, classes in lessons(60, seed=3):
        assert not learner.has_feature(gone)
        assert learner.rank({gone: 1.0}) == learner.rank({})
        assert gone not in names(learner.feature_page("", "", 100))
        assert_no_trace(learner, gone)
        learner.learn({name: v for name, v in instance.items() if name != gone}, classes)
    with pytest.raises(UnknownName):
        learner.feature(gone)
    assert not learner.forget_feature(gone)
    for name in CLASSES:
        if learner.has_class(name):
            assert gone not in names(learner.class_(name, 1000)["features"])


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_forgotten_names_can_be_learned_again(specification):
    learner = taught(specification)
    for name in CLASSES:
        learner.forget_class(name)
    assert learner.classes == learner.edges == 0
    for name in FEATURES:
        learner.forget_feature(name)
    assert learner.features == 0
    assert learner.rank(PROBES[0]) == []
    for instance, classes in LESSONS:
        learner.learn(instance, classes)
    assert learner.classes == len(CLASSES)
    assert all(learner.rank(instance) for instance, _ in LESSONS if instance)


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_unknown_names(specification):
    learner = taught(specification)
    before = learner.dump()
    assert not learner.forget_class("nobody")
    assert not learner.forget_feature("nobody")
    assert not learner.has_class("nobody")
    with pytest.raises(UnknownName):
        learner.class_("nobody")
    with pytest.raises(UnknownName):
        learner.feature("nobody")
    assert_equal_dumps(learner.dump(), before)


# --- limits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_no_more_names_than_allowed(specification):
    learner = a_learner(specification, max_features=12, max_classes=5)
    for number, (instance, classes) in enumerate(LESSONS * 2):
        learner.learn({**instance, f"new {number}": 1.0}, [*classes, f"other {number // 9}"])
        assert learner.features <= 12
        assert learner.classes <= 5
        assert len(names(learner.rank(instance, 100))) <= 5
    assert learner.evicted_classes > 0
    assert learner.evicted_features > 0 or not heeds_features(specification)
    assert_same_state(load(learner.options, learner.dump(), 5), learner)


@pytest.mark.parametrize("kind", ["features", "classes"])
@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_no_more_bytes_than_allowed(specification, kind):
    parts = 2 * len(every(specification))
    learner = a_learner(specification, max_bytes=parts * 2**20)
    for number in range(parts * 100):
        long_names = [f"{number} {n} ".ljust(4000, "x") for n in range(4)]
        if kind == "features":
            learner.learn(long_names, ["c"])
        else:
            learner.learn(["f"], long_names)
        assert learner.bytes <= parts * 2**20
    evicted = {"features": learner.evicted_features, "classes": learner.evicted_classes}
    assert evicted[kind] > 0 or (kind == "features" and not learns_features(specification))
    learner = load(learner.options, learner.dump())
    assert learner.bytes <= parts * 2**20


@pytest.mark.parametrize("specification", those(has_edges))
def test_no_more_edges_vote_than_allowed(specification):
    learner = taught(specification)
    most = max(options.max_outdegree for options in every(specification))
    before = learner.active_features_ranked, learner.edges_touched
    for probe in PROBES:
        learner.rank(probe)
    active = learner.active_features_ranked - before[0]
    assert learner.edges_touched - before[1] <= most * active
    assert active > 0 or not learns_features(specification)
    if Options.parse(specification).learner in ("pa", "mmp", "arow", "svm", "ooz"):
        assert learner.outdegrees()[most + 1 :].sum() == 0


# --- inspection -------------------------------------------------------------------------------


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_counters(specification):
    learner = taught(specification)
    assert learner.learned == len(LESSONS)
    assert learner.classes == len(CLASSES)
    assert learner.resident_bytes > 0
    assert 0 < learner.bytes < 2**20
    degrees = learner.outdegrees()
    assert degrees.dtype == np.int64
    edges = (degrees * np.arange(len(degrees))).sum()
    assert edges == learner.edges or (edges < learner.edges and not has_edges(specification))
    if heeds_features(specification):
        assert learner.features == len(FEATURES)
        assert learner.edges > 0


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_classes_by_page(specification):
    learner = taught(specification)
    times = {name: sum(name in classes for _, classes in LESSONS) for name in CLASSES}
    everything = [(name, times[name]) for name in sorted(CLASSES, key=str.encode)]
    assert learner.class_page("", "", 100) == everything
    assert learner.class_page("", everything[3][0], 4) == everything[4:8]
    assert learner.class_page("<class 1", "", 100) == [
        each for each in everything if each[0].startswith("<class 1")
    ]
    for name in CLASSES:
        assert learner.class_(name)["learned"] == times[name]
    ids = learner.class_ids(Columns([*CLASSES, "nobody"])).tolist()
    assert ids[-1] == -1
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("specification", those(heeds_features))
def test_features_by_page(specification):
    learner = taught(specification)
    everything = [
        (name, learner.feature(name)["times_seen"]) for name in sorted(FEATURES, key=str.encode)
    ]
    assert learner.feature_page("", "", 100) == everything
    assert learner.feature_page("", everything[3][0], 4) == everything[4:8]
    assert learner.feature_page("<feature 2", "", 100) == [
        each for each in everything if each[0].startswith("<feature 2")
    ]


@pytest.mark.parametrize("specification", those(heeds_features))
def test_features_and_classes_show_the_same_edges(specification):
    learner = taught(specification)
    of_features, of_classes = {}, {}
    for feature in FEATURES:
        view = learner.feature(feature)
        assert view["outdegree"] == len(view["edges"])
        assert view["times_seen"] > 0
        weights = [abs(weight) for _, weight in view["edges"]]
        assert weights == sorted(weights, reverse=True)
        of_features |= {(feature, name): weight for name, weight in view["edges"]}
    for name in CLASSES:
        weighted = learner.class_(name, 1000)["features"]
        weights = [abs(weight) for _, weight in weighted]
        assert weights == sorted(weights, reverse=True)
        assert learner.class_(name, 3)["features"] == weighted[:3]
        of_classes |= {(feature, name): weight for feature, weight in weighted}
    assert of_features == of_classes


# --- refused input ----------------------------------------------------------------------------


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_refused_input_changes_nothing(specification):
    learner, left_alone = taught(specification), taught(specification)
    for instance in (["x" * 5000], {"f": float("nan")}, {"f": 1e31}, {"": 1.0}, {"f": "1"}):
        with pytest.raises(InstanceError):
            learner.learn(instance, ["new"])
        with pytest.raises(InstanceError):
            learner.rank(instance)
    for classes in ([], "abc", ["new", ""], ["x" * 5000], ["\ud800"]):
        with pytest.raises(InstanceError):
            learner.learn(["new"], classes)

    features, classes = Columns(FEATURES), Columns(CLASSES)
    row = instances_of(FEATURES, PROBES[:2])
    true = rows_of(CLASSES, [CLASSES[:1], CLASSES[1:2]])
    no_rows = row[0] + 1, row[1], row[2]
    no_class = np.array([0, 0, 1]), np.zeros(1, np.int32)
    for message, arrays in (
        ("indptr", (features, *no_rows, classes, *true)),
        ("no true class", (features, *row, classes, *no_class)),
        ("as many rows", (features, *row, classes, true[0][:-1], true[1][:-1])),
        ("number of a column", (features, *row, classes, true[0], true[1] + len(CLASSES))),
        ("columns of their own", (features, *row, features, *true)),
    ):
        with pytest.raises(ValueError, match=message):
            learner.learn_csr(*arrays)
    with pytest.raises(ValueError, match="indptr"):
        learner.rank_csr(features, *no_rows)
    assert_same_state(learner, left_alone)


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_it_stays_the_learner_it_is(specification):
    learner, left_alone = taught(specification), taught(specification)
    own = learner.options
    for other in LEARNERS:
        if other != own.learner:
            members = {"members": "ff"} if other == "committee" else {}
            with pytest.raises(OptionError):
                learner.configure(Options.of(other, **members))
    assert learner.options == own
    learner.configure(own)
    assert_same_state(learner, left_alone)

    learner.configure(Options.parse(specification, max_classes=3))
    assert learner.options.max_classes == 3
    for instance, _ in LESSONS[:40]:
        learner.learn(instance, ["new"])
    assert learner.classes <= 3
    assert "new" in names(learner.rank(LESSONS[0][0], 100))


# --- damage -----------------------------------------------------------------------------------


def damages(section):
    """Yield the section with another type, with two dimensions, one item longer, one shorter."""
    yield section.astype("f8" if section.dtype == np.float32 else "f4")
    yield section.reshape(1, -1)
    yield np.append(section, np.zeros(1, section.dtype))
    if len(section):
        yield section[:-1]


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_a_dump_is_whole_or_refused(specification):
    learner = taught(specification)
    learner.forget_class(CLASSES[0])
    learner.forget_feature(FEATURES[0])
    sections = learner.dump()
    for name, section in sections.items():
        without = {other: sections[other] for other in sections if other != name}
        with pytest.raises(SnapshotError):
            load(learner.options, without)
        for damaged in damages(section):
            with pytest.raises(SnapshotError):
                load(learner.options, {**sections, name: damaged})


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_a_changed_dump_is_refused_or_makes_a_learner(specification):
    sections = taught(specification).dump()
    options = Options.parse(specification)
    random = np.random.default_rng(11)
    refused = 0
    for name, section in sections.items():
        for _ in range(min(6, len(section))):
            changed = section.copy()
            as_bytes = changed.view(np.uint8)
            as_bytes[random.integers(len(as_bytes))] ^= np.uint8(1 << random.integers(8))
            try:
                learner = load(options, {**sections, name: changed})
            except SnapshotError:
                refused += 1
                continue
            for instance, classes in LESSONS[:5]:
                assert_is_ranking(learner.rank(instance))
                learner.learn(instance, classes)
            learner.forget_class(CLASSES[1])
            load(options, learner.dump())
    assert refused > 3

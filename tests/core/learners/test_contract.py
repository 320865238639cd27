"""The contract of every learner: states that follow from the events alone, and rankings."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from manyclass.core.calibration import Calibration
from manyclass.core.columns import Columns
from manyclass.core.errors import InstanceError
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import LEARNERS
from tests.core.csr import instances_of, rows_of
from tests.core.dumps import assert_same_state
from tests.core.learners.contract import (
    CLASSES,
    FEATURES,
    LESSONS,
    PROBES,
    a_learner,
    adds_up,
    assert_is_ranking,
    every,
    every_learner,
    has_edges,
    heeds_features,
    learners_that,
    learns_at_once,
    lessons,
    names,
    needs_features,
    taught,
    treats_all_alike,
)
from tests.core.specifications import SPECIFICATIONS


def test_every_learner_is_in_the_table():
    assert {Options.parse(each).learner for each in SPECIFICATIONS} == set(LEARNERS)


# --- the state follows from the events alone --------------------------------------------------


@every_learner
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
@every_learner
def test_it_goes_on_from_a_dump_as_if_nothing_had_been(specification, stop):
    stopped, undisturbed = a_learner(specification), a_learner(specification)
    for number, (instance, classes) in enumerate(LESSONS):
        if number == stop:
            stopped = Learner.load(stopped.options, stopped.dump(), hash_seed=99)
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


@every_learner
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


@every_learner
def test_an_event_teaches_what_a_call_does(specification):
    by_event, by_call = a_learner(specification), a_learner(specification)
    for instance, classes in LESSONS:
        event = Event.learn(Instance(instance), [*classes, classes[0]])
        assert by_event.apply(event) == by_call.learn(instance, [*classes, *classes])
    assert_same_state(by_event, by_call)


@every_learner
def test_the_outcome_is_that_of_the_ranking_before(specification):
    """The event itself counts for nothing in it, except in the size of a bias."""
    learner, options = a_learner(specification), Options.parse(specification)
    window = options.retrieval_window if options.spec.is_probabilistic else 100
    others = 0
    for instance, classes in LESSONS:
        ranked = names(learner.rank(instance, window))
        place = next((at for at, name in enumerate(ranked, 1) if name in classes), 0)
        others += learner.learn(instance, classes).rank != place
    assert others <= (3 if any(each.bias for each in every(specification)) else 0)


@every_learner
def test_a_calibration_learns_the_outcomes_of_rows_as_of_events(specification):
    by_rows, by_events = a_learner(specification), a_learner(specification)
    of_rows, of_events = Calibration(), Calibration()
    features, names_of_classes = Columns(FEATURES), Columns(CLASSES)
    chosen = [number % 3 != 1 for number in range(len(LESSONS))]
    for epoch, counts in ((0, None), (0, np.array(chosen, np.uint8))):
        instances, true = zip(*LESSONS, strict=True)
        by_rows.learn_csr(
            *(features, *instances_of(FEATURES, instances)),
            *(names_of_classes, *rows_of(CLASSES, true)),
            epoch,
            calibration=of_rows,
            counts=counts,
        )
        for (instance, classes), is_chosen in zip(LESSONS, chosen, strict=True):
            event = Event.learn(Instance(instance), classes)
            by_events.apply(event, of_events if counts is None or is_chosen else None)
    assert of_events.outcomes > 100
    for name, array in of_rows.dump().items():
        assert array.tobytes() == of_events.dump()[name].tobytes(), name


@every_learner
def test_given_classes_alone_are_ranked(specification):
    learner = taught(specification)
    some = [*CLASSES[::2], "never learned", CLASSES[0]]
    for probe in PROBES:
        among = learner.rank(probe, 100, None, some)
        assert_is_ranking(among)
        assert {*names(among)} <= {*CLASSES[::2]}
        if not Options.parse(specification).members:  # the scores of a vote are of its classes
            everything = learner.rank(probe, 100)
            assert among == [scored for scored in everything if scored[0] in some]
        assert learner.rank(probe, 2, None, iter(some)) == among[:2]
        assert learner.rank(probe, 0, None, some) == learner.rank(probe, 5, None, []) == []
        if among:
            best = among[0][1]
            assert all(score > best for _, score in learner.rank(probe, 5, best, some))
    for wrong in (CLASSES[0], b"bytes"):
        with pytest.raises(InstanceError, match="array of names"):
            learner.rank(PROBES[0], 5, None, wrong)


@every_learner
def test_arrays_and_instances_are_learned_and_ranked_alike(specification):
    by_arrays, one_by_one = a_learner(specification), a_learner(specification)
    features, classes = Columns(FEATURES), Columns(CLASSES)
    instances, true = zip(*LESSONS, strict=True)
    for epoch in (0, 1):
        rows = features, *instances_of(FEATURES, instances), classes, *rows_of(CLASSES, true)
        top_two = np.empty((len(LESSONS), 2))
        ranks = by_arrays.learn_csr(*rows, epoch, top_two=top_two)
        assert ranks.dtype == np.int32
        outcomes = [one_by_one.learn(*each, epoch) for each in LESSONS]
        assert ranks.tolist() == [each.rank for each in outcomes]
        assert top_two.tolist() == [[each.first, each.second] for each in outcomes]
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


@every_learner
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


@every_learner
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


@learners_that(learns_at_once)
def test_an_example_just_learned_is_retrieved(specification):
    learner = a_learner(specification)
    for number in range(20):
        lesson = {f"its own {number}": 1.0, f"and {number}": 2.0}
        assert learner.learn(lesson, [f"class {number}"])[0] == 0  # not before
        if heeds_features(specification):
            assert learner.rank(lesson)[0][0] == f"class {number}"
        else:
            assert f"class {number}" in names(learner.rank(lesson, 50))


@every_learner
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


@learners_that(treats_all_alike)
def test_of_equal_classes_the_one_learned_first_comes_first(specification):
    learner = a_learner(specification)
    learner.learn(["f"], ["second by name"])
    learner.learn(["g"], ["first by name"])
    first, second = learner.rank(["f", "g"])
    if has_edges(specification) and Options.parse(specification).vote == "score":
        assert first[1] == second[1]
    if has_edges(specification) or first[1] == second[1]:  # a tree has learned them differently
        assert (first[0], second[0]) == ("second by name", "first by name")


@learners_that(heeds_features)
def test_an_unknown_feature_is_as_good_as_none(specification):
    learner = taught(specification)
    nothing = learner.rank({})
    assert learner.rank({"never seen": 1.0, "nor this": 4.0}) == nothing
    assert nothing == [] or not needs_features(specification)


@learners_that(needs_features)
def test_unknown_features_are_ignored(specification):
    learner = taught(specification)
    for probe in PROBES:
        assert names(learner.rank({**probe, "never seen": 0.5})) == names(learner.rank(probe))
    assert not learner.has_feature("never seen")


@every_learner
def test_values_of_0_do_not_vote(specification):
    plain, noisy = a_learner(specification), a_learner(specification)
    columns, indptr, ends = Columns(["f", "none"]), np.array([0, 2]), np.array([0, 1])
    indices, values = np.arange(2, dtype=np.int32), np.array([2.0, 0.0], np.float32)
    for _ in range(10):
        noisy.learn_csr(
            columns,
            indptr,
            indices,
            values,
            Columns(["c"]),
            ends,
            np.zeros(1, np.int32),
        )
        noisy.learn({"f": 2.0, "none": 0.0}, ["c"])
        plain.learn({"f": 2.0}, ["c"])
        plain.learn({"f": 2.0}, ["c"])
    assert_same_state(noisy, plain)
    _, scores = noisy.rank_csr(columns, indptr, indices, values, 1)
    assert scores[0, 0] == plain.rank({"f": 2.0})[0][1]


@every_learner
def test_an_instance_may_be_empty(specification):
    learner = a_learner(specification)
    for _ in range(30):
        assert learner.learn({}, ["c"])[0] in ((0,) if needs_features(specification) else (0, 1))
    assert learner.classes == 1
    assert learner.learned == 30
    if needs_features(specification):
        assert learner.rank({}) == learner.rank(["f"]) == []


@learners_that(adds_up)
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


@every_learner
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


@learners_that(heeds_features)
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


@every_learner
@pytest.mark.parametrize("value", [1e30, 1e-30, 1.0])
def test_scores_stay_finite(specification, value):
    learner = a_learner(specification)
    for number in range(60):
        instance = {f"f{number % 7}": value, f"g{number % 3}": 1.0, f"h{number % 5}": 1e30}
        learner.learn(instance, [f"{number % 4}"])
        for probe in (instance, {f"f{number % 7}": 1e30, "h0": 1e-30}):
            assert_is_ranking(learner.rank(probe))
    Learner.load(learner.options, learner.dump())

"""The probability of each ranked class, and precision and recall by limits of it."""

import random
from dataclasses import replace

import numpy as np
import pytest

from manyclass.core.calibration import Calibration
from manyclass.core.confidence_limits import best_point, drawn, least_limit
from manyclass.core.errors import SnapshotError
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.operating_points import PLACES, ProbabilityPoint
from tests.core.specifications import SPECIFICATIONS

FIRST_KNOWN = 100  # outcomes before a probability
ALL_KEPT = 1_000  # outcomes before rankings are sampled
MOST_KEPT = 4_000


def events(count, seed=0):
    """Return events of one to three classes, each shown by a feature of its own, or not."""
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        classes = chance.sample([f"c{n}" for n in range(12)], chance.choice([1, 1, 2, 3]))
        shown = [name for name in classes if chance.random() < 0.9]
        others = [f"c{chance.randrange(12)}" for _ in range(chance.random() < 0.3)]
        features = dict.fromkeys([*shown, *others, f"noise {chance.randrange(40)}"], 1.0)
        made.append(Event.learn(Instance(features), classes))
    return made


def streamed(count, specification="svm", seed=0):
    """Return a model that learned events, and the probabilities and truths before each of them."""
    model = Model(Options.parse(specification))
    before = []
    for seq, event in enumerate(events(count, seed), 1):
        answer = model.answer(event.instance, PLACES, probabilities=True)
        truths = [name in event.classes for name, _ in answer.ranked]
        before.append((answer, truths, len(event.classes)))
        model.apply(seq, event)
    return model, before


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_none_is_larger_than_the_one_before_and_the_first_is_the_confidence(specification):
    _, before = streamed(400, specification)
    known = 0
    for answer, _, _ in before:
        found = answer.probabilities
        assert len(found) == len(answer.ranked)
        assert not found or found[0] == answer.confidence
        probable = [each for each in found if each is not None]
        assert found[: len(probable)] == probable, "an unknown one is above a known one"
        assert probable == sorted(probable, reverse=True)
        assert all(0 <= each <= 1 for each in probable)
        known += len(probable)
    assert known > 300


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_a_ranking_is_kept_as_it_was_served(specification):
    model, before = streamed(300, specification)
    curve = model.answering.calibration.probability_curve()
    assert curve.rankings > 150
    served = before[-curve.rankings :]
    assert curve.true_classes == sum(true for _, _, true in served)
    places = [
        (truth, each)
        for answer, truths, _ in served
        for truth, each in zip(truths, answer.probabilities, strict=True)
        if each is not None
    ]
    assert curve.points[-1].classes == len(places)
    assert curve.points[-1].right == sum(truth for truth, _ in places)
    lengths = [len(truths) for _, truths, _ in before]
    known = [each is not None for each in before[-1][0].probabilities]
    assert known == [
        sum(length > at for length in lengths[:-1]) >= FIRST_KNOWN for at in range(len(known))
    ], "each place that was ranked was learned"


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_a_ranking_of_which_only_the_first_place_is_read_is_kept_as_it_was_served(specification):
    model = Model(Options.parse(specification))
    calibration = model.answering.calibration
    for _ in range(ALL_KEPT):
        calibration.add_ranking([1.0, 0.5], [True, False], 1)
    # The bias of some learners depends on new features, and on the mean number of true classes.
    names = [f"c{n}" for n in range(12)] + [f"noise {n}" for n in range(40)]
    model.apply(1, Event.learn(Instance(names), ["c0"]))
    served = []
    for seq, several in enumerate(events(150), 2):
        event = Event.learn(several.instance, several.classes[:1])
        ranked, confidence, _ = model.answer(event.instance, 1)
        is_right = bool(ranked) and ranked[0][0] in event.classes
        served.append((-1.0 if confidence is None else np.float32(confidence), is_right))
        model.apply(seq, event)
    kept = calibration.dump()
    assert calibration.probability_curve().rankings < ALL_KEPT - FIRST_KNOWN + len(served) / 2
    found = zip(kept["calibration_confidences"], kept["calibration_right"], strict=True)
    assert [*found][-len(served) :] == served


def test_the_first_is_the_confidence_while_outcomes_are_added():
    model, _ = streamed(300)
    enrolled = model.answering
    instance = Instance(["c1", "c2", "noise 3"])

    class Learning:
        """A calibration to which an outcome is added after each call."""

        def probabilities(self, scores):
            return self._last(enrolled.calibration.probabilities(scores))

        def confidence(self, first, second):
            return self._last(enrolled.calibration.confidence(first, second))

        def _last(self, answered):
            enrolled.calibration.add(1.0, 0.5, False)
            return answered

    beside = replace(enrolled, calibration=Learning())
    for _ in range(3):
        answer = beside.answer(instance, 5, None, probabilities=True)
        assert answer.confidence == answer.probabilities[0]


def test_they_come_true_at_every_place():
    _, before = streamed(6_000)
    later = [each for each in before[2_000:] if len(each[1]) == PLACES]
    expected = np.array([answer.probabilities for answer, _, _ in later]).mean(0)
    true = np.array([truths for _, truths, _ in later]).mean(0)
    assert true[0] > true[1] + 0.2 > true[2] + 0.4 > true[4] + 0.4, "the places differ"
    assert np.abs(expected - true).max() < 0.03


def test_a_surer_score_is_more_probable():
    _, before = streamed(4_000)
    second = [
        (answer.probabilities[1], truths[1])
        for answer, truths, _ in before[1_000:]
        if len(truths) > 1
    ]
    second.sort()
    least, most = np.array(second[:500], float), np.array(second[-500:], float)
    assert most[:, 1].mean() > least[:, 1].mean() + 0.4
    assert np.abs(most.mean(0)[0] - most.mean(0)[1]) < 0.05
    assert np.abs(least.mean(0)[0] - least.mean(0)[1]) < 0.05
    probable, true = np.array(second, float).T
    assert ((probable - true) ** 2).mean() < 0.12, "without a probability it would be 0.25"


def test_a_place_is_unknown_until_it_has_outcomes():
    calibration = Calibration()
    for number in range(FIRST_KNOWN):
        scores = [3.0, 1.0, 0.5] if number else [3.0, 1.0]
        assert calibration.probabilities([3.0, 1.0, 0.5]) == [None] * 3
        calibration.add_ranking(scores, [True, *[False] * (len(scores) - 1)], 1)
    first, second, third = calibration.probabilities([3.0, 1.0, 0.5])
    assert first > 0.9
    assert second < 0.1
    assert third is None
    assert calibration.probabilities([]) == []
    assert calibration.probabilities([3.0, 1.0, 0.5, 0.4])[3] is None


def test_a_threshold_leaves_the_probabilities_of_the_classes_above_it():
    model, _ = streamed(400)
    instance = Instance(["c1", "c2", "noise 3"])
    everything = model.answer(instance, PLACES, probabilities=True)
    some = model.answer(instance, PLACES, everything.ranked[2][1], probabilities=True)
    assert some.ranked == everything.ranked[:2]
    assert some.probabilities == everything.probabilities[:2]
    assert some.confidence == everything.confidence


def test_a_class_below_the_tenth_is_as_probable_as_a_tenth_one():
    model, _ = streamed(500)
    scores = [score for _, score in model.rank(Instance(["c1", "c2", "noise 3"]), 12)]
    found = model.answering.calibration.probabilities(scores)
    assert len(found) == 12
    moved = model.answering.calibration.probabilities([*scores[:9], scores[11]])
    assert found[11] == min(moved[9], found[10])


def test_the_curve_counts_the_classes_above_each_limit():
    model, before = streamed(ALL_KEPT)
    curve = model.answering.calibration.probability_curve()
    kept = before[-curve.rankings :]
    assert curve.rankings >= ALL_KEPT - FIRST_KNOWN - 20
    assert curve.true_classes == sum(true for _, _, true in kept)
    assert len(curve.points) > 50
    for point in curve.points:
        above = [
            [truth for each, truth in zip(answer.probabilities, truths, strict=True)
             if each is not None and np.float32(each) >= np.float32(point.limit)]
            for answer, truths, _ in kept
        ]  # fmt: skip
        found = sum(map(len, above)), sum(map(sum, above)), sum(map(bool, above))
        assert (point.classes, point.right, point.rankings) == found
    assert curve.points[-1].classes == sum(
        each is not None for answer, _, _ in kept for each in answer.probabilities
    )


def test_the_limit_is_the_least_that_reaches_the_precision():
    calibration, found = Calibration(), []
    for answer, truths, true_classes in streamed(ALL_KEPT)[1]:
        calibration.add_ranking([score for _, score in answer.ranked], truths, true_classes)
        curve = calibration.probability_curve()
        limits = [calibration.probability_limit_for(target) for target in (0.3, 0.6, 0.8)]
        if curve.rankings and curve.rankings % 100 == 0:
            found = limits
            points = [least_limit(curve.points, target) for target in (0.3, 0.6, 0.8)]
            assert limits == [None if at is None else curve.points[at].limit for at in points]
        assert limits == (found or [None] * 3), "they change with every hundredth ranking"
    assert None not in found
    assert calibration.probability_limit_for(1) is None
    assert Calibration().probability_limit_for(0.1) is None


def test_later_rankings_are_sampled_and_the_oldest_leave():
    calibration = Calibration()
    for _ in range(10_000):
        calibration.add_ranking([1.0, 0.5], [True, False], 1)
    kept = calibration.probability_curve().rankings
    assert ALL_KEPT + 2_000 < kept < ALL_KEPT + 2_500
    for _ in range(40_000):
        calibration.add_ranking([1.0, 0.5], [False, True], 1)
    curve = calibration.probability_curve()
    assert curve.rankings == MOST_KEPT
    assert sum(point.right for point in curve.points[-1:]) == MOST_KEPT


def test_the_limit_follows_a_change_within_a_hundred_kept_rankings():
    calibration = Calibration()
    for _ in range(16_000):  # more than 2,000 are kept
        calibration.add_ranking([1.0, 0.5], [True, False], 1)
    before = calibration.probability_limit_for(0.49)  # half of all ranked classes are right
    for _ in range(100 * 17):  # at least 100 of these are kept
        calibration.add_ranking([1.0, 0.5], [False, False], 1)
    assert before < calibration.probability_limit_for(0.49)


def test_a_ranking_whose_scores_are_0_teaches_nothing():
    calibration = Calibration()
    for _ in range(2 * FIRST_KNOWN):
        calibration.add_ranking([0.0, -1.0], [True, False], 1)
    assert calibration.outcomes == 0
    assert not calibration.dump()["calibration_lower"][0]


def test_an_event_without_a_class_has_no_outcome():
    calibration = Calibration()
    with pytest.raises(ValueError, match="1 or more"):
        calibration.add_ranking([1.0], [False], 0)
    assert calibration.outcomes == 0


def test_a_ranking_without_a_class_has_missed_its_true_ones():
    model, _ = streamed(300)
    before = model.answering.calibration.probability_curve()
    model.apply(model.seq + 1, Event.learn(Instance({"never seen": 1.0}), ["c0", "c1"]))
    model.apply(model.seq + 1, Event.learn(Instance({}), ["c0"]))
    after = model.answering.calibration.probability_curve()
    assert after.points == before.points
    assert after.rankings == before.rankings + 2
    assert after.true_classes == before.true_classes + 3
    model.apply(model.seq + 1, Event.learn(Instance({}), ["new", "newer", "newest"]))
    last = model.answering.calibration.probability_curve()
    assert (last.rankings, last.true_classes) == (after.rankings + 1, after.true_classes + 3)


def test_a_loaded_state_goes_on_as_the_dumped_one():
    for count in (50, 150, 1_700):
        calibrations = [streamed(count)[0].answering.calibration]
        calibrations.append(Calibration.load(calibrations[0].dump()))
        for _ in range(300):
            for each in calibrations:
                each.add_ranking([2.0, 1.0, 0.4], [True, True, False], 2)
            first, second = (each.dump() for each in calibrations)
            assert all(first[name].tobytes() == second[name].tobytes() for name in first)
            limits = [each.probability_limit_for(0.6) for each in calibrations]
            assert limits[0] == limits[1]


def test_the_limits_of_a_loaded_state_ignore_rankings_that_have_left():
    chance = random.Random(5)
    calibration = Calibration()

    def add_until(kept):
        while calibration.dump()["calibration_outcomes"][2] < kept:
            for _ in range(4):
                score = chance.random() + 0.5
                is_right = chance.random() < score - 0.5 - (kept > MOST_KEPT) * 0.2
                calibration.add_ranking([score, 0.4], [is_right, not is_right], 1)

    add_until(MOST_KEPT - 1)
    for kept in (MOST_KEPT, MOST_KEPT + 37, MOST_KEPT + 140, MOST_KEPT + 199):
        add_until(kept)
        loaded = Calibration.load(calibration.dump())
        for target in (0.4, 0.5, 0.6, 0.7):
            limit = calibration.probability_limit_for(target)
            assert loaded.probability_limit_for(target) == limit
    assert limit is not None


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("calibration_outcomes", lambda array: array + np.array([0, 0, 1], "<u8")),
        ("calibration_outcomes", lambda array: array + np.array([0, 0, 10**6], "<u8")),
        ("calibration_lower", lambda array: array[1:]),
        ("calibration_lower", lambda array: array + 0.5),
        ("calibration_lower", np.negative),
        ("calibration_lower", lambda array: np.r_[400.0, array[1:]]),
        ("calibration_lower", lambda array: np.full_like(array, np.nan)),
        ("calibration_places", lambda array: array[1:]),
        ("calibration_places", lambda array: array[PLACES:]),
        ("calibration_places", lambda array: array + np.uint16(1001)),
        ("calibration_places", lambda array: array[::-1].copy()),
        ("calibration_places", lambda array: np.r_[[65535] * 9, 0, array[PLACES:]].astype("<u2")),
        ("calibration_places_true", lambda array: array[1:]),
        ("calibration_places_true", lambda array: array + np.uint16(1 << PLACES)),
        ("calibration_true_classes", lambda array: array[1:]),
        ("calibration_true_classes", np.zeros_like),
        ("calibration_places_true", lambda array: np.full_like(array, (1 << PLACES) - 1)),
    ],
)
def test_damage_is_refused(name, change):
    sections = streamed(300)[0].answering.calibration.dump()
    sections[name] = change(sections[name])
    with pytest.raises(SnapshotError) as refused:
        Calibration.load(sections)
    assert refused.value.section.startswith("calibration_")


def test_the_points_that_matter_are_those_of_the_classes():
    points = [ProbabilityPoint(0.9, 100, 99, 90), ProbabilityPoint(0.5, 400, 300, 200)]
    assert points[1].precision == 0.75
    assert least_limit(points, 0.7) == 1
    assert least_limit(points, 0.95) == 0
    assert least_limit(points, 0.999) is None
    assert best_point(points) == 0
    assert drawn(points, 400) == [0, 1]

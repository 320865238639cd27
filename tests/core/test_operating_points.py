"""Operating points: limits of confidence whose answers were right often enough."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.calibration import NEWEST_OUTCOMES, Calibration, interval_of

EVERYTHING = 10**6
FIRST_KEPT = 100
REFRESH = 200  # outcomes from one search for the limit to the next, from 2,000 on
TARGETS = [0.5, 0.8, 0.9, 0.95, 0.99]


def stream(events, seed=0):
    """Yield (first score, second score, right): right more often with a wide gap."""
    chance = np.random.default_rng(seed)
    for _ in range(events):
        first = chance.gamma(4)
        second = first * chance.random()
        yield first, second, bool(chance.random() < 1 / (1 + np.exp(2 - 3 * (first - second))))


def judged(outcomes):
    """Return a calibration, and (confidence before, right) of each outcome that it keeps."""
    calibration, kept = Calibration(), []
    for number, (first, second, is_right) in enumerate(outcomes):
        if number >= FIRST_KEPT:
            confidence = float(np.float32(calibration.confidence(first, second)))
            kept.append((confidence, is_right))
        calibration.add(first, second, is_right)
    return calibration, kept


def low_end(right, answers):
    z = 1.6448536269514722
    share = right / answers
    spread = sqrt(share * (1 - share) / answers + z * z / (4 * answers * answers))
    return (share + z * z / (2 * answers) - z * spread) / (1 + z * z / answers)


def limit_by_counting(kept, target):
    """Return the least thousandth whose answers have a low end of at least the target.

    Of the limits with the same answers it is the highest.
    """
    for thousandth in range(1001):
        above = [each for each in kept if each[0] >= thousandth / 1000]
        right = sum(is_right for _, is_right in above)
        if above and low_end(right, len(above)) >= target:
            return int(min(above)[0] * 1000) / 1000, len(above), right
    return None


@given(st.integers(1, 10**6), st.floats(0, 1))
def test_the_interval_is_that_of_wilson(answers, share):
    right = int(share * answers)
    low, high = interval_of(right, answers)
    assert low == pytest.approx(max(low_end(right, answers), 0), abs=1e-12)
    assert 0 <= low <= right / answers <= high <= 1
    assert high == pytest.approx(1 - interval_of(answers - right, answers)[0], abs=1e-9)
    assert interval_of(0, 0) == (0, 1)


def test_the_curve_counts_the_answers_at_each_limit():
    calibration, kept = judged(stream(3_000))
    curve = calibration.curve(EVERYTHING, {})
    assert (curve.outcomes, curve.right) == (len(kept), sum(right for _, right in kept))
    limits = [point.limit for point in curve.points]
    assert limits == sorted(limits, reverse=True)
    for point in curve.points[:: len(curve.points) // 7]:
        above = [right for confidence, right in kept if confidence >= point.limit]
        assert (point.answers, point.right) == (len(above), sum(above))
        assert point.accuracy == sum(above) / len(above)
    newest = calibration.curve(500, {})
    assert (newest.outcomes, newest.right) == (500, sum(right for _, right in kept[-500:]))


def test_the_confidence_has_a_mean_over_each_run_of_outcomes():
    calibration, kept = judged(stream(400))
    confidences = [confidence for confidence, _ in kept]
    newest, before, none = calibration.mean_confidences([100, 200, 0])
    assert newest == pytest.approx(np.mean(confidences[-100:]))
    assert before == pytest.approx(np.mean(confidences[-300:-100]))
    assert none is None
    assert calibration.mean_confidences([100, 201, 1]) == [newest, None, None]
    calibration.add(0, 0, False)  # no class was ranked
    assert calibration.mean_confidences([2]) == [pytest.approx(confidences[-1] / 2)]


@pytest.mark.parametrize("target", TARGETS)
def test_the_limit_is_the_least_whose_answers_were_right_often_enough(target):
    calibration, kept = judged(stream(FIRST_KEPT + 2_000))
    expected = limit_by_counting(kept, target)
    assert calibration.limit_for(target) == (None if expected is None else expected[0])


def test_a_target_out_of_reach_has_no_limit():
    calibration, _ = judged([(2.0, 1.0, number % 2 == 0) for number in range(500)])
    assert calibration.limit_for(0.4) is not None
    assert calibration.limit_for(0.8) is None
    assert Calibration().limit_for(0.1) is None


def test_the_limit_follows_the_newest_outcomes_and_changes_now_and_then():
    outcomes = [*stream(FIRST_KEPT + NEWEST_OUTCOMES + 250)]
    calibration, kept = judged(outcomes)
    until = len(kept) - len(kept) % REFRESH
    for target in (0.8, 0.9):
        expected = limit_by_counting(kept[until - NEWEST_OUTCOMES : until], target)
        assert calibration.limit_for(target) == expected[0]
        assert Calibration.load(calibration.dump()).limit_for(target) == expected[0]


def test_groups_have_limits_of_their_own():
    calibration = Calibration()
    pairs = {"sure": [], "unsure": []}
    for number, (first, second, is_right) in enumerate(stream(6_000)):
        name = "sure" if number % 3 else "unsure"
        is_right = True if name == "sure" else is_right
        if number >= FIRST_KEPT:
            confidence = float(np.float32(calibration.confidence(first, second)))
            pairs[name].append((confidence, is_right))
        calibration.add(first, second, is_right, name, "web")
    found = calibration.groups("class", EVERYTHING, {}, [0.9, 0.999], 0, 10)
    assert found.total == 2
    assert [each.name for each in found.groups] == ["sure", "unsure"]
    reached = [0, 0]
    for each in found.groups:
        kept = pairs[each.name]
        assert (each.outcomes, each.right) == (len(kept), sum(right for _, right in kept))
        for at, target in enumerate([0.9, 0.999]):
            expected = limit_by_counting(kept, target)
            point = each.reached[at]
            assert (None if point is None else tuple(point)) == expected
            reached[at] += expected is not None
        assert each.best.accuracy >= each.right / each.outcomes
    assert found.reached == reached
    assert [each.name for each in calibration.groups("class", 10, {}, [], 1, 1).groups] == [
        "unsure"
    ]
    [web] = calibration.groups("source", EVERYTHING, {}, [0.9], 0, 10).groups
    assert (web.name, web.outcomes) == ("web", 5_900)


def test_classes_are_counted_at_each_limit():
    calibration = Calibration()
    for number, (first, second, is_right) in enumerate(stream(2_000)):
        calibration.add(first, second, is_right, f"class {number % 40}")
    curve = calibration.curve(EVERYTHING, {})
    assert curve.classes == sorted(curve.classes)
    assert curve.classes[-1] == 40
    assert calibration.curve(EVERYTHING, {"class 1": "class 2"}).classes[-1] == 39
    assert calibration.curve(EVERYTHING, {"class 1": "new", "class 2": "new"}).classes[-1] == 39

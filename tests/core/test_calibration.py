"""Confidence: learned from outcomes, bounded, reproducible, and informative."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.calibration import Calibration
from manyclass.core.errors import SnapshotError
from manyclass.core.reliability import Bin, calibration_error

SCORES = st.floats(allow_nan=False, allow_infinity=False)
OUTCOMES = st.lists(st.tuples(SCORES, SCORES, st.booleans()), max_size=30)
ENOUGH = 100


def taught(*outcomes):
    calibration = Calibration()
    for first, second, is_right in outcomes:
        calibration.add(first, second, is_right)
    return calibration


def repeated(outcomes):
    """Return a calibration with enough repeated outcomes to have a confidence."""
    return taught(*(outcomes * (ENOUGH // max(len(outcomes), 1) + 1)))


def stream(events, seed=0, scale=1.0):
    """Yield (first score, second score, right): right more often with a wide gap, and later."""
    random = np.random.default_rng(seed)
    for number in range(events):
        first = random.gamma(4) * scale
        second = first * random.random()
        odds = 3 * (first - second) / scale - 2 + number / events
        yield first, second, bool(random.random() < 1 / (1 + np.exp(-odds)))


def progressive(outcomes):
    """Return arrays of confidences before an outcome and of outcomes, once confidences exist."""
    calibration, found = Calibration(), []
    for first, second, is_right in outcomes:
        found.append((calibration.confidence(first, second), is_right))
        calibration.add(first, second, is_right)
    pairs = [each for each in found if each[0] is not None]
    return np.array([each for each, _ in pairs]), np.array([right for _, right in pairs], float)


def equal_dumps(one, other):
    ours, others = one.dump(), other.dump()
    return all(ours[name].tobytes() == others[name].tobytes() for name in ours)


@given(OUTCOMES, SCORES, SCORES)
def test_a_confidence_is_a_probability(outcomes, first, second):
    confidence = repeated(outcomes).confidence(first, second)

    if first == 0 or not any(each for each, _, _ in outcomes):
        assert confidence is None
    elif confidence is not None:
        assert 0 <= confidence <= 1


@given(st.integers(0, 1000), st.floats(0.01, 50), st.lists(st.floats(-1, 1), min_size=2))
def test_a_closer_second_never_makes_it_surer(seed, first, shares):
    calibration = taught(*stream(300, seed))

    sure = [calibration.confidence(first, first * share) for share in sorted(shares)]
    assert sure == sorted(sure, reverse=True)


@given(st.integers(0, 1000), st.integers(0, 400), st.integers(0, 400))
def test_a_loaded_one_goes_on_as_the_one_that_was_dumped(seed, before, after):
    outcomes = [*stream(before + after, seed)]
    calibration = taught(*outcomes[:before])
    loaded = Calibration.load(calibration.dump())
    for each in outcomes[before:]:
        assert loaded.confidence(*each[:2]) == calibration.confidence(*each[:2])
        calibration.add(*each)
        loaded.add(*each)

    assert equal_dumps(calibration, loaded)
    assert equal_dumps(calibration, taught(*outcomes))


def test_only_the_last_ten_thousand_outcomes_judge_it_also_when_loaded():
    calibration = taught(*stream(10_300))
    loaded = Calibration.load(calibration.dump())
    for each in stream(150, seed=1):
        calibration.add(*each)
        loaded.add(*each)

    assert sum(each.outcomes for each in loaded.reliability) == 10_000
    assert loaded.reliability == calibration.reliability
    assert loaded.brier == calibration.brier
    assert equal_dumps(calibration, loaded)


def test_there_is_none_before_a_hundred_outcomes():
    outcomes = [*stream(ENOUGH)]
    calibration = taught(*outcomes[:-1])

    assert calibration.confidence(2.0, 1.0) is None
    calibration.add(*outcomes[-1])
    assert calibration.confidence(2.0, 1.0) is not None
    assert calibration.outcomes == ENOUGH
    assert (calibration.brier, calibration_error(calibration.reliability)) == (None, None)


def test_a_ranking_without_a_class_teaches_nothing():
    calibration, before = taught(*stream(ENOUGH)), taught(*stream(ENOUGH))
    calibration.add(0.0, 0.0, False)

    assert calibration.confidence(0.0, 0.0) is None
    assert calibration.outcomes == ENOUGH
    assert (calibration.brier, calibration.reliability) == (None, before.reliability)
    assert calibration.dump()["calibration_confidences"].tolist() == [-1]
    ours, theirs = (each.dump()["calibration_numbers"] for each in (calibration, before))
    assert ours.tobytes() == theirs.tobytes()


def test_confidence_is_calibrated():
    confidences, right = progressive(stream(20_000))
    calibration = taught(*stream(20_000))

    assert calibration_error(calibration.reliability) < 0.02
    assert calibration.brier == pytest.approx(
        np.mean((right[-10_000:] - confidences[-10_000:]) ** 2), abs=1e-6
    )
    assert calibration.brier < 0.75 * right[-10_000:].var()  # the best constant's score
    assert right[confidences > 0.9].mean() > 0.88
    assert right[confidences < 0.2].mean() < 0.22


def test_a_world_that_does_the_opposite_is_found_out():
    calibration = taught(*stream(ENOUGH))
    for first, second, _ in stream(5_000):
        calibration.add(first, second, calibration.confidence(first, second) < 0.5)

    assert calibration_error(calibration.reliability) > 0.2


def test_it_follows_a_learner_that_gets_worse():
    calibration = taught(*stream(5_000))
    for first, second, _ in stream(3_000, seed=1):
        calibration.add(first, second, False)

    assert all(calibration.confidence(first, second) < 0.1 for first, second, _ in stream(50, 2))


def test_the_scale_of_the_scores_does_not_matter():
    usual, _ = progressive(stream(2_000))
    large, _ = progressive(stream(2_000, scale=2.0**40))

    assert usual.tolist() == large.tolist()


def test_bins_hold_what_fell_into_them():
    calibration = taught(*stream(3_000))
    confidences, right = progressive(stream(3_000))
    confidences = confidences.astype(np.float32).astype(float)

    for place, each in enumerate(calibration.reliability):
        inside = np.minimum((confidences * 10).astype(int), 9) == place
        assert each.outcomes == inside.sum()
        assert each.confidence == pytest.approx(confidences[inside].sum())
        assert each.right == right[inside].sum()


def test_the_error_weighs_bins_by_their_outcomes():
    assert calibration_error([Bin(0, 0.0, 0.0)]) is None
    assert calibration_error([Bin(1, 0.5, 1.0), Bin(3, 2.7, 3.0)]) == pytest.approx(0.2)


def damaged(name, change):
    sections = taught(*stream(150)).dump()
    sections[name] = change(sections[name])
    return sections


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("calibration_outcomes", lambda array: array - np.array([0, 1, 1], "<u8")),
        ("calibration_outcomes", lambda array: array.astype("<i4")),
        ("calibration_outcomes", lambda array: array[:0]),
        ("calibration_numbers", lambda array: array[1:]),
        ("calibration_numbers", lambda array: np.full_like(array, np.inf)),
        ("calibration_numbers", np.negative),
        ("calibration_confidences", lambda array: array[1:]),
        ("calibration_confidences", lambda array: array + np.float32(2)),
        ("calibration_confidences", lambda array: array.reshape(-1, 1)),
        ("calibration_right", lambda array: array + np.uint8(2)),
        ("calibration_right", lambda array: array[1:]),
    ],
)
def test_damage_is_refused(name, change):
    with pytest.raises(SnapshotError) as refused:
        Calibration.load(damaged(name, change))
    assert refused.value.section.startswith("calibration_")


def test_a_missing_section_is_named():
    sections = taught().dump()
    del sections["calibration_right"]
    with pytest.raises(SnapshotError, match="calibration_right"):
        Calibration.load(sections)


def arrays(outcomes):
    scores = np.array([[first, second] for first, second, _ in outcomes], np.float64)
    return scores.reshape(-1, 2), np.array([right for _, _, right in outcomes], np.uint8)


def test_a_settled_one_has_less_noise():
    """The share of right ones is known here; each calibration is asked at its last moment."""
    online, settled = [], []
    for seed in range(12):
        outcomes = [*stream(3_000, seed)]
        probes = [*stream(3_000, 100 + seed)]
        calibration = taught(*outcomes)
        for errors in (online, settled):
            sure = np.array([calibration.confidence(*each[:2]) for each in probes])
            odds = np.array([3 * (first - second) - 2 + 0.5 for first, second, _ in probes])
            errors.append(np.abs(sure - 1 / (1 + np.exp(-odds))).mean())
            calibration.settle(*arrays(outcomes))
    assert np.mean(settled) < 0.5 * np.mean(online)


def test_settling_keeps_the_outcomes_and_goes_on():
    outcomes = [*stream(400)]
    calibration, before = taught(*outcomes), taught(*outcomes)
    calibration.settle(*arrays(outcomes))

    assert calibration.outcomes == before.outcomes
    assert calibration.reliability == before.reliability
    assert not equal_dumps(calibration, before)
    loaded = Calibration.load(calibration.dump())
    for first, second, is_right in stream(300, seed=1):
        assert loaded.confidence(first, second) == calibration.confidence(first, second)
        loaded.add(first, second, is_right)
        calibration.add(first, second, is_right)
    assert equal_dumps(loaded, calibration)


@given(OUTCOMES, OUTCOMES, SCORES, SCORES)
def test_a_settled_confidence_is_a_probability_and_can_be_loaded(
    taught_by, outcomes, first, second
):
    calibration = repeated(taught_by)
    calibration.settle(*arrays(outcomes))

    confidence = Calibration.load(calibration.dump()).confidence(first, second)
    assert confidence == calibration.confidence(first, second)
    assert confidence is None or 0 <= confidence <= 1
    if confidence is not None and second < first:
        assert calibration.confidence(first, first) <= confidence


def test_nothing_to_settle_on_changes_nothing():
    calibration, before = taught(*stream(200)), taught(*stream(200))
    calibration.settle(*arrays([]))
    calibration.settle(*arrays([(0.0, 0.0, True)]))
    assert equal_dumps(calibration, before)
    empty = Calibration()
    empty.settle(*arrays([*stream(200)]))
    assert equal_dumps(empty, Calibration())


@pytest.mark.parametrize(
    ("scores", "right"),
    [
        (np.ones((3, 1)), np.ones(3, np.uint8)),
        (np.ones((3, 2)), np.ones(2, np.uint8)),
        (np.full((3, 2), np.nan), np.ones(3, np.uint8)),
        (np.full((3, 2), np.inf), np.ones(3, np.uint8)),
    ],
)
def test_arrays_that_cannot_be_outcomes_are_refused(scores, right):
    calibration, before = taught(*stream(200)), taught(*stream(200))
    with pytest.raises(ValueError, match=r"top_two|finite"):
        calibration.settle(scores, right)
    assert equal_dumps(calibration, before)

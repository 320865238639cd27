import numpy as np
import pytest

from manyclass.evaluation.datasets import Dataset
from studies import calibration
from studies.calibration import (
    BINS,
    FIRST_COUNTED,
    LIMITS,
    Outcomes,
    around_drift,
    calibrated,
)
from studies.calibration import outcomes as outcomes_of
from tests.evaluation.examples import separable


def outcomes(*pairs):
    confidence, right = np.array(pairs, float).T
    return Outcomes(confidence, right, np.arange(len(pairs)))


def honest_outcomes(count=30_000):
    random = np.random.default_rng(0)
    confidence = random.random(count)
    right = (random.random(count) < confidence).astype(float)
    return Outcomes(confidence, right, np.arange(count))


def test_honest_confidence_has_no_error():
    honest = honest_outcomes()
    boasting = Outcomes(honest.confidence**0.3, honest.right, honest.event)

    good, bad, constant = (each.scores() for each in (honest, boasting, honest.constant()))
    assert good["calibration error"] < 0.015
    assert bad["calibration error"] > 0.2
    assert good["Brier"] < bad["Brier"]
    assert good["log loss"] < bad["log loss"]
    assert good["Brier"] < constant["Brier"] == pytest.approx(0.25, abs=0.01)


def test_bins_have_as_many_outcomes_each():
    bins = [*honest_outcomes(1_500).bins()]

    assert [count for _, _, count in bins] == [100] * 15
    assert [sure for sure, _, _ in bins] == sorted(sure for sure, _, _ in bins)


def test_scores_follow_their_definitions():
    found = outcomes((0.9, 1), (0.9, 0), (0.5, 1), (0.1, 0))

    assert found.scores()["Brier"] == pytest.approx((0.01 + 0.81 + 0.25 + 0.01) / 4)
    assert found.scores()["log loss"] == pytest.approx(-np.log([0.9, 0.1, 0.5, 0.9]).mean())
    assert found.constant().scores()["Brier"] == pytest.approx(0.25)


def test_a_certain_mistake_is_not_infinitely_bad():
    assert np.isfinite(outcomes((1.0, 0)).scores()["log loss"])


def test_easy_rows_have_high_confidence_once_there_is_one():
    found = outcomes_of(separable(FIRST_COUNTED + 200), "ff")

    assert len(found.right) == 200
    assert found.right.mean() == 1
    assert found.confidence.min() > 0.9
    assert found.event.tolist() == list(range(FIRST_COUNTED, FIRST_COUNTED + 200))


def test_records_hold_scores_bins_and_answers_above_each_limit(monkeypatch):
    found = outcomes((0.97, 1), (0.9, 0), (0.6, 1), (0.1, 0))
    monkeypatch.setattr(calibration, "outcomes", lambda rows, name: found)

    whole, *rest = calibrated(Dataset("made", separable(8)), "ff", 1, 0)

    assert whole["right"] == 0.5
    assert whole["Brier of the constant"] == pytest.approx(0.25)
    bins, limits = rest[: -len(LIMITS)], rest[-len(LIMITS) :]
    assert [each["share right"] for each in bins] == [0, 1, 0, 1]
    assert limits[0] == {
        "limit": ">= 0.5",
        "answered": 0.75,
        "right of these": pytest.approx(2 / 3),
    }
    assert limits[-1] == {"limit": ">= 0.95", "answered": 0.25, "right of these": 1.0}
    assert len(bins) < BINS
    assert not [each for each in rest if whole.keys() & each.keys()]  # no mean mixes the two


def test_no_answer_above_a_limit_has_no_share_of_right_ones(monkeypatch):
    monkeypatch.setattr(calibration, "outcomes", lambda rows, name: outcomes((0.6, 1)))

    *_, last = calibrated(Dataset("made", separable(8)), "ff", 1, 0)

    assert last == {"limit": ">= 0.95", "answered": 0.0}


def test_a_change_of_all_features_is_seen_in_what_comes_true():
    data = Dataset("made", separable(2 * FIRST_COUNTED + 600))

    before, after, *_ = around_drift(1.0, data, "ff", 1, 0)

    assert before["events"] == "-1,000 to +0"
    assert before["right"] == 1 > after["right"]

import numpy as np
import pytest

from manyclass.evaluation.datasets import Dataset
from manyclass.training.rows import Rows
from studies import calibration
from studies.calibration import (
    BINS,
    FIRST_COUNTED,
    LIMITS,
    Outcomes,
    along_the_stream,
    around_drift,
    calibrated,
    in_real_order,
    right_after_training,
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


def test_a_trained_state_is_measured_on_rows_that_it_never_learned(monkeypatch):
    seen = []
    made_by = calibration.train

    def noting(rows, options, plan):
        seen.append((len(rows), plan.passes, plan.calibration_rows))
        return made_by(rows, options, plan)

    monkeypatch.setattr(calibration, "train", noting)
    data = Dataset("made", separable(1_000))

    [found] = right_after_training(data, "ff", 2, 0)
    [without] = right_after_training(data, "ff kept_back=0", 2, 0)
    [known] = right_after_training(data, "ff known_rows", 2, 0)

    assert seen == [(800, 2, 1_000), (800, 2, 0)]
    assert found["right"] == without["right"] == known["right"] == 1
    assert found["confidence"] > 0.9
    assert found["calibration error"] == pytest.approx(1 - found["confidence"])
    assert known["confidence"] > 0.9


def test_known_rows_make_the_confidence_too_high():
    random = np.random.default_rng(0)
    rows = Rows.of(
        ([f"f{random.integers(2)}", f"h{row}"], [f"c{random.integers(2)}"]) for row in range(2_500)
    )
    data = Dataset("made", rows)

    [honest] = right_after_training(data, "svm", 3, 0)
    [known] = right_after_training(data, "svm known_rows", 3, 0)

    assert honest["calibration error"] < 0.1 < 0.3 < known["calibration error"]


def test_an_error_by_chance_is_that_of_honest_outcomes():
    found = honest_outcomes(3_000)

    assert found.error_by_chance() == pytest.approx(found.calibration_error(), rel=0.5)
    assert 0.01 < found.error_by_chance() < 0.05


def test_streams_have_the_order_of_the_data():
    def order_of(name, rows=None, published=None):
        labelled = [([f"f{row}"], [f"c{row % 3}"]) for row in range(9)]
        data = Dataset(name, Rows.of(labelled), published=published)
        made = in_real_order(data, rows)
        assert made.published is None
        return [int(name[1:]) for instance, _ in made.rows for name in instance]

    assert order_of("reuters", published=6) == list(range(9))
    assert order_of("reuters", rows=3, published=6) == [0, 4, 8]
    assert order_of("eurlex", published=6) == list(range(6))
    assert order_of("clinc") == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    by_time = order_of("newsgroups-bydate", published=6)
    assert sorted(by_time[:6]) == list(range(6)) != by_time[:6]


def test_a_stream_is_measured_as_a_whole_and_in_tenths():
    data = Dataset("made", separable(2 * FIRST_COUNTED))

    whole, *tenths = along_the_stream(data, "ff", 1, 0)

    assert whole["right"] == 1
    assert [each["tenth"] for each in tenths] == [6, 7, 8, 9, 10]
    assert all(each["share right"] == 1 for each in tenths)
    assert all(each["error"] == pytest.approx(1 - each["confidence"]) for each in tenths)

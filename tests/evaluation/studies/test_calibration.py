import json
import sys

import numpy as np
import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation import sets
from manyclass.evaluation.studies import calibration
from manyclass.evaluation.studies.calibration import (
    FIRST_COUNTED,
    Outcomes,
    drift_of,
    errors_of,
    events_of,
    measure,
    reliability_of,
    shares_of,
)
from tests.evaluation.examples import separable


def outcomes(*pairs):
    confidence, right = np.array(pairs, float).T
    return Outcomes(confidence, right, np.arange(len(pairs)))


def calibrated(count=30_000):
    random = np.random.default_rng(0)
    confidence = random.random(count)
    right = (random.random(count) < confidence).astype(float)
    return Outcomes(confidence, right, np.arange(count))


def test_what_comes_true_as_often_as_said_has_no_error():
    honest = calibrated()
    boasting = Outcomes(honest.confidence**0.3, honest.right, honest.event)

    assert honest.calibration_error < 0.015
    assert boasting.calibration_error > 0.2
    assert honest.brier < boasting.brier
    assert honest.log_loss < boasting.log_loss
    assert honest.brier < honest.constant.brier == pytest.approx(0.25, abs=0.01)


def test_bins_have_as_many_outcomes_each():
    bins = calibrated(1_500).bins

    assert [count for _, _, count in bins] == [100] * 15
    assert [sure for sure, _, _ in bins] == sorted(sure for sure, _, _ in bins)


def test_figures_are_what_they_are_said_to_be():
    found = outcomes((0.9, 1), (0.9, 0), (0.5, 1), (0.1, 0))

    assert found.brier == pytest.approx((0.01 + 0.81 + 0.25 + 0.01) / 4)
    assert found.log_loss == pytest.approx(-np.log([0.9, 0.1, 0.5, 0.9]).mean())
    assert found.constant.brier == pytest.approx(0.25)
    assert found.above(0.5) == (0.75, pytest.approx(2 / 3))
    assert found.above(0.95) == (0.0, None)


def test_a_certain_mistake_is_not_infinitely_bad():
    assert np.isfinite(outcomes((1.0, 0)).log_loss)


def test_events_are_the_rows():
    rows = separable(8)
    events = events_of(rows)

    assert len(events) == 8
    assert dict(events[1].instance.items()) == {"sign 1": 1.0, "noise 1": 0.5}
    assert events[1].classes == ["class 1"]


def test_what_is_easy_is_said_with_certainty_once_there_is_a_confidence():
    found = measure(events_of(separable(FIRST_COUNTED + 200)), Options())

    assert len(found) == 200
    assert found.right.mean() == 1
    assert found.confidence.min() > 0.9
    assert found.event.tolist() == list(range(FIRST_COUNTED, FIRST_COUNTED + 200))


def test_tables_have_a_row_for_each_learner():
    found = {"one": calibrated(), "other": outcomes((0.6, 1), (0.4, 0))}
    errors, shares = errors_of("set", found), shares_of("set", found)

    assert [row[0].text for row in errors.rows] == ["one", "other"]
    assert errors.rows[1][3].figure == pytest.approx(0.16)
    assert errors.best[2] == 0
    assert [cell.text for cell in shares.rows[1][1:5]] == ["0.500", "1.000", "0.000", "-"]


def test_what_is_said_after_a_change_stands_beside_what_was_right(monkeypatch):
    monkeypatch.setattr(calibration, "AROUND_DRIFT", (-2, 0, 1, 9))
    found = {"one": outcomes((0.2, 0), (0.8, 1), (0.6, 0), (0.9, 0))}

    table = drift_of("set", found, 3)

    assert table.columns[0] == "learner"
    assert table.columns[1::2] == ["-2 to +0: said", "+0 to +1: said", "+1 to +9: said"]
    assert table.columns[2::2] == ["right"] * 3
    told = [cell.text for cell in table.rows[0]]
    assert told == ["one", "0.700", "0.500", "0.900", "0.000", "-", "-"]


def test_the_plot_has_the_diagonal_and_each_learner():
    plot = reliability_of("set", {"one": calibrated()}).plot

    assert [series.name for series in plot.series] == ["as said", "one"]
    assert len(plot.series[1].points) == 15
    assert "30" not in plot.title
    assert plot.svg()


def test_the_command_writes_what_it_found(monkeypatch, tmp_path, capsys):
    rows = separable(FIRST_COUNTED + 100)
    monkeypatch.setattr(sets, "read", lambda name, data: sets.DataSet(name, rows))
    page, figures = tmp_path / "a.html", tmp_path / "a.json"
    argv = ["calibration", "--sets", "clinc", "--learner", "ff"]
    argv += ["--html", str(page), "--json", str(figures)]
    monkeypatch.setattr(sys, "argv", argv)
    calibration.main()

    assert "clinc: 1,100 rows" in capsys.readouterr().out
    assert "<svg" in page.read_text()
    assert len(json.loads(figures.read_text())["tables"]) == 2


def test_a_drifting_stream_is_told_around_its_change(monkeypatch, capsys):
    rows = separable(2 * FIRST_COUNTED + 600)
    monkeypatch.setattr(sets, "read", lambda name, data: sets.DataSet(name, rows))
    argv = ["calibration", "--sets", "clinc", "--learner", "ff", "--drift", "1"]
    monkeypatch.setattr(sys, "argv", argv)

    calibration.main()

    shown = capsys.readouterr().out
    assert "around the change" in shown
    *_, told = [line for line in shown.splitlines() if line.strip().startswith("ff")]
    _, _, right_before, _, right_after, *_ = told.split()
    assert float(right_before) == 1 > float(right_after)

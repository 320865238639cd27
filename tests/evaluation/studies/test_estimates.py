import json

import numpy as np
import pytest

from manyclass.evaluation.studies import estimates
from manyclass.evaluation.studies.study import parser_of


def test_without_a_minimum_weight_fsu_has_the_proportions_seen():
    streams = np.array([[0, 0, 0, 1], [2, 1, 2, 1]], np.int32)

    weights = estimates.fsu(streams, 0)

    np.testing.assert_allclose(weights, [[0.75, 0.25, 0], [0, 0.5, 0.5]])


def test_a_class_that_comes_late_stays_below_the_minimum_weight():
    streams = np.array([[0] * 99 + [1]], np.int32)

    np.testing.assert_allclose(estimates.fsu(streams, 0.1), [[0.99, 0]])
    np.testing.assert_allclose(estimates.fsu(streams, 0.001), [[0.99, 0.01]])


def test_every_observation_is_learned_even_when_only_one_class_ever_comes():
    streams = np.array([[0] * 50 + [1] * 50], np.int32)

    np.testing.assert_allclose(estimates.fsu(streams, 0), [[0.5, 0.5]])


def test_one_class_is_ahead_and_the_others_are_equal():
    np.testing.assert_allclose(estimates.one_ahead(0.4, 4), [0.4, 0.2, 0.2, 0.2])


def test_a_stick_is_broken_until_nothing_is_left():
    sticks = [estimates.stick(np.random.default_rng(seed)) for seed in range(300)]

    assert all(each.sum() == pytest.approx(1) for each in sticks)
    assert all((each >= 0).all() for each in sticks)
    assert np.mean([len(each) for each in sticks]) == pytest.approx(np.e, abs=0.2)


def test_streams_are_drawn_from_their_own_distributions():
    probabilities = [np.array([1.0, 0.0]), np.array([0.25, 0.75])]

    streams = estimates.drawn(probabilities, np.random.default_rng(0))

    assert streams.shape == (2, estimates.OBSERVATIONS)
    assert streams[0].sum() == 0
    assert streams[1].mean() == pytest.approx(0.75, abs=0.05)


def test_the_deviation_is_relative_and_of_the_highest_weight():
    weights = np.array([[0.2, 0.6], [0.4, 0.1]])

    assert estimates.deviation(weights, 0.5) == pytest.approx((0.2 + 0.2) / 2)


def test_distances_count_classes_that_never_came_and_those_that_cannot():
    weights = np.array([[0.5, 0.4], [0.75, 0.25]])
    probabilities = [np.array([0.5, 0.3, 0.2]), np.array([1.0])]

    l1, greatest = estimates.distances(weights, probabilities)

    assert l1 == pytest.approx((0.3 + 0.5) / 2)
    assert greatest == pytest.approx((0.2 + 0.25) / 2)


def test_the_command_prints_and_writes_the_three_figures(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(estimates, "STREAMS", 3)
    monkeypatch.setattr(estimates, "OBSERVATIONS", 50)
    parser = parser_of("")
    parser.add_argument("--seed", type=int, default=0)
    given = ["--json", str(tmp_path / "e.json"), "--html", str(tmp_path / "e.html"), "--markdown"]

    estimates.main(parser.parse_args(given))

    assert capsys.readouterr().out.count("| --- |") == 3
    found = json.loads((tmp_path / "e.json").read_text())
    assert [table["title"][:9] for table in found["tables"]] == [
        "Figure 21",
        "Figure 21",
        "Figure 22",
    ]
    assert len(found["tables"][0]["rows"]) == len(estimates.HIGHEST)
    assert found["tables"][0]["rows"][0][0] == "0.01"
    assert isinstance(found["tables"][0]["rows"][0][1], float)
    assert (tmp_path / "e.html").read_text().count("<svg") == 2

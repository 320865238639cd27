import numpy as np
import pytest

from studies import estimates


def test_without_a_minimum_weight_fsu_has_the_proportions_seen():
    streams = np.array([[0, 0, 0, 1], [2, 1, 2, 1]], np.int32)

    weights = estimates.fsu(streams, "0")

    np.testing.assert_allclose(weights, [[0.75, 0.25, 0], [0, 0.5, 0.5]])


def test_a_class_that_comes_late_stays_below_the_minimum_weight():
    streams = np.array([[0] * 99 + [1]], np.int32)

    np.testing.assert_allclose(estimates.fsu(streams, "0.1"), [[0.99, 0]])
    np.testing.assert_allclose(estimates.fsu(streams, "0.001"), [[0.99, 0.01]])


def test_every_observation_is_learned_even_when_only_one_class_ever_comes():
    streams = np.array([[0] * 50 + [1] * 50], np.int32)

    np.testing.assert_allclose(estimates.fsu(streams, "0"), [[0.5, 0.5]])


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


def test_distances_count_classes_that_never_came_and_those_that_cannot():
    weights = np.array([[0.5, 0.4], [0.75, 0.25]])
    probabilities = [np.array([0.5, 0.3, 0.2]), np.array([1.0])]

    l1, greatest = estimates.distances(weights, probabilities)

    assert l1 == pytest.approx((0.3 + 0.5) / 2)
    assert greatest == pytest.approx((0.2 + 0.25) / 2)


@pytest.fixture
def short_streams(monkeypatch):
    monkeypatch.setattr(estimates, "STREAMS", 3)
    monkeypatch.setattr(estimates, "OBSERVATIONS", 50)


def test_each_highest_probability_has_a_relative_deviation(short_streams, monkeypatch):
    monkeypatch.setattr(estimates, "fsu", lambda streams, w: np.array([[0.2, 0.6], [0.4, 0.1]]))
    monkeypatch.setattr(estimates, "HIGHEST", (0.5,))

    [record] = estimates.estimated(estimates.no_rows(estimates.FEW, None), "0", 1, 0)

    assert record == {"p*": 0.5, "deviation": pytest.approx((0.2 + 0.2) / 2)}


@pytest.mark.parametrize("name", [estimates.MANY, estimates.FEW])
def test_all_minimum_weights_see_the_same_streams(short_streams, name):
    data = estimates.no_rows(name, None)
    found = [[*estimates.estimated(data, weight, 1, 0)] for weight in ("0", "0", "0.1")]

    assert found[0] == found[1] != found[2]
    assert [each["p*"] for each in found[0]] == [*estimates.HIGHEST]


def test_broken_sticks_have_distances(short_streams):
    [record] = estimates.estimated(estimates.no_rows(estimates.STICKS, None), "0.01", 1, 0)

    assert 0 < record["l_max"] < record["l1"] < 1

import numpy as np
import pytest

from studies.peers.sigmoid import FIXED, Sigmoid


def loss(sigmoid, scores, positive):
    """Minus the log likelihood of Platt's targets."""
    positives, negatives = positive.sum(), (~positive).sum()
    targets = np.where(positive, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    found = sigmoid(scores)
    return -np.sum(targets * np.log(found) + (1 - targets) * np.log(1 - found))


def test_it_recovers_the_sigmoid_that_drew_the_classes():
    draw = np.random.default_rng(0)
    scores = draw.normal(size=50_000)
    positive = draw.random(50_000) < 1 / (1 + np.exp(-2 * scores + 1))

    fitted = Sigmoid.fit(scores, positive)

    assert fitted.slope == pytest.approx(-2, abs=0.1)
    assert fitted.bias == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_no_sigmoid_near_the_fitted_one_is_likelier(seed):
    draw = np.random.default_rng(seed)
    scores = draw.normal(size=40)
    positive = scores + draw.normal(size=40) > 0.5

    fitted = Sigmoid.fit(scores, positive)

    least = loss(fitted, scores, positive)
    for slope, bias in [(0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01)]:
        other = Sigmoid(fitted.slope + slope, fitted.bias + bias)
        assert loss(other, scores, positive) > least


def test_separated_scores_keep_a_finite_slope_and_doubt():
    scores = np.array([-2.0, -1.0, 1.0, 2.0])

    fitted = Sigmoid.fit(scores, scores > 0)

    assert np.isfinite([fitted.slope, fitted.bias]).all()
    assert 0.7 < fitted(np.array([2.0]))[0] < 1


@pytest.mark.parametrize("positive", [True, False])
def test_one_side_alone_leaves_the_sigmoid_of_the_paper(positive):
    assert Sigmoid.fit(np.arange(3.0), np.full(3, positive)) == FIXED
    assert FIXED(np.array([0.0, 0.5])) == pytest.approx([0.5, 1 / (1 + np.exp(-1))])


def test_far_scores_do_not_overflow():
    assert FIXED(np.array([-1e4, 1e4])).tolist() == [0.0, 1.0]

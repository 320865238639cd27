"""Platt's sigmoid: the probability of a class from the score of its classifier."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PASSES = 100
SMALLEST_GAIN = 1e-5
RIDGE = 1e-12


@dataclass(frozen=True)
class Sigmoid:
    """P(s) = 1 / (1 + exp(slope * s + bias)); the slope is negative where scores tell anything."""

    slope: float
    bias: float

    def __call__(self, scores: NDArray[np.floating]) -> NDArray[np.float64]:
        """The probabilities of these scores."""
        return 0.5 * (1 - np.tanh((self.slope * scores.astype(float) + self.bias) / 2))

    @classmethod
    def fit(cls, scores: NDArray[np.floating], positive: NDArray[np.bool_]) -> "Sigmoid":
        """The sigmoid of highest likelihood (Platt 1999), by Newton's method with step halving.

        As Platt has it, the targets are (p + 1) / (p + 2) for the p positives and 1 / (n + 2) for
        the n negatives, so that a class that is told apart without error stays below certainty.
        With positives or negatives only, there is nothing to fit: FIXED.
        """
        positives = np.count_nonzero(positive)
        negatives = len(positive) - positives
        if positives == 0 or negatives == 0:
            return FIXED
        scores = scores.astype(float)
        targets = np.where(positive, (positives + 1) / (positives + 2), 1 / (negatives + 2))
        at = np.array([0.0, np.log((negatives + 1) / (positives + 1))])
        inputs = np.column_stack([scores, np.ones_like(scores)])
        loss = _loss(inputs @ at, targets)
        for _ in range(PASSES):
            probability = cls(*at)(scores)
            gradient = inputs.T @ (targets - probability)
            if np.abs(gradient).max() < SMALLEST_GAIN:
                break
            spread = probability * (1 - probability)
            curvature = (inputs.T * spread) @ inputs + RIDGE * np.eye(2)
            direction = -np.linalg.solve(curvature, gradient)
            step = 1.0
            while step > 1e-10:
                tried = at + step * direction
                tried_loss = _loss(inputs @ tried, targets)
                if tried_loss < loss + 1e-4 * step * (gradient @ direction):
                    break
                step /= 2
            else:
                break
            at, loss = tried, tried_loss
        return cls(float(at[0]), float(at[1]))


FIXED = Sigmoid(-2.0, 0.0)
"""The paper's sigmoid where none is fitted (§6.1): 1 / (1 + exp(-2 s))."""


def _loss(exponents: NDArray[np.float64], targets: NDArray[np.float64]) -> float:
    """Minus the log likelihood, for P = 1 / (1 + exp(exponent))."""
    return float(np.sum(targets * exponents + np.logaddexp(0.0, -exponents)))

"""Platt's sigmoid: the probability of a class from the score of its classifier."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studies.peers.package import imported


@dataclass(frozen=True)
class Sigmoid:
    """P(s) = 1 / (1 + exp(slope * s + bias)); the slope of informative scores is negative."""

    slope: float
    bias: float

    def __call__(self, scores: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the probabilities of these scores."""
        return 0.5 * (1 - np.tanh((self.slope * scores.astype(float) + self.bias) / 2))

    @classmethod
    def fit(cls, scores: NDArray[np.floating], positive: NDArray[np.bool_]) -> "Sigmoid":
        """Return the sigmoid of highest likelihood (Platt 1999), by logistic regression.

        As in Platt, the targets are (p + 1) / (p + 2) for the p positives and 1 / (n + 2) for the
        n negatives, so that a class separated without error stays below certainty: each score is
        an example of both classes, weighted by its target. With positives or negatives only, there
        is nothing to fit: FIXED.
        """
        positives = np.count_nonzero(positive)
        negatives = len(positive) - positives
        if positives == 0 or negatives == 0:
            return FIXED
        targets = np.where(positive, (positives + 1) / (positives + 2), 1 / (negatives + 2))
        model = imported("sklearn.linear_model", "scikit-learn").LogisticRegression(
            C=np.inf, solver="newton-cholesky", tol=1e-8
        )
        inputs = np.tile(scores.astype(float), 2)[:, None]
        classes = np.repeat([1, 0], len(scores))
        model.fit(inputs, classes, np.concatenate([targets, 1 - targets]))
        return cls(-float(model.coef_[0, 0]), -float(model.intercept_[0]))


FIXED = Sigmoid(-2.0, 0.0)
"""The paper's sigmoid where none is fitted (§6.1): 1 / (1 + exp(-2 s))."""

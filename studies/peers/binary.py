"""Binary linear classifiers of scikit-learn: one class against the others.

Inputs are of unit l2 norm. All have an intercept and run in one thread.
"""

import warnings
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from studies.peers.package import imported

MOST_PASSES = 100

Linear = tuple[NDArray[np.float32], float]
"""The weight of each column, and the intercept."""


class Binary(Protocol):
    """A way to train one binary linear classifier."""

    def train(self, matrix: Any, positive: NDArray[np.bool_], seed: int) -> Linear:
        """Return the classifier of the positive rows of a CSR matrix; both kinds exist."""


class Perceptron:
    """`sklearn.linear_model.Perceptron`, until five passes in a row do not improve it (§5).

    The paper stops by the 0/1 error on the training set; scikit-learn stops by the summed
    perceptron loss, which is 0 exactly when the error is. `tol` is 1e-6 a row: the default of 1e-3
    stops a rare class at once. At most 100 passes.
    """

    def train(self, matrix: Any, positive: NDArray[np.bool_], seed: int) -> Linear:
        return self.started_from(None, matrix, positive, seed)

    def started_from(
        self,
        weights: NDArray[np.float64] | None,
        matrix: Any,
        positive: NDArray[np.bool_],
        seed: int,
    ) -> Linear:
        """Return the perceptron trained from these weights; from zero without them."""
        models = imported("sklearn.linear_model", "scikit-learn")
        model = models.Perceptron(
            max_iter=MOST_PASSES, tol=1e-6, n_iter_no_change=5, random_state=seed
        )
        start = None if weights is None else weights[None, :]
        return fitted(model, matrix, positive, coef_init=start)


class Committee:
    """Perceptrons that start from random weights in [-1, 1] and sum their scores (§5).

    Their mean weights are kept: they give the same scores (footnote 20 of the paper). In the paper
    the first update of a feature draws its random weight; here it has one from the start, and
    loses it in the end without an update.
    """

    MEMBERS = 10

    def train(self, matrix: Any, positive: NDArray[np.bool_], seed: int) -> Linear:
        draw = np.random.default_rng(seed)
        weights = np.zeros(matrix.shape[1], np.float32)
        bias = 0.0
        for _ in range(self.MEMBERS):
            start = draw.uniform(-1, 1, matrix.shape[1])
            member_seed = int(draw.integers(2**31))
            end, intercept = Perceptron().started_from(start, matrix, positive, member_seed)
            weights += np.where(end == start.astype(np.float32), 0, end) / self.MEMBERS
            bias += intercept / self.MEMBERS
        return weights, bias


@dataclass(frozen=True)
class SupportVectors:
    """`sklearn.svm.LinearSVC` (liblinear) with its defaults: squared hinge loss, l2 penalty.

    C is 1 by default; the paper found 1 and 10 to suffice (§6).
    """

    c: float = 1.0

    def train(self, matrix: Any, positive: NDArray[np.bool_], seed: int) -> Linear:
        model = imported("sklearn.svm", "scikit-learn").LinearSVC(C=self.c, random_state=seed)
        return fitted(model, matrix, positive)


class PassiveAggressive:
    """PA-II of scikit-learn: `SGDClassifier(loss="hinge", learning_rate="pa2")`.

    C (`eta0`) is 1, all else is default: shuffled passes until five in a row do not lower the loss
    by `tol`, here 1e-6 a row as for Perceptron.
    """

    def train(self, matrix: Any, positive: NDArray[np.bool_], seed: int) -> Linear:
        model = imported("sklearn.linear_model", "scikit-learn").SGDClassifier(
            loss="hinge",
            penalty=None,
            learning_rate="pa2",
            eta0=1.0,
            max_iter=MOST_PASSES,
            tol=1e-6,
            random_state=seed,
        )
        return fitted(model, matrix, positive)


def fitted(model: Any, matrix: Any, positive: NDArray[np.bool_], **given: Any) -> Linear:
    """Fit a model; ignore warnings about the limit on passes, which is chosen."""
    exceptions = imported("sklearn.exceptions", "scikit-learn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
        model.fit(matrix, positive, **given)
    return model.coef_[0].astype(np.float32), float(model.intercept_[0])

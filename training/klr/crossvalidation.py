"""The cross-validation likelihood of parameters, and its gradient.

Psi(h) = sum over folds of the losses of its held-out rows by the fit to the other rows. By the
implicit function theorem, with alpha and the scores of a fit: G = pi - y on held-out rows,
(I + V^T K V) z = V^T K G, s = G - V z; then dPsi/dh = <alpha, (dK/dh) s>.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyclass.training.klr.arrays import Real, Targets
from manyclass.training.klr.kernels import Kernel
from manyclass.training.klr.newton import Effort, Fit, Newton, OnStep
from manyclass.training.klr.workers import Workers

FAR = 0.5  # a change of a log from which on a fit from alpha = 0 takes fewer products
OnFold = Callable[[int, Fit], None]  # the number of the fold, the course of its fit


@dataclass(frozen=True)
class Evaluation:
    """The criterion at some parameters."""

    logs: NDArray[np.float64]
    psi: float
    gradient: NDArray[np.float64]
    products: int
    unfinished: int  # folds whose fit did not converge


@dataclass(frozen=True)
class Outcomes:
    """The rankings of held-out rows: the two highest scores (n, 2), and 1 if the first is right."""

    top_two: NDArray[np.float64]
    right: NDArray[np.uint8]


class CrossValidation:
    """The criterion for one kernel and one partition of the rows.

    `together` computes the products of all folds at once, for dense kernels, with the memory of all
    folds. The fits of an evaluation start where those of the last one ended.
    """

    def __init__(
        self,
        kernel: Kernel,
        targets: Targets,
        fold_of: NDArray[np.int64],
        together: bool = False,
        workers: Workers | None = None,
    ) -> None:
        self.kernel = kernel
        self.folds = int(fold_of.max()) + 1
        groups = [list(range(self.folds))] if together else [[fold] for fold in range(self.folds)]
        self._held_out = [
            (fold_of[:, None] == np.array(group)).astype(float).ravel() for group in groups
        ]
        self._targets = targets
        self._weights = np.repeat(targets.weights, len(groups[0]))
        self.newton = Newton(kernel, targets, len(groups[0]), workers)
        self._work = np.zeros_like(self.newton.u)
        self.alphas = [np.zeros_like(self.newton.u) for _ in groups]
        self._variances: NDArray[np.float64] | None = None
        self._logs = np.empty(0)
        self._moved = 0.0  # the largest change of a log since the last evaluation
        self.started = False  # true if the alphas are those of a fit

    def evaluate(
        self,
        logs: NDArray[np.float64],
        effort: Effort,
        on_fold: OnFold = lambda fold, fit: None,
    ) -> Evaluation:
        """Return the criterion and its gradient at the logs of the parameters."""
        psi, products, unfinished = 0.0, 0, 0
        gradient = np.zeros(len(logs))
        ratio = self._set(logs)
        for number, (held_out, alpha) in enumerate(zip(self._held_out, self.alphas, strict=True)):
            training = self._weights * (1 - held_out)
            testing = self._weights * held_out
            fit = self._fit(alpha, training, logs, ratio, effort, self._on_step(number, on_fold))
            products += fit.products
            unfinished += int((~fit.converged).sum())
            psi += float(self.newton.losses(testing).sum())
            gradient += self._gradient(alpha, testing, effort)
        self.started = True
        return Evaluation(logs.copy(), psi, gradient, products, unfinished)

    def outcomes(self, logs: NDArray[np.float64], effort: Effort) -> Outcomes:
        """Return how each row is ranked by the fit to the other folds; not `together`.

        A row without a class of the fit has no outcome.
        """
        targets = self._targets
        rows = len(targets)
        top_two, first = np.empty((rows, 2)), np.empty(rows, np.int64)
        ratio = self._set(logs)
        for held_out, alpha in zip(self._held_out, self.alphas, strict=True):
            self._fit(alpha, self._weights * (1 - held_out), logs, ratio, effort, lambda fit: None)
            left = np.flatnonzero(held_out)
            scores = self.newton.u[left]
            top_two[left] = -np.partition(-scores, 1, axis=1)[:, :2]
            first[left] = scores.argmax(1)
        self.started = True
        right = np.zeros(rows, np.uint8)
        row = np.repeat(np.arange(rows), np.diff(targets.starts))
        right[row[targets.classes == first[row]]] = 1
        counted = np.diff(targets.starts) > 0
        return Outcomes(top_two[counted], right[counted])

    def _set(self, logs: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Set the parameters; return by which factor the variance of each class fell, if any."""
        if len(self._logs) == len(logs):
            self._moved = float(np.abs(logs - self._logs).max())
        self._logs = logs.copy()
        self.kernel.set(logs)
        before, self._variances = self._variances, self.kernel.class_variances()
        if before is None or self._variances is None:
            return None
        ratio: NDArray[np.float64] = before / self._variances
        return ratio

    def _on_step(self, number: int, on_fold: OnFold) -> OnStep:
        return lambda fit: on_fold(number, fit)

    def resume(self, alphas: list[Real], logs: NDArray[np.float64]) -> None:
        """Go on from the alphas of an evaluation at these logs."""
        self.alphas = alphas
        self._logs = logs
        self.started = True

    def use(self, kernel: Kernel) -> None:
        """Go on with a kernel of other parameters over the same rows and classes.

        Its next parameters should give the same covariance: the fits go on from there.
        """
        self._moved = 0.0
        self.kernel = self.newton.kernel = kernel

    def _fit(
        self,
        alpha: Real,
        weights: NDArray[np.float64],
        logs: NDArray[np.float64],
        ratio: NDArray[np.float64] | None,
        effort: Effort,
        on_step: OnStep,
    ) -> Fit:
        if not self.started or self._moved > FAR:
            return self.newton.cold_fit(alpha, weights, logs, effort, on_step)
        if ratio is not None:  # keep the scores of independent classes
            alpha *= ratio.astype(alpha.dtype)
            _even_out(alpha)
        return self.newton.fit(alpha, weights, effort, on_step)

    def _gradient(
        self, alpha: Real, testing: NDArray[np.float64], effort: Effort
    ) -> NDArray[np.float64]:
        newton, work = self.newton, self._work
        newton.write_gradient(testing, work)
        image = newton.image_of(work)
        moved = newton.adjoint(image, effort)
        newton.write_gradient(testing, work)
        work += moved  # on training rows; the other part is on held-out rows
        return self.kernel.derivatives(alpha, work)


def _even_out(alpha: Real) -> None:
    """Make each row add up to 0, as at every minimum, in proportion to its numbers."""
    sums = alpha.sum(1, keepdims=True)
    sizes = np.abs(alpha)
    totals = sizes.sum(1, keepdims=True)
    sizes *= np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
    alpha -= sizes


def random_folds(rows: int, folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each row: parts of equal size, by random."""
    fold_of = np.arange(rows) % folds
    np.random.default_rng(seed).shuffle(fold_of)
    return fold_of

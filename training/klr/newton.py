"""The fit of alpha for fixed parameters: Newton steps by conjugate gradients.

Minimises Phi(alpha) = sum of w_i (l_i - <y_i, u_i>) + <alpha, U> / 2, U = K alpha, for one or
several folds side by side: each has row weights of its own, 0 for its held-out rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.core import klr
from manyclass.training.klr.arrays import Real, Targets
from manyclass.training.klr.kernels import Kernel
from manyclass.training.klr.workers import Workers

BUFFERS = 8  # arrays of scores in a Newton object, beside alpha
LEAST_STEP = 2.0**-30
SHORT_STEP = 0.1  # below it the direction is improved before it is used
ROUNDS = 24  # of conjugate gradients for one direction, at most
SETTLED = 0.01  # relative change of the slope in a round, below which the direction is used
ENOUGH_FALL = 1e-4  # Armijo: share of the slope by which the objective must fall
REFRESH = 10  # Newton steps between two exact products, against rounding
START_VARIANCE = 4.0  # a cold fit begins at a variance up to this, and multiplies it by GROWTH
GROWTH = 4.0
MOST_GROWTHS = 6
LEAST_PROBABILITY = {"f": 1e-10, "d": 1e-16}  # in divisions by the root of a probability

Scalars = NDArray[np.float64]


@dataclass(frozen=True)
class Effort:
    """The accuracy of a fit. The defaults are those of a fit within cross-validation."""

    fall: float = 2e-6  # stop when a full step lowers Phi by less than this share
    is_rough: bool = field(default=False, kw_only=True)  # stop at a shorter step too
    residual: float = 1e-2  # of conjugate gradients, against that of the first step
    products: int = 20  # in a round of conjugate gradients, at most
    steps: int = 60  # of Newton, at most
    adjoint: float = 1e-3  # residual of the equations of the gradient
    adjoint_products: int = 100


@dataclass
class Fit:
    """The course of a fit. Arrays hold a number for each fold."""

    phi: Scalars
    converged: NDArray[np.bool_]
    stalled: NDArray[np.bool_]
    steps: int = 0
    products: int = 0
    growths: int = 0  # of the variance, still to come
    history: list[float] = field(default_factory=list)  # Phi of all folds after each step


OnStep = Callable[[Fit], None]


class Newton:
    """Newton's method for one kernel, with its arrays, which are reused.

    After `fit`, `u` (n * folds, C) has the scores of all rows, held-out ones too, and `pi` their
    probabilities.
    """

    def __init__(
        self, kernel: Kernel, targets: Targets, folds: int = 1, workers: Workers | None = None
    ) -> None:
        self.kernel = kernel
        self.folds = folds
        self._targets = targets
        self._workers = workers or Workers()
        shape = kernel.rows * folds, kernel.classes
        self.u, self.pi = np.zeros(shape, kernel.dtype), np.zeros(shape, kernel.dtype)
        self._beta, self._left = np.zeros_like(self.u), np.zeros_like(self.u)
        self._direction, self._image = np.zeros_like(self.u), np.zeros_like(self.u)
        self._diagonal, self._work = np.zeros_like(self.u), np.zeros_like(self.u)
        self._weights = np.zeros(len(self.u))
        self._least = LEAST_PROBABILITY[kernel.dtype.char]
        self._rounding = 4 * float(np.finfo(kernel.dtype).eps)
        self._products = 0

    # --- the fit ----------------------------------------------------------------------------------

    def fit(
        self,
        alpha: Real,
        weights: NDArray[np.float64],
        effort: Effort,
        on_step: OnStep = lambda fit: None,
        growths: int = 0,
    ) -> Fit:
        """Move alpha (n * folds, C) to the minimum for these row weights (n * folds).

        The rows of alpha add up to 0, and stay so; those of weight 0 are 0.
        """
        self._weights[:] = weights
        self._products = 0
        self._refresh(alpha)
        fit = Fit(
            self._losses(np.zeros(self.folds)) + self._dots(alpha, self.u) / 2,
            np.zeros(self.folds, bool),
            np.zeros(self.folds, bool),
            growths=growths,
        )
        while fit.steps < effort.steps and not (fit.converged | fit.stalled).all():
            fit.steps += 1
            if fit.steps % REFRESH == 0:
                self._refresh(alpha)
                fit.phi = self._losses(np.zeros(self.folds)) + self._dots(alpha, self.u) / 2
            self._step(alpha, fit, effort)
            fit.products = self._products
            fit.history.append(float(fit.phi.sum()))
            on_step(fit)
        self.set_probabilities()
        return fit

    def cold_fit(
        self,
        alpha: Real,
        weights: NDArray[np.float64],
        logs: NDArray[np.float64],
        effort: Effort,
        on_step: OnStep = lambda fit: None,
    ) -> Fit:
        """Fit from alpha = 0: begin at a small variance and raise it to that of the parameters.

        A large variance from the start would take many more steps.
        """
        alpha[:] = 0
        return self.grow(alpha, weights, logs, effort, self.growths(logs), on_step)

    def growths(self, logs: NDArray[np.float64]) -> int:
        """Return how often the variance of a fit from alpha = 0 grows."""
        self.kernel.set(logs)
        ratio = self.kernel.largest_variance() / START_VARIANCE
        return min(max(int(np.ceil(np.log(ratio) / np.log(GROWTH))), 0), MOST_GROWTHS)

    def grow(
        self,
        alpha: Real,
        weights: NDArray[np.float64],
        logs: NDArray[np.float64],
        effort: Effort,
        growths: int,
        on_step: OnStep = lambda fit: None,
    ) -> Fit:
        """Fit roughly at a variance that has so many growths to come, and on to the full one."""
        rough = Effort(1e-2, 5e-2, effort.products, effort.steps, is_rough=True)
        for left in range(growths, 0, -1):
            self.kernel.set(logs, GROWTH**-left)
            self.fit(alpha, weights, rough, on_step, left)
            alpha /= GROWTH  # keeps the scores
        self.kernel.set(logs)
        return self.fit(alpha, weights, effort, on_step)

    def _step(self, alpha: Real, fit: Fit, effort: Effort) -> None:
        """Make a Newton step in each fold that is not done."""
        active = ~(fit.converged | fit.stalled)
        self.set_probabilities()
        self.kernel.diagonal(self.pi, self._weights, self._diagonal)
        self._start(alpha)
        self._left *= self._by_row(active.astype(float))[:, None].astype(self._left.dtype)
        solve = self._solver(effort.residual)
        slope = np.zeros(self.folds)
        for round_ in range(ROUNDS):
            grew = solve(effort.products)
            last_slope = slope
            slope, linear, square = self._move(alpha)
            falls = slope < 0
            # Then Phi is far from its quadratic model, and a better direction has no longer step.
            settled = falls & (np.abs(slope - last_slope) < SETTLED * np.abs(slope))
            steps, phi = self._line_search(fit.phi, slope, linear, square, active & falls)
            # A fall below the rounding of Phi cannot be tested; Newton's step is right there.
            tiny = active & (np.abs(slope) <= self._rounding * np.abs(fit.phi))
            steps, phi = np.where(tiny, 1.0, steps), np.where(tiny, fit.phi, phi)
            good = tiny | (falls & (steps >= SHORT_STEP)) | (settled & (steps > 0))
            if good[active].all() or not grew or round_ == ROUNDS - 1:
                break
        moves = active & (steps > 0)
        steps = np.where(moves, steps, 0.0)
        self._difference(alpha)
        self._rows(klr.add_rows, self._by_row(steps), self._work, alpha)
        self._rows(klr.add_rows, self._by_row(steps), self._image, self.u)
        fall = fit.phi - phi
        small = fall <= effort.fall * np.abs(fit.phi)
        fit.converged |= moves & ((steps == 1) | effort.is_rough) & small
        fit.stalled |= active & ~moves
        fit.phi = np.where(moves, phi, fit.phi)

    def _move(self, alpha: Real) -> tuple[Scalars, Scalars, Scalars]:
        """Take the direction V beta - alpha, and write its product with K to `image`.

        Return, by fold, the slope of Phi along it, and the two factors of the quadratic part.
        """
        self._difference(alpha)
        linear = self._dots(self._work, self.u)
        self._product(self._work, self._image)
        self._rows(
            klr.loss_gradient,
            self.pi,
            self._targets,
            self._weights,
            self._work,
        )
        slope = self._dots(self._work, self._image) + self._dots(alpha, self._image)
        self._difference(alpha)
        return slope, linear, self._dots(self._work, self._image)

    def _line_search(
        self,
        phi: Scalars,
        slope: Scalars,
        linear: Scalars,
        square: Scalars,
        active: NDArray[np.bool_],
    ) -> tuple[Scalars, Scalars]:
        """Return for each fold the step that lowers Phi most, 0 if none does enough, and Phi there.

        Steps are 1, 1/2, 1/4 and so on; the search ends where Phi rises again. Far from the
        minimum a full step may lower Phi enough, and a shorter one ten times as much.
        """
        steps = np.where(active, 1.0, 0.0)
        best, falls = np.zeros(self.folds), np.zeros(self.folds)
        before = self._losses(np.zeros(self.folds))
        while (steps > 0).any():
            # The difference of sums, as Phi may be much larger than its change.
            change = self._losses(steps) - before + steps * linear + steps**2 * square / 2
            better = (change <= ENOUGH_FALL * steps * slope) & (change < falls)
            best, falls = np.where(better, steps, best), np.where(better, change, falls)
            # A quadratic Phi falls by half the slope at its minimum, and by a third where half the
            # step is as good.
            is_done = ((best > 0) & ~better) | (change <= steps * slope / 3)
            steps = np.where(is_done, 0.0, steps / 2)
            steps[steps < LEAST_STEP] = 0.0
        return best, phi + falls

    # --- the equations of Newton's step and of the gradient ---------------------------------------

    def adjoint(self, target: Real, effort: Effort) -> Real:
        """Return -V z with (I + V^T K V) z = V^T t for the weights and scores of the last fit.

        The array is one of the buffers, valid until the next call.
        """
        self.kernel.diagonal(self.pi, self._weights, self._diagonal)
        self._rows(klr.apply_v_transposed, self.pi, self._weights, target, None, self._left)
        self._beta[:] = 0
        self._solver(effort.adjoint)(effort.adjoint_products)
        self._rows(klr.apply_v, self.pi, self._weights, self._beta, self._work)
        np.negative(self._work, out=self._work)
        return self._work

    def _solver(self, residual: float) -> Callable[[int], bool]:
        """Return a function that makes steps of conjugate gradients, and more when called again.

        It ends when the residual of each fold is this share of the first; it returns whether it
        made a step.
        """
        ones = np.zeros(len(self.u))
        rz, rr = np.empty(len(self.u)), np.empty(len(self.u))
        buffers = self._diagonal, self._beta, self._left
        self._rows(klr.turn, ones, self._left, self._diagonal, self._direction)
        inner = self._dots(self._left, self._direction)
        goal = residual**2 * self._dots(self._left, self._left)
        state = [inner, np.full(self.folds, np.inf)]
        broken = np.zeros(self.folds, bool)

        def solve(most: int) -> bool:
            inner, square = state
            # Called again, the directions were not good enough: solve ten times as exactly.
            if np.isfinite(square).all():
                goal[:] = np.minimum(goal, square) / 100
            for number in range(most):
                active = (square > goal) & (inner > 0) & ~broken
                if not active.any():
                    return number > 0
                self._curvature_product()
                curvature = self._dots(self._direction, self._image)
                broken[:] |= active & (curvature <= 0)
                active &= ~broken
                steps = np.where(active, inner / np.where(active, curvature, 1.0), 0.0)
                self._rows(
                    klr.advance, self._by_row(steps), self._direction, self._image, *buffers, rz, rr
                )
                new = self._by_fold(rz)
                factor = np.where(active, new / np.where(inner > 0, inner, 1.0), 0.0)
                inner, square = new, self._by_fold(rr)
                state[:] = inner, square
                self._rows(
                    klr.turn, self._by_row(factor), self._left, self._diagonal, self._direction
                )
            return most > 0

        return solve

    def _curvature_product(self) -> None:
        """Write (I + V^T K V) direction to `image`."""
        self._rows(klr.apply_v, self.pi, self._weights, self._direction, self._work)
        self._product(self._work, self._image)
        self._rows(
            klr.apply_v_transposed,
            self.pi,
            self._weights,
            self._image,
            self._direction,
            self._image,
        )

    # --- parts ------------------------------------------------------------------------------------

    def set_probabilities(self) -> None:
        """Compute the probabilities of the scores."""
        self._rows(klr.probabilities, self.u, self._least, self.pi)

    def write_gradient(self, weights: NDArray[np.float64], out: Real) -> None:
        """Write w (pi - y) of the last fit."""
        self._rows(klr.loss_gradient, self.pi, self._targets, weights, out)

    def image_of(self, a: Real) -> Real:
        """Return K a, in a buffer that is valid until the next call; `a` is overwritten."""
        self._product(a, self._image)
        return self._image

    def losses(self, weights: NDArray[np.float64]) -> Scalars:
        """Return the weighted losses of the last fit, by fold."""
        return self._weighted_losses(np.zeros(self.folds), weights)

    def _rows(self, call: Callable[..., None], *arguments: Any) -> None:
        self._workers.over_rows(call, arguments, self.folds)

    def _refresh(self, alpha: Real) -> None:
        self._work[:] = alpha
        self._product(self._work, self.u)

    def _start(self, alpha: Real) -> None:
        self._rows(
            klr.newton_start,
            self.pi,
            alpha,
            self._targets,
            self._weights,
            self._beta,
            self._left,
        )

    def _difference(self, alpha: Real) -> None:
        """Write V beta - alpha to `work`."""
        self._rows(klr.apply_v, self.pi, self._weights, self._beta, self._work)
        self._work -= alpha

    def _product(self, a: Real, out: Real) -> None:
        self._products += 1
        self.kernel.product(a, out)

    def _losses(self, steps: Scalars) -> Scalars:
        return self._weighted_losses(steps, self._weights)

    def _weighted_losses(self, steps: Scalars, weights: NDArray[np.float64]) -> Scalars:
        out = np.empty(len(self.u))
        self._rows(
            klr.losses, self.u, self._image, self._by_row(steps), self._targets, weights, out
        )
        return self._by_fold(out)

    def _dots(self, x: Real, y: Real) -> Scalars:
        out = np.empty(len(x))
        self._rows(klr.row_dots, x, y, out)
        return self._by_fold(out)

    def _by_fold(self, of_rows: NDArray[np.float64]) -> Scalars:
        sums: Scalars = of_rows.reshape(-1, self.folds).sum(0)
        return sums

    def _by_row(self, of_folds: Scalars) -> NDArray[np.float64]:
        return np.tile(of_folds, self.kernel.rows)

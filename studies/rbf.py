"""Kernel logistic regression with Gaussian kernels on dense numbers, and the fit of a study."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core import klr
from manyclass.training.klr.arrays import Real

MOST_ROWS: Final = 20_000
WIDEST: Final = 12.0  # bound of the log of a width


def squared_distances(x: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (len(x), len(z)), the squared distances over twice the number of columns."""
    found = (x**2).sum(1)[:, None] + (z**2).sum(1) - 2 * x @ z.T
    scaled: NDArray[np.float64] = np.maximum(found, 0) / (2 * x.shape[1])
    return scaled


class RbfKernel:
    """K^(c) = v_c exp(-w_c |x - x'|^2 / 2d) + bias for each class, all of one pair when tied.

    The parameters are the variances, then the widths. Tied, the matrix is held once (n x n), else
    once for each class.
    """

    def __init__(
        self,
        x: NDArray[np.float64],
        classes: int,
        tied: bool,
        bias: float,
        dtype: type = np.float32,
    ) -> None:
        if len(x) > MOST_ROWS:
            raise ValueError(f"{len(x)} rows are too many for dense matrices; at most {MOST_ROWS}")
        self._x = x
        self._distances: Real = squared_distances(x, x).astype(dtype)
        self._classes = classes
        self._groups = 1 if tied else classes
        self._bias = bias
        self._exponentials = np.empty((self._groups, *self._distances.shape), dtype)
        self._widths = np.full(self._groups, np.nan)
        self._scale = 1.0

    @property
    def names(self) -> list[str]:
        groups = range(self._groups)
        return [f"v{group}" for group in groups] + [f"w{group}" for group in groups]

    @property
    def rows(self) -> int:
        return len(self._distances)

    @property
    def classes(self) -> int:
        return self._classes

    @property
    def dtype(self) -> np.dtype[np.floating]:
        return self._distances.dtype

    def set(self, logs: NDArray[np.float64], scale: float = 1.0) -> None:
        self._scale = scale
        self._variances = np.exp(logs[: self._groups])
        widths = np.exp(logs[self._groups :])
        for group in np.flatnonzero(widths != self._widths).tolist():
            exponentials = self._exponentials[group]
            np.multiply(self._distances, self.dtype.type(-widths[group]), out=exponentials)
            np.exp(exponentials, out=exponentials)
        self._widths = widths

    def largest_variance(self) -> float:
        return float(self._variances.max())

    def class_variances(self) -> NDArray[np.float64]:
        return np.broadcast_to(self._variances, self._classes).copy()

    def product(self, a: Real, out: Real) -> None:
        scale = (self._scale * self.class_variances()).astype(self.dtype)
        bias = self._scale * self._bias
        rows = a.reshape(self.rows, -1)  # a row of all folds and classes
        if self._groups == 1:
            np.matmul(self._exponentials[0], rows, out=out.reshape(self.rows, -1))
        else:
            by_class = a.reshape(self.rows, -1, self._classes)
            to = out.reshape(by_class.shape)
            vectors = np.empty((by_class.shape[1], self.rows), self.dtype)
            for c, exponentials in enumerate(self._exponentials):
                klr.symmetric_product(exponentials, by_class[:, :, c].T.copy(), vectors)
                to[:, :, c] = vectors.T
        out *= scale
        if bias:
            of_folds = out.reshape(self.rows, -1)
            of_folds += (bias * rows.sum(0, dtype=float)).astype(self.dtype)

    def diagonal(self, pi: Real, weights: NDArray[np.float64], out: Real) -> None:
        own = self._scale * (self.class_variances() + self._bias)
        whole = (own * pi.astype(float) ** 2).sum(1, keepdims=True)
        out[:] = 1 + weights[:, None] * pi * (own - 2 * own * pi + whole)

    def derivatives(self, e: Real, s: Real) -> NDArray[np.float64]:
        folds = len(e) // self.rows
        shape = self.rows, folds, self._classes
        by_variance, by_width = np.zeros(self._classes), np.zeros(self._classes)
        left, right = e.reshape(shape), s.reshape(shape)
        for c, variance in enumerate(self.class_variances().tolist()):
            group = c % self._groups
            outer = left[:, :, c] @ right[:, :, c].T  # (n, n): sum over folds of e s^T
            outer *= self._exponentials[group]
            by_variance[c] = variance * outer.sum(dtype=float)
            outer *= self._distances
            by_width[c] = -variance * self._widths[group] * outer.sum(dtype=float)
        sums = [each.reshape(-1, self._groups).sum(0) for each in (by_variance, by_width)]
        return np.concatenate(sums)

    def scores(self, z: NDArray[np.float64], alpha: Real) -> NDArray[np.float64]:
        """Return the scores (len(z), C) of other rows; alpha of one fold."""
        distances = squared_distances(z, self._x)
        scores = np.empty((len(z), self._classes))
        for c, variance in enumerate(self.class_variances().tolist()):
            exponentials = np.exp(-self._widths[c % self._groups] * distances)
            scores[:, c] = variance * (exponentials @ alpha[:, c].astype(float))
        biases: NDArray[np.float64] = self._bias * alpha.sum(0, dtype=float)
        return scores + biases

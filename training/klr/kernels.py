"""The covariance of rows and classes: products with it, its diagonal and its derivatives.

Arrays of scores have the shape (n * folds, C): row i of fold k is row i * folds + k.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from manyclass.core import klr
from manyclass.training.klr.arrays import ByFeature, Real
from manyclass.training.klr.tree import ClassTree
from manyclass.training.klr.workers import Workers

CLASSES_AT_ONCE = 64  # as BLOCK of core/native/klr/sparse_product.hpp
FEATURES_AT_ONCE = 4096


class Kernel(Protocol):
    """A covariance K over rows and classes with parameters, all positive, given by their logs."""

    @property
    def names(self) -> list[str]:
        """Return the name of each parameter."""

    @property
    def rows(self) -> int:
        """Return the number of rows."""

    @property
    def classes(self) -> int:
        """Return the number of classes."""

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Return the type of all arrays of scores."""

    def set(self, logs: NDArray[np.float64], scale: float = 1.0) -> None:
        """Set the logs of the parameters; the whole covariance is multiplied by `scale`."""

    def largest_variance(self) -> float:
        """Return the largest variance of a class, without the scale."""

    def class_variances(self) -> NDArray[np.float64] | None:
        """Return the variance of each class (C,) if classes are independent, else None."""

    def product(self, a: Real, out: Real) -> None:
        """Write K a to `out`; `a` may be overwritten."""

    def diagonal(self, pi: Real, weights: NDArray[np.float64], out: Real) -> None:
        """Write the diagonal of I + V^T K V for these probabilities and row weights."""

    def derivatives(self, e: Real, s: Real) -> NDArray[np.float64]:
        """Return the derivative of <e, K s> by the log of each parameter; scale 1."""


class LinearKernel:
    """K = sum over nodes p of (v_p x^T x' + bias), for classes with p on the path of both."""

    def __init__(
        self, x: ByFeature, tree: ClassTree, bias: float = 0.0, workers: Workers | None = None
    ) -> None:
        self.x = x
        self.tree = tree
        self.bias = bias
        self._scale = 1.0
        self._workers = workers or Workers()
        self._squares = x.squares()
        self._csc = x.starts, x.rows, x.values
        self._shape = tree.parents, tree.leaves
        self.set(np.zeros(len(tree.groups)))

    @property
    def names(self) -> list[str]:
        return self.tree.groups

    @property
    def rows(self) -> int:
        return self.x.height

    @property
    def classes(self) -> int:
        return self.tree.classes

    @property
    def dtype(self) -> np.dtype[np.floating]:
        return self.x.values.dtype

    @property
    def variances(self) -> NDArray[np.float64]:
        """Return the variance of each node, without the scale."""
        return self._variances

    def set(self, logs: NDArray[np.float64], scale: float = 1.0) -> None:
        self._values: NDArray[np.float64] = np.exp(logs)
        self._variances: NDArray[np.float64] = self.tree.counts @ self._values
        self._scale = scale

    def largest_variance(self) -> float:
        along = self._variances.copy()
        for node, parent in enumerate(self.tree.parents.tolist()):
            along[node] += along[parent] if parent >= 0 else 0.0
        return float(along.max())

    def class_variances(self) -> NDArray[np.float64] | None:
        if not self.tree.is_flat:
            return None
        variances: NDArray[np.float64] = np.take(self._variances, self.tree.leaves)
        return variances

    def product(self, a: Real, out: Real) -> None:
        self.cross_product(self.x, a, out)

    def cross_product(self, z: ByFeature, a: Real, out: Real) -> None:
        """Write the product of the covariance of other rows, by the same features, with a."""
        added = self._bias_scores(a)
        variances = self._scale * self._variances
        self._workers.over_rows(
            lambda *arrays: klr.apply_covariance(*self._shape, variances, *arrays), (a, a)
        )

        def block(begin: int, end: int) -> None:
            klr.sparse_product(*self._csc, z.starts, z.rows, z.values, a, out, begin, end)

        numbers = (len(self.x.rows) + len(z.rows)) * self.classes
        self._workers.over(self.classes, CLASSES_AT_ONCE, numbers, block)
        if added is not None:
            out += added.astype(out.dtype)

    def _bias_scores(self, a: Real) -> NDArray[np.float64] | None:
        """Return (1, C), the part of the bias in the product; None without one."""
        if not self.bias:
            return None
        sums: NDArray[np.float64] = a.sum(0, dtype=np.float64, keepdims=True)
        klr.apply_covariance(
            *self._shape, np.full(self.tree.nodes, self._scale * self.bias), sums, sums
        )
        return sums

    def diagonal(self, pi: Real, weights: NDArray[np.float64], out: Real) -> None:
        variances, bias = self._scale * self._variances, self._scale * self.bias

        def rows(
            squares: NDArray[np.float64], weights: NDArray[np.float64], pi: Real, out: Real
        ) -> None:
            klr.curvature_diagonal(*self._shape, variances, bias, squares, weights, pi, out)

        self._workers.over_rows(rows, (self._squares, weights, pi, out))

    def derivatives(self, e: Real, s: Real) -> NDArray[np.float64]:
        parts = -(-self.x.features // FEATURES_AT_ONCE)
        sums = np.zeros((parts, self.tree.nodes))

        def features(begin: int, end: int) -> None:
            for first in range(begin, end, FEATURES_AT_ONCE):
                last = min(first + FEATURES_AT_ONCE, end)
                of_nodes = sums[first // FEATURES_AT_ONCE]
                x = self.x
                klr.add_derivatives(
                    *self._shape, x.starts, x.rows, x.values, e, s, first, last, of_nodes
                )

        numbers = len(self.x.rows) * self.classes
        self._workers.over(self.x.features, FEATURES_AT_ONCE, numbers, features)
        derivatives: NDArray[np.float64] = (self.tree.counts.T @ sums.sum(0)) * self._values
        return derivatives

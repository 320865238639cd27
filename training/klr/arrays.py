"""Sparse arrays of a fit: features of rows, and the target distribution of each row."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from manyclass.training.rows import Rows

Real = NDArray[np.floating]


@dataclass(frozen=True)
class ByFeature:
    """The values of rows, feature by feature: CSC arrays."""

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: Real
    height: int  # number of rows

    @classmethod
    def of_rows(
        cls,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: Real,
        features: int,
    ) -> Self:
        """Return the transpose of CSR arrays."""
        row = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
        order = np.argsort(indices, kind="stable")
        starts = np.zeros(features + 1, np.int64)
        np.cumsum(np.bincount(indices, minlength=features), out=starts[1:])
        return cls(starts, row[order], np.ascontiguousarray(values[order]), len(indptr) - 1)

    @property
    def features(self) -> int:
        """Return the number of features."""
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """Return the bytes of the arrays."""
        return self.starts.nbytes + self.rows.nbytes + self.values.nbytes

    def squares(self) -> NDArray[np.float64]:
        """Return the squared length of each row."""
        return np.bincount(self.rows, self.values.astype(float) ** 2, self.height).astype(float)


@dataclass(frozen=True)
class Targets:
    """The distribution over classes that each row should have, and how much the row counts."""

    starts: NDArray[np.int64]
    classes: NDArray[np.int32]
    shares: Real
    weights: NDArray[np.float64]  # of each row

    @classmethod
    def of(cls, rows: Rows, columns: NDArray[np.int32], dtype: DTypeLike) -> Self:
        """Return equal shares of a row's true classes; `columns` numbers the classes of the fit.

        A class with the number -1 is left out; a row without another class weighs 0.
        """
        numbers = columns[rows.class_indices]
        kept = numbers >= 0
        starts = np.concatenate([[0], np.cumsum(kept)])[rows.class_indptr]
        counts = np.diff(starts)
        shares = np.repeat(1 / np.maximum(counts, 1), counts).astype(dtype)
        given = np.ones(len(rows)) if rows.weights is None else rows.weights.astype(float)
        return cls(starts, numbers[kept], shares, np.where(counts > 0, given, 0.0))

    def __len__(self) -> int:
        return len(self.weights)

    def part(self, begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int32], Real]:
        """Return starts, classes and shares of some rows, as the native kernels take them."""
        return self.starts[begin : end + 1], self.classes, self.shares

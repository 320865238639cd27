"""The instances of rows as sparse vectors, the common input of all peers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from manyclass.training.rows import Rows, runs
from studies.peers.package import imported


@dataclass(frozen=True)
class Vectors:
    """Sparse vectors: the columns of each row ascend and are unique."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float32]
    width: int

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """Return the instances scaled to unit l2 norm, as in the paper for every learner (§6).

        The values of repeated features add up. A row of zeros does not change.
        """
        return cls.unscaled(rows).normalized()

    @classmethod
    def unscaled(cls, rows: Rows) -> Self:
        """Return the instances with the data set's values; those of repeated features add up."""
        width = len(rows.features)
        row = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
        cells = row * width + rows.indices
        order = np.argsort(cells, kind="stable")
        cells = cells[order]
        first = np.flatnonzero(np.diff(cells, prepend=-1))
        sums = np.add.reduceat(rows.values[order], first) if len(first) else rows.values
        cells = cells[first]
        return cls(
            np.searchsorted(cells, np.arange(len(rows) + 1) * width),
            (cells % max(width, 1)).astype(np.int32),
            sums.astype(np.float32),
            width,
        )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def normalized(self) -> Self:
        """Return the vectors scaled to unit l2 norm."""
        row = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        squares = np.bincount(row, weights=self.values.astype(float) ** 2, minlength=len(self))
        norms = np.sqrt(np.where(squares > 0, squares, 1.0))
        values = (self.values / norms[row]).astype(np.float32)
        return type(self)(self.indptr, self.indices, values, self.width)

    def take(self, order: NDArray[np.int64]) -> Self:
        """Return the rows of these numbers, in this order."""
        positions, indptr = runs(self.indptr, order)
        return type(self)(indptr, self.indices[positions], self.values[positions], self.width)

    def compact(self) -> tuple[Self, NDArray[np.int32]]:
        """Return the vectors without their empty columns, and the numbers of the other columns."""
        columns, indices = np.unique(self.indices, return_inverse=True)
        narrow = type(self)(self.indptr, indices.astype(np.int32), self.values, len(columns))
        return narrow, columns

    def row(self, at: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the columns and values of one row."""
        position = slice(self.indptr[at], self.indptr[at + 1])
        return self.indices[position], self.values[position]

    def instances(self) -> Iterator[dict[int, float]]:
        """Yield each row as column -> value."""
        for at in range(len(self)):
            columns, values = self.row(at)
            yield dict(zip(columns.tolist(), values.tolist(), strict=True))

    def matrix(self) -> Any:
        """Return the vectors as a SciPy CSR matrix."""
        sparse = imported("scipy.sparse", "scipy")
        indptr = self.indptr.astype(np.int32)
        return sparse.csr_matrix((self.values, self.indices, indptr), (len(self), self.width))

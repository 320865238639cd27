"""Many binary linear classifiers over the same features."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.peers.binary import Linear
from studies.peers.package import imported

DENSE_BYTES = 2 * 2**30
SCORES_AT_ONCE = 2**24


class LinearModel:
    """One classifier a column, nonzero weights only; built by `add`, used after `close`.

    Columns without a classifier score minus infinity.
    """

    def __init__(self, features: int, columns: int) -> None:
        self._shape = (features, columns)
        self._found = list[tuple[int, NDArray[np.int32], NDArray[np.float32]]]()
        self._bias = np.full(columns, -np.inf, np.float32)

    def add(self, column: int, linear: Linear) -> None:
        """Add the classifier of a column."""
        weights, bias = linear
        features = np.flatnonzero(weights).astype(np.int32)
        self._found.append((column, features, weights[features]))
        self._bias[column] = bias

    def close(self) -> None:
        """Build the matrix of all classifiers."""
        sparse = imported("scipy.sparse", "scipy")
        self._found.sort(key=lambda found: found[0])
        sizes = np.zeros(self._shape[1] + 1, np.int64)
        for column, features, _ in self._found:
            sizes[column + 1] = len(features)
        empty = [(0, np.empty(0, np.int32), np.empty(0, np.float32))]
        weights = np.concatenate([found[2] for found in self._found or empty])
        features = np.concatenate([found[1] for found in self._found or empty])
        by_class = sparse.csc_matrix((weights, features, np.cumsum(sizes)), self._shape)
        self._found.clear()
        self._nonzero = len(weights)
        fits = 4 * self._shape[0] * self._shape[1] <= DENSE_BYTES
        self._weights = by_class.toarray(order="C") if fits else by_class.tocsr()

    def bytes(self) -> int:
        """Return the smaller of 4 bytes for each weight, and 8 for each nonzero one."""
        features, columns = self._shape
        return 4 * columns + min(4 * features * columns, 8 * self._nonzero + 4 * columns)

    def scores(self, matrix: Any) -> NDArray[np.float32]:
        """Return the scores (n, columns) of the rows of a CSR matrix."""
        products = matrix @ self._weights
        dense = products if isinstance(products, np.ndarray) else products.toarray()
        scores: NDArray[np.float32] = dense + self._bias
        return scores

    def parts(self, matrix: Any) -> Iterator[NDArray[np.float32]]:
        """Yield the scores of some rows at a time: those of all may not fit into memory."""
        some = max(1, SCORES_AT_ONCE // self._shape[1])
        for at in range(0, matrix.shape[0], some):
            yield self.scores(matrix[at : at + some])

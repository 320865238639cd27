"""Features of the fit: values weighted by tf-idf of the training rows, rows of unit length."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from manyclass.training.klr.arrays import ByFeature
from manyclass.training.rows import Rows


@dataclass(frozen=True)
class Features:
    """The names of features and the weight of each: log((1 + N) / (1 + n)) + 1, n of N rows."""

    names: list[str]
    rarity: NDArray[np.float32]

    @classmethod
    def of(cls, rows: Rows, tfidf: bool = True) -> Self:
        """Return the features that occur in the rows; without `tfidf` all weights are 1."""
        seen = np.bincount(rows.indices, minlength=len(rows.features))
        kept = np.flatnonzero(seen)
        weights = rarity_of(seen, len(rows))[kept] if tfidf else np.ones(len(kept), np.float32)
        return cls([rows.features[column] for column in kept.tolist()], weights)

    def values(self, rows: Rows) -> ByFeature:
        """Return the values of rows, each scaled to length 1; other features are left out."""
        number = {name: at for at, name in enumerate(self.names)}
        columns = np.array([number.get(name, -1) for name in rows.features], np.int64)
        numbers = columns[rows.indices]
        kept = numbers >= 0
        row = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))[kept]
        numbers = numbers[kept]
        values = rows.values[kept] * self.rarity[numbers]
        squares = np.bincount(row, values.astype(float) ** 2, len(rows))
        lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(rows)))])
        return ByFeature.of_rows(
            indptr,
            numbers.astype(np.int32),
            (values / lengths[row]).astype(np.float32),
            len(self.names),
        )


def rarity_of(seen: NDArray[np.int64], rows: int) -> NDArray[np.float32]:
    """Return the tf-idf factor of features that occur in `seen` of the rows."""
    factors: NDArray[np.float64] = np.log((1 + rows) / (1 + seen)) + 1
    return factors.astype(np.float32)

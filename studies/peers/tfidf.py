"""An estimator on tf-idf values."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from manyclass.evaluation.estimator import Estimator
from manyclass.training.klr.features import rarity_of
from manyclass.training.rows import Rows


class TfIdf:
    """An estimator on values times log((1 + N) / (1 + n)) + 1, for n of N training instances.

    This is the formula of scikit-learn's TfidfTransformer with its defaults; an unseen feature has
    n = 0. The estimator scales the values afterwards.
    """

    def __init__(self, estimator: Estimator) -> None:
        self.name = f"{estimator.name}+tfidf"
        self._estimator = estimator

    def fit(self, rows: Rows) -> None:
        self._rarity = rarity(rows)
        self._estimator.fit(self._weighted(rows))

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        return self._estimator.rank(self._weighted(rows), k)

    def bytes(self) -> int:
        """Return the bytes of the estimator, and 4 for each feature."""
        return self._estimator.bytes() + self._rarity.nbytes

    def _weighted(self, rows: Rows) -> Rows:
        return replace(rows, values=rows.values * self._rarity[rows.indices])


def rarity(rows: Rows) -> NDArray[np.float32]:
    """Return the weight of each feature."""
    row = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
    present = np.unique(row * len(rows.features) + rows.indices) % max(len(rows.features), 1)
    seen = np.bincount(present, minlength=len(rows.features))
    return rarity_of(seen, len(rows))

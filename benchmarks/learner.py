"""A learner bound to the columns of a data set; synthetic rows."""

import numpy as np
from numpy.typing import NDArray

from manyclass.core.columns import Columns
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.training.rows import Rows


class BoundLearner:
    """A learner bound to the columns `rows.features` and `rows.classes`."""

    def __init__(self, rows: Rows, options: Options) -> None:
        self.learner = Learner(options)
        self.features = Columns(rows.features)
        self.classes = Columns(rows.classes)

    def learn(self, rows: Rows) -> NDArray[np.int32]:
        """Learn the rows in order; return the ranks (n,) before learning, 0: not retrieved."""
        return self.learner.learn_csr(*rows.labelled(self.features, self.classes))

    def rank(self, rows: Rows, k: int = 5) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return class ids (n, k) and scores (n, k)."""
        return self.learner.rank_csr(self.features, rows.indptr, rows.indices, rows.values, k)


def names_of(kind: str, count: int) -> list[str]:
    """Return the names `kind 0`, `kind 1`, ..."""
    return [f"{kind} {number}" for number in range(count)]


def rows_of(
    features: list[str], active: NDArray[np.integer], classes: list[str], true: NDArray[np.integer]
) -> Rows:
    """Return rows with active features (n, a), of value 1, and true classes (n, t), as columns."""
    return Rows(
        features,
        np.arange(len(active) + 1, dtype=np.int64) * active.shape[1],
        active.ravel().astype(np.int32),
        np.ones(active.size, np.float32),
        classes,
        np.arange(len(true) + 1, dtype=np.int64) * true.shape[1],
        true.ravel().astype(np.int32),
    )

"""An index bound to the columns of a data set, which learns and ranks its rows."""

import numpy as np
from numpy.typing import NDArray

from manyclass.core.index import Columns, Index
from manyclass.core.learners.options import Options
from manyclass.training.rows import Rows


class Learner:
    """An index bound to the columns `rows.features` and `rows.classes`."""

    def __init__(self, rows: Rows, options: Options) -> None:
        self.index = Index(options)
        self.features = Columns(rows.features)
        self.classes = Columns(rows.classes)

    def learn(self, rows: Rows) -> NDArray[np.int32]:
        """Learn the rows in order. Return ranks (n,) of their best true classes before, 0: none."""
        return self.index.learn_csr(*rows.labelled(self.features, self.classes))

    def rank(self, rows: Rows, k: int = 5) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return class ids (n, k) and scores (n, k)."""
        return self.index.rank_csr(self.features, rows.indptr, rows.indices, rows.values, k)

"""An index and the columns of a data set, so that rows of it can be learned and ranked."""

import numpy as np
from numpy.typing import NDArray

from manyclass.core.index import Columns, Index
from manyclass.core.learners.options import Options
from manyclass.training.rows import Rows


class Learner:
    """An index that knows `rows.features` and `rows.classes` by their columns."""

    def __init__(self, rows: Rows, options: Options) -> None:
        self.index = Index(options)
        self.features = Columns(rows.features)
        self.classes = Columns(rows.classes)

    def learn(self, rows: Rows) -> NDArray[np.int32]:
        """Learn the rows in order. Ranks of their best true classes before that, 0: none."""
        return self.index.learn_csr(*rows.labelled(self.features, self.classes))

    def rank(self, rows: Rows, k: int = 5) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Class ids and scores, k to a row."""
        return self.index.rank_csr(self.features, rows.indptr, rows.indices, rows.values, k)

    def hits(self, rows: Rows, k: int) -> NDArray[np.bool_]:
        """For rows of one true class each: whether it stands at place 1, 2, ... k."""
        ids, _ = self.rank(rows, k)
        true = self.index.class_ids(self.classes)[rows.class_indices]
        hits: NDArray[np.bool_] = (ids == true[:, None]) & (true[:, None] >= 0)
        return hits

"""Accuracy of rankings: recall and mean reciprocal rank of the best true class."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from manyclass.core.index import Columns
from manyclass.core.learners.learner import Learner
from manyclass.training.rows import Rows

PLACES = 50  # ranked for each row; a true class further down counts as not retrieved
RANKED_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Accuracy:
    """R1, R5 and MRR (Madani et al., JMLR 2009, section 3.3) over `rows` rankings; 0 over none."""

    rows: int
    r1: float
    r5: float
    mrr: float

    @classmethod
    def of(cls, ranks: NDArray[np.int32]) -> Self:
        """Return the accuracy of ranks k_x; rank 0 means that no true class was retrieved."""
        found = ranks[ranks > 0]
        rows = max(len(ranks), 1)
        return cls(
            len(ranks),
            float((found <= 1).sum() / rows),
            float((found <= 5).sum() / rows),
            float((1 / found).sum() / rows),
        )


def ranks_of(
    learner: Learner, rows: Rows, features: Columns, classes: Columns
) -> NDArray[np.int32]:
    """Return the rank (rows,) of each row's best true class among the first 50, else 0.

    `features` and `classes` are the columns of the rows. The learner does not change.
    """
    ids_of_classes = learner.class_ids(classes)
    ranks = np.zeros(len(rows), np.int32)
    for begin in range(0, len(rows), RANKED_AT_ONCE):
        some = rows.take(np.arange(begin, min(begin + RANKED_AT_ONCE, len(rows))))
        ids, _ = learner.rank_csr(features, some.indptr, some.indices, some.values, PLACES)
        ranks[begin : begin + len(some)] = best_places(
            ids, some.class_indptr, ids_of_classes[some.class_indices]
        )
    return ranks


def best_places(
    ranked: NDArray[np.int32], class_indptr: NDArray[np.int64], true: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return (n,) the place of the first true class in each row of class ids (n, k), else 0.

    `true` holds the ids of the rows' true classes, end to end; -1 is an unknown class.
    """
    row_of = np.repeat(np.arange(len(ranked)), np.diff(class_indptr))
    hits = (ranked[row_of] == true[:, None]) & (true[:, None] >= 0)
    beyond = ranked.shape[1] + 1
    places = np.full(len(ranked), beyond, np.int32)
    np.minimum.at(places, row_of[hits.any(axis=1)], hits.argmax(axis=1)[hits.any(axis=1)] + 1)
    return np.where(places == beyond, 0, places)

"""How good a learner's rankings are, by where the best true class of each instance stands."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from manyclass.core.index import Columns
from manyclass.core.learners.learner import Learner
from manyclass.training.rows import Rows

PLACES = 50  # looked at when rows are ranked; a true class further down counts as not retrieved
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
        """The accuracy of ranks k_x, 0 being a true class that was not retrieved."""
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
    """Where the best true class of each row stands among the first 50; 0 when it does not.

    `features` and `classes` are the columns of the rows. Nothing is learned.
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
    """For each row of `ranked` (n, k), class ids, the place of the first that is true; 0: none is.

    `true` are the ids of the rows' true classes, end to end, -1 for one the learner does not know.
    """
    row_of = np.repeat(np.arange(len(ranked)), np.diff(class_indptr))
    hits = (ranked[row_of] == true[:, None]) & (true[:, None] >= 0)
    beyond = ranked.shape[1] + 1
    places = np.full(len(ranked), beyond, np.int32)
    np.minimum.at(places, row_of[hits.any(axis=1)], hits.argmax(axis=1)[hits.any(axis=1)] + 1)
    return np.where(places == beyond, 0, places)

"""Accuracy of rankings: recall and mean reciprocal rank of the best true class."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from manyclass.core.columns import Columns
from manyclass.core.learner import Learner
from manyclass.training.rows import Rows

RETRIEVED = 50  # classes ranked for each row; a true class beyond counts as not retrieved
RANKED_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Accuracy:
    """R1, R5 and MRR (Madani et al., JMLR 2009, section 3.3) over `rows` rankings; or 0."""

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
        ids, _ = learner.rank_csr(features, some.indptr, some.indices, some.values, RETRIEVED)
        hits = hits_of(ids, some.class_indptr, ids_of_classes[some.class_indices])
        ranks[begin : begin + len(some)] = best_ranks(hits)
    return ranks


def hits_of(
    ranking: NDArray[np.int32], indptr: NDArray[np.int64], true: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Return (n, k), bool: whether the class at this rank of a ranking (n, k) is true.

    `true` has the true classes of the rows, concatenated; -1 is an unknown class.
    """
    row_of = np.repeat(np.arange(len(ranking), dtype=np.int64), np.diff(indptr))
    width = max(ranking.max(initial=0), true.max(initial=0)) + np.int64(1)
    true_pairs = (row_of * width + true)[true >= 0]
    pairs = np.arange(len(ranking), dtype=np.int64)[:, None] * width + ranking
    return np.isin(pairs, true_pairs) & (ranking >= 0)


def best_ranks(hits: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return k_x of each row: the rank of its best true class, 0 if not retrieved."""
    first = hits.argmax(axis=1) + 1
    return np.where(hits.any(axis=1), first, 0).astype(np.int32)

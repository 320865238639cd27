"""Rows of CSR arrays as instances with names, and rankings with names as arrays."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from manyclass.core.columns import Columns
from manyclass.core.instance import SMALLEST_VALUE, Instance
from manyclass.core.learners.voting import Ranking


def instances_of(
    columns: Columns,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float32],
) -> list[Instance]:
    """Return the rows as instances. An index has checked the arrays."""
    name_of = {column: columns[column] for column in np.unique(indices).tolist()}
    column_of, value_of = indices.tolist(), values.tolist()
    instances = []
    for begin, end in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
        active = zip(column_of[begin:end], value_of[begin:end], strict=True)
        instances.append(
            Instance({name_of[at]: value for at, value in active if value >= SMALLEST_VALUE})
        )
    return instances


def arrays_of(
    rankings: Sequence[Ranking], k: int, class_ids: Callable[[Columns], NDArray[np.int32]]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return class ids (n, k), -1 where there are fewer, and scores (n, k), 0 there."""
    names = sorted({name for ranking in rankings for name, _ in ranking})
    id_of = dict(zip(names, class_ids(Columns(names)).tolist(), strict=True))
    ids = np.full((len(rankings), k), -1, np.int32)
    scores = np.zeros((len(rankings), k), np.float64)
    for row, ranking in enumerate(rankings):
        for place, (name, score) in enumerate(ranking):
            ids[row, place], scores[row, place] = id_of[name], score
    return ids, scores

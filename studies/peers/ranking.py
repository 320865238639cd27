"""Ranked class columns of scores."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


def best(scores: NDArray[np.floating], k: int) -> NDArray[np.int32]:
    """Return the columns (n, k) of the k highest scores, best first, ties by lower column.

    -1 where a row has fewer scores, and for a score of minus infinity.
    """
    rows, width = scores.shape
    ranked = np.full((rows, k), -1, np.int32)
    some = min(k, width)
    if some == 0:
        return ranked
    if some < width:
        last = np.partition(scores, width - some, axis=1)[:, width - some, None]
        above = np.count_nonzero(scores > last, axis=1, keepdims=True)
        tied = scores == last
        chosen = (scores > last) | (tied & (np.cumsum(tied, axis=1) <= some - above))
        columns = np.nonzero(chosen)[1].reshape(rows, some)
    else:
        columns = np.broadcast_to(np.arange(width), (rows, width))
    chosen_scores = np.take_along_axis(scores, columns, axis=1)
    order = np.argsort(-chosen_scores, axis=1, kind="stable")
    ranked[:, :some] = np.take_along_axis(columns, order, axis=1)
    ranked[:, :some][np.take_along_axis(chosen_scores, order, axis=1) == -np.inf] = -1
    return ranked


def padded(ranked: Iterable[Sequence[int]], n: int, k: int) -> NDArray[np.int32]:
    """Return columns (n, k) of n rankings of at most k columns each, -1 where there are fewer."""
    found = np.full((n, k), -1, np.int32)
    for at, columns in enumerate(ranked):
        found[at, : len(columns)] = columns
    return found


def best_pairs(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    scores: NDArray[np.floating],
    n: int,
    k: int,
) -> NDArray[np.int32]:
    """Return the same of n rows with scores given as (row, column, score)."""
    ranked = np.full((n, k), -1, np.int32)
    order = np.lexsort((columns, -scores, rows))
    rows = rows[order]
    position = np.arange(len(rows)) - np.searchsorted(rows, rows)
    first = position < k
    ranked[rows[first], position[first]] = columns[order][first]
    return ranked

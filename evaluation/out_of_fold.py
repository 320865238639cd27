"""Out-of-fold rankings: each row is ranked by a learner that has not learned it."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from manyclass.core.columns import Columns
from manyclass.core.learners.options import Options
from manyclass.core.taxonomy import Taxonomy
from manyclass.evaluation.learner_estimator import ranked_columns
from manyclass.evaluation.measures import hits_in
from manyclass.training.accuracy import RANKED_AT_ONCE, RETRIEVED, best_ranks
from manyclass.training.rows import Rows
from manyclass.training.trainer import Plan, train


class FoldError(ValueError):
    """The rows cannot be divided into folds: fewer than two are different."""


@dataclass(frozen=True)
class OutOfFold:
    """The rankings of rows, in the order of the rows."""

    first: NDArray[np.int32]  # column of the first class; -1: no class was retrieved
    ranks: NDArray[np.int32]  # of the best true class among the first 50, else 0
    scores: NDArray[np.float64]  # (n, 3): of the first, the second and the best true class
    order: NDArray[np.int64]  # the rows, in an order that depends on their content and the seed


def out_of_fold(
    rows: Rows,
    options: Options,
    folds: int,
    seed: int = 0,
    taxonomy: Taxonomy | None = None,
    on_progress: Callable[[float], None] = lambda folds: None,
) -> OutOfFold:
    """Rank the rows of each fold with a learner that has learned the other folds, in one pass.

    The rows of a class are spread over the folds; equal rows are in the same fold. The result does
    not depend on the order of the rows. `on_progress` is called with the number of folds done.
    Raise FoldError if the rows cannot be divided.
    """
    keys = _keys(rows, seed)
    order = np.array(sorted(range(len(rows)), key=keys.__getitem__), np.int64)
    fold_of_key = {key: at % folds for at, key in enumerate(sorted(set(keys)))}
    if len(fold_of_key) < 2:
        raise FoldError("at least two different rows are needed: one to rank, one to learn before")
    fold_of = np.array([fold_of_key[keys[row]] for row in order.tolist()])
    found = OutOfFold(
        np.full(len(rows), -1, np.int32),
        np.zeros(len(rows), np.int32),
        np.zeros((len(rows), 3)),
        order,
    )
    columns = Columns(rows.features), Columns(rows.classes)
    for fold in np.unique(fold_of).tolist():

        def moved(number: int, learned: int, of: int, before: int = fold) -> None:
            on_progress(before + learned / of)

        learner = train(
            rows.take(order[fold_of != fold]), options, Plan(seed=seed), moved, taxonomy=taxonomy
        ).learner
        held_out = order[fold_of == fold]
        for begin in range(0, len(held_out), RANKED_AT_ONCE):
            block = held_out[begin : begin + RANKED_AT_ONCE]
            some = rows.take(block)
            ranking, scores = ranked_columns(learner, some, *columns, RETRIEVED)
            found.first[block] = ranking[:, 0]
            found.ranks[block] = ranks = best_ranks(hits_in(ranking, some))
            # The score of a class that is not retrieved is at most that of the last retrieved one.
            of_true = np.minimum(scores[:, -1], 0)
            is_ranked = np.flatnonzero(ranks)
            of_true[is_ranked] = scores[is_ranked, ranks[is_ranked] - 1]
            found.scores[block] = np.column_stack([scores[:, :2], of_true])
    return found


def _keys(rows: Rows, seed: int) -> list[tuple[str, bytes]]:
    """Return a sort key of each row, equal for equal rows: by class, then by a hash."""
    keys = []
    for instance, classes in rows:
        content = repr((seed, sorted(instance.items()), sorted(classes)))
        digest = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16)
        keys.append((min(classes), digest.digest()))
    return keys

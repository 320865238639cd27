"""Expected taxonomic losses of a learner, fitted to rows and used on rows."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.columns import Columns
from manyclass.core.expected_loss import CANDIDATES, ExpectedLoss
from manyclass.core.learner import Learner
from manyclass.training.rows import Rows

COUNTED_AT_ONCE: Final = 64  # rows ranked before the first of them is learned


def count_losses(
    losses: ExpectedLoss, learner: Learner, rows: Rows, features: Columns, classes: Columns
) -> None:
    """Count the rankings of rows, before the learner learns them.

    `features` and `classes` are the columns of the rows. The learner does not change.
    """
    ranked = _rankings(learner, rows, features, classes)
    for each, true in zip(ranked, rows.true_columns(), strict=True):
        losses.add(learner.taxonomy, each, [rows.classes[column] for column in true])


def decoded(
    losses: ExpectedLoss, learner: Learner, rows: Rows, features: Columns, classes: Columns
) -> NDArray[np.int32]:
    """Return columns of the 50 best classes (n, 50), least expected loss first, padded with -1."""
    column_of = {name: column for column, name in enumerate(rows.classes)}
    found = np.full((len(rows), CANDIDATES), -1, np.int32)
    for row, ranked in enumerate(_rankings(learner, rows, features, classes)):
        order = np.argsort(losses.of(learner.taxonomy, ranked), kind="stable")
        found[row, : len(order)] = [column_of[ranked[at][0]] for at in order.tolist()]
    return found


def _rankings(
    learner: Learner, rows: Rows, features: Columns, classes: Columns
) -> Iterator[list[tuple[str, float]]]:
    """Yield the best classes of each row with their scores, best first.

    Only classes in the columns are ranked; the taxonomy may have more.
    """
    ids_of = learner.class_ids(classes).tolist()
    names = {each: name for each, name in zip(ids_of, rows.classes, strict=True) if each >= 0}
    ids, scores = learner.rank_csr(features, rows.indptr, rows.indices, rows.values, CANDIDATES)
    for of_row, scores_of_row in zip(ids.tolist(), scores.tolist(), strict=True):
        pairs = zip(of_row, scores_of_row, strict=True)
        yield [(names[each], score) for each, score in pairs if each in names]

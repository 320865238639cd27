"""A fit of kernel logistic regression that becomes a state, and goes on learning online.

Of a division's training rows, a random half or all are fitted (H1). The state made of the fit then
learns rows one at a time: the other half, or all rows once more. Beside it, a learner `path` begins
with nothing and learns one half after the other.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.columns import Columns
from manyclass.core.learner import Learner
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.evaluation.datasets import Dataset
from manyclass.training.accuracy import Accuracy, best_ranks, hits_of, ranks_of
from manyclass.training.klr.fit import Fitting, Plan, classes_with_rows
from manyclass.training.klr.index import convert, options_of, placed_taxonomy
from manyclass.training.klr.model import Model
from manyclass.training.klr.tree import ClassTree, tree_of
from manyclass.training.rows import Rows
from studies.declaration import Pivot, Record, Study, trials
from studies.klr import read, root_of

EVALUATIONS: Final = 8
PREPARED: Final = "path(sublinear=no)"  # as the fit prepares instances
ONLINE: Final = "no fit, both halves online"
HALF: Final = "fit of half, then the other half online"
ALL: Final = "fit of all, then all once more online"


def measured(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield the measures on the test rows; the seed draws the halves and the folds."""
    training, test = data.split(seed, shuffle=False)
    order = np.random.default_rng(seed).permutation(len(training))
    first, second = (training.take(half) for half in np.split(order, [len(order) // 2]))
    made: Record = {}
    if name == ONLINE:
        taxonomy = placed_taxonomy(_tree(data, first).taxonomy, classes_with_rows(first))
        learner = make(Options.parse(PREPARED), taxonomy=taxonomy)
        _learn(learner, first)
    else:
        model = _fitted(data, first if name == HALF else training, seed)
        of_fit = _of_fit(model, test)
        made |= {"fit R1": of_fit.r1, "fit R5": of_fit.r5}
        learner = convert(model, options_of(model)).learner
    before = _accuracy(learner, test)
    online = _learn(learner, training.take(order) if name == ALL else second)
    after = _accuracy(learner, test)
    yield made | {
        "R1 before": before.r1,
        "R5 before": before.r5,
        "progressive R1": online.r1,
        "R1 after": after.r1,
        "R5 after": after.r5,
        "edges": learner.edges,
    }


def _fitted(data: Dataset, rows: Rows, seed: int) -> Model:
    plan = Plan(seed=seed, evaluations=EVALUATIONS)
    return Fitting(rows, classes_with_rows(rows), _tree(data, rows), plan).run().model


def _tree(data: Dataset, rows: Rows) -> ClassTree:
    if data.taxonomy is None:
        raise ValueError(f"{data.name} has no taxonomy")
    classes = classes_with_rows(rows)
    return tree_of(classes, data.taxonomy.parents, "H1", root_of(data.name, data.taxonomy, classes))


def _learn(learner: Learner, rows: Rows) -> Accuracy:
    columns = Columns(rows.features), Columns(rows.classes)
    return Accuracy.of(learner.learn_csr(*rows.labelled(*columns)))


def _accuracy(learner: Learner, test: Rows) -> Accuracy:
    return Accuracy.of(ranks_of(learner, test, Columns(test.features), Columns(test.classes)))


def _of_fit(model: Model, test: Rows) -> Accuracy:
    p = np.concatenate([*model.probabilities(test)])
    number = {name: at for at, name in enumerate(model.classes)}
    true: NDArray[np.int32] = np.array([number.get(name, -1) for name in test.classes], np.int32)
    ranking = np.argsort(-p, axis=1, kind="stable").astype(np.int32)
    return Accuracy.of(best_ranks(hits_of(ranking, test.class_indptr, true[test.class_indices])))


STUDY: Final = Study(
    about="A fit of kernel logistic regression that goes on learning online",
    trials=trials(["cpv-71", "cpv-33"], [ONLINE, HALF, ALL], splits=3),
    measure=measured,
    tables=[
        Pivot(
            "test rows",
            (
                *("fit R1", "fit R5", "R1 before", "R5 before"),
                *("progressive R1", "R1 after", "R5 after", "edges"),
            ),
        )
    ],
    read=read,
)

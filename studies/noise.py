"""Wrong labels among the training rows: how many a review finds, and R1 once they are corrected.

A tenth of the labels of the training rows is made wrong: another class at random. Each way orders
the rows by how likely their label is wrong. `report` is `manyclass report` with svm. `suspects` is
GET /suspects with svm: one model learns all rows, once, and ranks them then. cleanlab takes the
probabilities of logistic regression on tf-idf values, of the same rows, each from a model that has
not learned it (five folds; features of one row alone are left out). It orders by label quality:
`self confidence` is the probability of the label, `margin` that less the highest other one.
`issues` has what `find_label_issues` finds, in its order, and the other rows by self confidence
behind.

With n wrong labels, the first n rows are reviewed: the wrong labels among them get the true class.
R1 is that of svm on the test rows, which have true labels, after one pass over all training rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.evaluation.cost import timed
from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.label_review import LabelReview
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.evaluation.measures import hits_in
from manyclass.evaluation.out_of_fold import out_of_fold
from manyclass.service.history.likely_errors import LikelyErrors, dispute
from manyclass.service.history.reader import Record as Taught
from manyclass.service.log.outcomes import NOT_RETRIEVED
from manyclass.training.rows import Rows
from studies.declaration import Pivot, Record, Study, trials
from studies.peers.package import imported
from studies.peers.tfidf import rarity
from studies.peers.vectors import Vectors

DATASETS: Final = ("banking", "newsgroups-bydate")
LEARNER: Final = "svm"
WAYS: Final = ("report", "suspects", "cleanlab")
WRONG: Final = 0.1  # of the labels
FOLDS: Final = 5
C: Final = 10.0  # of the logistic regression; with 1 fewer errors are found

Order = NDArray[np.int64]


def with_errors(rows: Rows, seed: int) -> tuple[Rows, Order]:
    """Return rows of one class each with a tenth of their labels wrong, and the wrong rows."""
    draw = np.random.default_rng(seed)
    wrong = np.sort(draw.choice(len(rows), round(WRONG * len(rows)), replace=False))
    labels = rows.class_indices.copy()
    shift = draw.integers(1, len(rows.classes), len(wrong))
    labels[wrong] = (labels[wrong] + shift) % len(rows.classes)
    return replace(rows, class_indices=labels), wrong


def by_report(rows: Rows, seed: int) -> Order:
    """Return the suspects of a report, most suspicious first, and the other rows behind."""
    found = LabelReview(rows, out_of_fold(rows, Options.parse(LEARNER), FOLDS, seed)).suspects()
    return _completed(np.array(found, np.int64), np.arange(len(rows)))


def by_suspects(rows: Rows) -> Order:
    """Return the suspects of a service that was taught the rows, likeliest first, and the other
    rows behind, newest first.
    """
    model = Model(Options.parse(LEARNER))
    records = []
    for seq, (instance, classes) in enumerate(rows, 1):
        event = Event.learn(Instance(instance), classes)
        rank = model.apply(seq, event).rank or NOT_RETRIEVED
        records.append(Taught(seq, event, rank, list(classes), [], None, False, 0, False))
    errors = LikelyErrors()
    for record in records:
        errors.add(record, None if record.outcome == 1 else dispute(model, record))
    found = [each.seq - 1 for each in errors.suspects(len(records))]
    return _completed(np.array(found, np.int64), np.arange(len(rows))[::-1])


def by_cleanlab(rows: Rows, seed: int) -> dict[str, Order]:
    """Return the rows in the orders of cleanlab."""
    given = rows.class_indices, probabilities_of(rows, seed)
    scores = imported("cleanlab.rank", "cleanlab").get_label_quality_scores
    confidence, margin = (
        np.argsort(scores(*given, method=each), kind="stable")
        for each in ("self_confidence", "normalized_margin")
    )
    find = imported("cleanlab.filter", "cleanlab").find_label_issues
    issues = find(*given, return_indices_ranked_by="self_confidence", n_jobs=1)
    return {
        "cleanlab: self confidence": confidence,
        "cleanlab: margin": margin,
        "cleanlab: issues": _completed(issues, confidence),
    }


def probabilities_of(rows: Rows, seed: int) -> NDArray[np.float64]:
    """Return the probability of each class (n, classes) for rows that the model never learned."""
    linear = imported("sklearn.linear_model", "scikit-learn")
    selection = imported("sklearn.model_selection", "scikit-learn")
    rows = rows.without_singletons()
    weighted = replace(rows, values=rows.values * rarity(rows)[rows.indices])
    folds = selection.StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    model = linear.LogisticRegression(C=C, max_iter=200)
    found: NDArray[np.float64] = selection.cross_val_predict(
        model, Vectors.of(weighted).matrix(), rows.class_indices, cv=folds, method="predict_proba"
    )
    return found


def _completed(first: Order, order: Order) -> Order:
    """Return the first rows, and behind them the others in this order."""
    return np.concatenate([first, order[~np.isin(order, first)]])


def r1(training: Rows, test: Rows) -> float:
    """Return R1 on the test rows after a pass over the training rows."""
    estimator = LearnerEstimator(training, Options.parse(LEARNER))
    estimator.learn(training)
    return float(hits_in(estimator.rank(test, 1), test)[:, 0].mean())


def reviewed(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield the share of wrong labels among the first rows, and R1 before and after correction."""
    training, test = data.split(seed)
    noisy, wrong = with_errors(training, seed)
    ways: dict[str, Callable[[], dict[str, Order]]] = {
        "report": lambda: {name: by_report(noisy, seed)},
        "suspects": lambda: {name: by_suspects(noisy)},
        "cleanlab": lambda: by_cleanlab(noisy, seed),
    }
    orders, seconds = timed(ways[name])
    uncorrected, without_errors = r1(noisy, test), r1(training, test)
    for way, order in orders.items():
        found = np.isin(order[: len(wrong)], wrong)
        labels = noisy.class_indices.copy()
        corrected = order[: len(wrong)][found]
        labels[corrected] = training.class_indices[corrected]
        yield {
            "way": way,
            "first n / 10": float(found[: len(wrong) // 10].mean()),
            "first n": float(found.mean()),
            "R1": r1(replace(noisy, class_indices=labels), test),
            "R1 uncorrected": uncorrected,
            "R1 without errors": without_errors,
            "CPU s": seconds,
        }


STUDY: Final = Study(
    "Wrong labels: the share that a review finds",
    trials(DATASETS, WAYS, splits=3),
    reviewed,
    [
        Pivot(
            "n wrong labels among the first rows, and R1 once these are corrected",
            ["first n / 10", "first n", "R1", "R1 uncorrected", "R1 without errors", "CPU s"],
            rows="way",
        )
    ],
)

"""Operating points: does a limit that was chosen on past outcomes keep its promise?

Each data set is one stream in a random order, three times. For each target the least limit is found
after the first half of the stream, by the rule of the service: the lower end of a Wilson interval
at 90 % of the accuracy above the limit, over the newest 10,000 outcomes. A target is reached if
there is such a limit. The second half shows how many answers reach the limit then, and how many of
them are right. The limit `followed` is the present one at every ranking, as with `min_accuracy`.
A promise is kept if the second half is right at least as often as the target less a point.

`probabilities` asks the same of the probability of each ranked class: `precision` is the share of
right classes among those above the limit, of the first ten classes of each ranking, `recall` their
share of all true classes. The error of the probabilities is the sum, over ten bins of equal
numbers of classes, of the difference between the expected and the true number of right classes, as
a share of these numbers.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.enrolled import Enrolled
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.operating_points import PLACES, TARGETS
from manyclass.evaluation.datasets import Dataset
from studies.declaration import Pivot, Record, Study, trials
from studies.samples import as_stream

DATASETS: Final = (
    *("banking", "clinc", "newsgroups", "reuters", "cpv", "eurlex", "yso"),
    *("bibtex", "delicious"),
)
LEARNERS: Final = ("svm", "ff")
TOLERANCE: Final = 0.01


def promises(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield for each target the limit of the first half and what it does in the second."""
    rows = data.rows.shuffled(seed)
    options = Options.parse(name)
    enrolled = Enrolled.begun(options.specification, make(options))
    half = len(rows) // 2
    chosen: list[float | None] = []
    outcomes = list[tuple[float, bool]]()
    followed = list[list[float | None]]()
    for number, (instance, classes) in enumerate(rows):
        event = Event.learn(Instance(instance), classes)
        if number == half:
            chosen = [enrolled.calibration.limit_for(target) for target in TARGETS]
        ranked, confidence, _ = enrolled.answer(event.instance, 1, None)
        if number >= half:
            followed.append([enrolled.calibration.limit_for(target) for target in TARGETS])
        enrolled.apply(event)
        if number >= half:
            is_right = bool(ranked) and ranked[0][0] in classes
            outcomes.append((-1.0 if confidence is None else confidence, is_right))
    confidences, right = np.array(outcomes, float).reshape(-1, 2).T
    for at, target in enumerate(TARGETS):
        limit = chosen[at]
        record: Record = {"target": f"{target:.0%}", "reached": float(limit is not None)}
        if limit is not None:
            present = np.array([2.0 if each[at] is None else each[at] for each in followed])
            above, then = confidences >= limit, confidences >= present
            accuracy = float(right[above].mean()) if above.any() else 1.0
            record |= {
                "limit": limit,
                "answered": float(above.mean()),
                "right of these": accuracy,
                "kept": float(accuracy >= target - TOLERANCE),
                "answered, followed": float(then.mean()),
                "right, followed": float(right[then].mean()) if then.any() else 1.0,
            }
        yield record


def probabilities(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield for each target precision its limit of the first half, and the second half."""
    rows = data.rows.shuffled(seed)
    options = Options.parse(name)
    enrolled = Enrolled.begun(options.specification, make(options))
    half = len(rows) // 2
    chosen: list[float | None] = []
    of_classes = list[tuple[float, bool]]()
    true_classes = 0
    for number, (instance, classes) in enumerate(rows):
        event = Event.learn(Instance(instance), classes)
        if number == half:
            chosen = [enrolled.calibration.probability_limit_for(target) for target in TARGETS]
        if number >= half:
            answer = enrolled.answer(event.instance, PLACES, None, probabilities=True)
            for (cls, _), each in zip(answer.ranked, answer.probabilities, strict=True):
                of_classes.append((-1.0 if each is None else each, cls in classes))
            true_classes += len(classes)
        enrolled.apply(event)
    found, right = np.array(of_classes, float).reshape(-1, 2).T
    for limit, target in zip(chosen, TARGETS, strict=True):
        record: Record = {"target": f"{target:.0%}", "reached": float(limit is not None)}
        if limit is not None:
            above = found >= limit
            precision = float(right[above].mean()) if above.any() else 1.0
            record |= {
                "limit": limit,
                "classes": float(above.sum()) / (len(rows) - half),
                "precision": precision,
                "recall": float(right[above].sum()) / true_classes,
                "kept": float(precision >= target - TOLERANCE),
            }
        record |= {"error": _error(found, right)}
        yield record


def _error(found: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Return the relative error of probabilities, by ten bins of equal numbers of classes."""
    bins = np.array_split(np.argsort(found, kind="stable"), 10)
    differences = [abs(float(found[each].sum() - right[each].sum())) for each in bins]
    return sum(differences) / float(found.sum() + right.sum()) * 2


STUDY: Final = Study(
    "Operating points: limits for a wanted accuracy",
    trials(DATASETS, LEARNERS, splits=3),
    promises,
    [
        Pivot(
            "limits of the first half, in the second half",
            [
                *("reached", "limit", "answered", "right of these", "kept"),
                *("answered, followed", "right, followed"),
            ],
            rows="target",
            each="dataset",
            across="estimator",
        )
    ],
    rows=30_000,
    prepare=as_stream,
)

PROBABILITIES: Final = Study(
    "Probabilities of each class: limits for a wanted precision",
    trials(DATASETS, LEARNERS, splits=3),
    probabilities,
    [
        Pivot(
            "limits of the first half, in the second half",
            ["reached", "limit", "classes", "precision", "recall", "kept", "error"],
            rows="target",
            each="dataset",
            across="estimator",
        )
    ],
    rows=30_000,
    prepare=as_stream,
)

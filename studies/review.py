"""Labels that teach most: how many it takes to come near the accuracy of all.

A learner that has learned all training rows, in random order and once, has the R1 `of all labels`
on the test rows. The share of the labels is counted until R1 on the test rows is first 95 % of
that, looked at after each hundredth of the labels; `reached` is the share of the orders in which it
was.

`random`: the rows are labelled in random order. `pool`: in rounds of a hundredth of the rows, all
rows without a label are ranked, and those of the lowest confidence are labelled, as GET /review
orders them; the first round is random. `stream 0.9`: rows come in random order, and a row is
labelled if its confidence is below 0.9 when it comes; R1 at the end is that after the last row.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.columns import Columns
from manyclass.core.enrolled import Enrolled
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.learner_estimator import ranked_columns
from manyclass.evaluation.measures import hits_in
from manyclass.training.rows import Rows
from studies.declaration import Pivot, Plot, Record, Study, trials

DATASETS: Final = ("banking", "newsgroups-bydate", "clinc")
LEARNER: Final = "svm"
LIMITS: Final = (0.5, 0.7, 0.9)
WAYS: Final = ("random", "pool", *(f"stream {limit:g}" for limit in LIMITS))
NEAR: Final = 0.95  # of R1 of all labels
ROUNDS: Final = 100


class Labelled:
    """A learner as a service has it, and the rows that it has learned, each once."""

    def __init__(self, training: Rows, test: Rows) -> None:
        options = Options.parse(LEARNER)
        self._enrolled = Enrolled.begun(options.specification, make(options))
        self._training, self._test = training, test
        self._columns = Columns(training.features), Columns(training.classes)
        self._events = [Event.learn(Instance(instance), classes) for instance, classes in training]
        self.count = 0

    def learn(self, row: int) -> None:
        """Learn a training row with its label."""
        self._enrolled.apply(self._events[row])
        self.count += 1

    def confidence(self, row: int) -> float | None:
        """Return the confidence of a training row's ranking."""
        return self._enrolled.answer(self._events[row].instance, 1, None).confidence

    def confidences(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the confidence of each training row, -1 for none."""
        _, scores = ranked_columns(
            self._enrolled.learner, self._training.take(rows), *self._columns, 2
        )
        found = map(self._enrolled.calibration.confidence, *scores.T.tolist())
        return np.array([-1.0 if each is None else each for each in found])

    def r1(self) -> float:
        """Return R1 on the test rows."""
        ranking, _ = ranked_columns(self._enrolled.learner, self._test, *self._columns, 1)
        return float(hits_in(ranking, self._test)[:, 0].mean())


def by_pool(labelled: Labelled, rows: int, at_once: int) -> Iterator[None]:
    """Label the least certain of all rows, so many at once, and yield after each round."""
    left = np.arange(rows)
    chosen = left[:at_once]
    while len(left):
        for row in chosen.tolist():
            labelled.learn(row)
        left = np.setdiff1d(left, chosen, assume_unique=True)
        yield
        if len(left):
            order = np.argsort(labelled.confidences(left), kind="stable")
            chosen = left[order[:at_once]]


def by_stream(labelled: Labelled, rows: int, at_once: int, limit: float) -> Iterator[None]:
    """Label each row that is less certain than the limit when it comes; yield after so many
    labels, and at the end."""
    for row in range(rows):
        confidence = labelled.confidence(row)
        if confidence is not None and confidence >= limit:
            continue
        labelled.learn(row)
        if labelled.count % at_once == 0:
            yield
    if labelled.count % at_once:
        yield


def needed(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield the labels that a way to choose them needs, then R1 along them."""
    training, test = data.split(seed)
    rows, at_once = len(training), max(len(training) // ROUNDS, 1)
    everything = Labelled(training, test)
    for row in range(rows):
        everything.learn(row)
    of_all = everything.r1()
    labelled = Labelled(training, test)
    if name == "pool":
        rounds = by_pool(labelled, rows, at_once)
    else:
        limit = float("inf") if name == "random" else float(name.removeprefix("stream "))
        rounds = by_stream(labelled, rows, at_once, limit)
    curve = [(labelled.count, labelled.r1()) for _ in rounds]
    near = [count for count, r1 in curve if r1 >= NEAR * of_all]
    record: Record = {
        "R1 of all labels": of_all,
        "reached": float(bool(near)),
        "share at the end": labelled.count / rows,
        "R1 at the end": curve[-1][1],
    }
    yield record | ({"share needed": near[0] / rows} if near else {})
    for count, r1 in curve:
        yield {"labels learned": count, "R1": r1}


STUDY: Final = Study(
    "Labels that teach most: least certain first",
    trials(DATASETS, WAYS, splits=3),
    needed,
    [
        Pivot(
            f"labels until R1 is {NEAR:.0%} of that of all labels",
            [
                *("R1 of all labels", "reached", "share needed"),
                *("share at the end", "R1 at the end"),
            ],
        )
    ],
    [Plot("R1 by labels learned", "labels learned", "R1", "labels learned")],
)

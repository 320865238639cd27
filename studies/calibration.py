"""Calibration of confidence, and selective prediction: answers above a limit of confidence.

Each data set is one stream in random order. Every row is ranked before it is learned; its
confidence is compared with whether the first class was right. The first thousand rows do not count,
nor do the few without a first class.

The expected calibration error is over fifteen bins with equal numbers of outcomes. Brier score and
log loss stand beside those of the best constant: the share of right answers, known beforehand.

The drift studies run on the streams of `drift`, with 30 % or all of the features changing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.enrolled import Enrolled
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.evaluation.datasets import Dataset
from manyclass.training.rows import Rows
from studies.declaration import Pivot, Plot, Record, Study, trials
from studies.drift import drifting
from studies.samples import as_stream

DATASETS: Final = ("clinc", "newsgroups", "cpv", "eurlex", "yso")
COMMITTEE: Final = "committee(members=ff+pa+arow,vote=score)"
LEARNERS: Final = (
    *("ff", "svm", "pa", "arow", "ooz", "oplt", "iplt", "frequency"),
    COMMITTEE,
)
LIMITS: Final = (0.5, 0.8, 0.9, 0.95)
BINS: Final = 15
FIRST_COUNTED: Final = 1_000
AROUND: Final = (-1_000, 0, 100, 300, 1_000, 3_000, 6_000)  # events from the middle on
LEAST_LOGGED: Final = 1e-3  # confidences are clipped to it, and to its complement, in the log loss

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Outcomes:
    """Confidences, 1 for each right first class and 0 for the others, and places in the stream."""

    confidence: Floats
    right: Floats
    event: NDArray[np.int64]

    def bins(self) -> Iterator[tuple[float, float, int]]:
        """Yield (mean confidence, share right, outcomes) of each bin, in rising confidence."""
        order = np.argsort(self.confidence, kind="stable")
        for part in np.array_split(order, BINS):
            if len(part):
                sure, right = self.confidence[part].mean(), self.right[part].mean()
                yield float(sure), float(right), len(part)

    def scores(self) -> Mapping[str, float]:
        """Return calibration error, Brier score and log loss."""
        error = sum(abs(sure - right) * count for sure, right, count in self.bins())
        clipped = self.confidence.clip(LEAST_LOGGED, 1 - LEAST_LOGGED)
        given = np.where(self.right == 1, clipped, 1 - clipped)
        return {
            "calibration error": error / len(self.right),
            "Brier": float(((self.confidence - self.right) ** 2).mean()),
            "log loss": float(-np.log(given).mean()),
        }

    def constant(self) -> "Outcomes":
        """Return the same outcomes with the share of right ones as their confidence."""
        return replace(self, confidence=np.full(len(self.right), self.right.mean()))


def outcomes(rows: Rows, name: str) -> Outcomes:
    """Return the confidence of each event before it is learned, and whether it came true."""
    options = Options.parse(name)
    enrolled = Enrolled.begun(options.specification, make(options))
    found = list[tuple[float, bool, int]]()
    events = (Event.learn(Instance(instance), classes) for instance, classes in rows)
    for number, event in enumerate(events):
        before = enrolled.answer(event.instance, 1, None)
        learned = enrolled.apply(event)
        if number >= FIRST_COUNTED and before.confidence is not None:
            found.append((before.confidence, learned.rank == 1, number))
    columns = np.array(found, float).reshape(-1, 3)
    return Outcomes(columns[:, 0], columns[:, 1], columns[:, 2].astype(np.int64))


def calibrated(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield the scores of a stream, its bins, and the answers above each limit."""
    found = outcomes(data.rows.shuffled(seed), name)
    constant = {f"{score} of the constant": of for score, of in found.constant().scores().items()}
    yield {"right": float(found.right.mean()), **found.scores(), **constant}
    for number, (sure, right, _) in enumerate(found.bins(), 1):
        yield {"bin": number, "confidence": sure, "share right": right}
    for limit in LIMITS:
        above = found.right[found.confidence >= limit]
        record: Record = {"limit": f">= {limit:g}", "answered": len(above) / len(found.right)}
        yield record | ({"right of these": float(above.mean())} if len(above) else {})


def around_drift(
    changed: float, data: Dataset, name: str, passes: int, seed: int
) -> Iterator[Record]:
    """Yield mean confidence and share right before and after the change of the features."""
    rows = drifting(data.rows.shuffled(seed), seed, changed)
    found = outcomes(rows, name)
    for begin, end in pairwise(AROUND):
        place = found.event - len(rows) // 2
        part = (begin <= place) & (place < end)
        if part.any():
            yield {
                "events": f"{begin:+,} to {end:+,}",
                "confidence": float(found.confidence[part].mean()),
                "right": float(found.right[part].mean()),
            }


SCORES: Final = ("calibration error", "Brier", "log loss")
STUDY: Final = Study(
    "Calibration of confidence",
    trials(DATASETS, LEARNERS),
    calibrated,
    [
        Pivot("calibration", ["right", *SCORES, *(f"{each} of the constant" for each in SCORES)]),
        Pivot("answers by limit of confidence", ["answered", "right of these"], across="limit"),
    ],
    [Plot("reliability", "confidence", "share right", along="bin")],
    rows=20_000,
    prepare=as_stream,
)
DRIFT: Final = replace(
    STUDY,
    about="Confidence where 30 % of the features change",
    trials=trials(["clinc", "newsgroups"], ["svm", "ff", "pa", "oplt"]),
    measure=partial(around_drift, 0.3),
    tables=[Pivot("around the change", ["confidence", "right"], across="events")],
    plots=(),
)
UPHEAVAL: Final = replace(
    DRIFT,
    about="Confidence where all features change",
    measure=partial(around_drift, 1.0),
)

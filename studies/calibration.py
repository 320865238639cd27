"""Calibration of confidence, and selective prediction: answers above a limit of confidence.

Each data set is one stream in random order. Every row is ranked before it is learned; its
confidence is compared with whether the first class was right. The first thousand rows do not count,
nor do the few without a first class.

The expected calibration error is over fifteen bins with equal numbers of outcomes. Brier score and
log loss stand beside those of the best constant: the share of right answers, known beforehand.

The drift studies run on the streams of `drift`, with 30 % or all of the features changing, and on
real streams: laws and news in the order of their dates, posts of a later time after all earlier
ones, and classes that follow one another.

The trained study restores the state that `manyclass train` writes and ranks a fifth of the rows,
which it never learned. Bins of few rows differ from the truth by chance: "error by chance" is the
mean calibration error if every confidence were the true probability. `svm kept_back=0` keeps no
rows back for the calibration; `svm known_rows` is calibrated in its last pass, with known rows too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.calibration import Calibration
from manyclass.core.enrolled import Enrolled
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.evaluation.datasets import Dataset
from manyclass.training.rows import Rows
from manyclass.training.trainer import CALIBRATION_ROWS, Plan, train
from studies.declaration import Pivot, Plot, Record, Study, Trial, trials
from studies.drift import TENTHS, drifting
from studies.samples import as_stream

DATASETS: Final = ("clinc", "newsgroups", "cpv", "eurlex", "yso")
COMMITTEE: Final = "committee(members=ff+pa+arow,vote=score)"
LEARNERS: Final = (
    *("ff", "svm", "pa", "arow", "ooz", "oplt", "iplt", "frequency"),
    COMMITTEE,
)
TRAINED: Final = ("clinc", "cpv", "banking", "newsgroups", "eurlex")
TEST_SHARE: Final = 0.2
PASSES: Final = {1: "1 pass", 3: "3 passes"}
DRAWS: Final = 20  # of outcomes, for the error by chance
LIMITS: Final = (0.5, 0.8, 0.9, 0.95)
BINS: Final = 15
FIRST_COUNTED: Final = 1_000
AROUND: Final = (-1_000, 0, 100, 300, 1_000, 3_000, 6_000)  # events from the middle on
LEAST_LOGGED: Final = 1e-3  # confidences are clipped to it, and to its complement, in the log loss

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Outcomes:
    """Confidences, 1 or 0 for a right or wrong first class, and positions in the stream."""

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
        clipped = self.confidence.clip(LEAST_LOGGED, 1 - LEAST_LOGGED)
        given = np.where(self.right == 1, clipped, 1 - clipped)
        return {
            "calibration error": self.calibration_error(),
            "Brier": float(((self.confidence - self.right) ** 2).mean()),
            "log loss": float(-np.log(given).mean()),
        }

    def error_by_chance(self) -> float:
        """Return the mean calibration error of outcomes drawn with these confidences."""
        draw = np.random.default_rng(0)
        drawn = (draw.random(len(self.right)) < self.confidence for _ in range(DRAWS))
        errors = [replace(self, right=each.astype(float)).calibration_error() for each in drawn]
        return float(np.mean(errors))

    def calibration_error(self) -> float:
        """Return the mean distance of confidence and share right over the bins."""
        error = sum(abs(sure - right) * count for sure, right, count in self.bins())
        return error / len(self.right)

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
        position = found.event - len(rows) // 2
        part = (begin <= position) & (position < end)
        if part.any():
            yield {
                "events": f"{begin:+,} to {end:+,}",
                "confidence": float(found.confidence[part].mean()),
                "right": float(found.right[part].mean()),
            }


def right_after_training(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield the scores of a state that was trained, written and restored, on rows new to it.

    `name` is a specification, perhaps with ` kept_back=0` or ` known_rows`.
    """
    test, learned = data.rows.shuffled(seed).split(TEST_SHARE)
    specification, _, change = name.partition(" ")
    kind, _, amount = change.partition("=")
    options = Options.parse(specification)
    kept_back = int(amount) if kind == "kept_back" else CALIBRATION_ROWS
    if kind == "known_rows":
        model = Model.of(*_calibrated_on_known_rows(learned, options, passes, seed))
    else:
        training = train(learned, options, Plan(passes, seed=seed, calibration_rows=kept_back))
        model = Model.of(training.learner, training.learned, training.calibration)
    restored = Model.load(model.dump())
    found = list[tuple[float, bool]]()
    for instance, classes in test:
        answer = restored.answer(Instance(instance), 1)
        if answer.confidence is not None:
            found.append((answer.confidence, answer.ranked[0][0] in classes))
    columns = np.array(found, float).reshape(-1, 2)
    held = Outcomes(columns[:, 0], columns[:, 1], np.arange(len(columns)))
    yield {
        "right": float(held.right.mean()),
        "confidence": float(held.confidence.mean()),
        **held.scores(),
        "error by chance": held.error_by_chance(),
    }


def _calibrated_on_known_rows(
    rows: Rows, options: Options, passes: int, seed: int
) -> tuple[Learner, int, Calibration]:
    """Return a learner, its number of events, and a calibration from the last of its passes."""
    learner, calibration = make(options), Calibration()
    for number in range(passes):
        calibration = Calibration()
        for instance, classes in rows.shuffled(seed + number):
            learned = learner.learn(instance, classes, number)
            calibration.add(learned.first, learned.second, learned.rank == 1)
    return learner, passes * len(rows), calibration


def in_real_order(data: Dataset, rows: int | None) -> Dataset:
    """Return a stream as the data has it, of at most so many rows, evenly chosen.

    eurlex and reuters are in the order of dates; of newsgroups, the earlier posts come first, in
    random order, then the later ones; other sets have one class after the other.
    """
    published = data.published or 0
    order = np.arange(len(data.rows))
    if data.name == "eurlex":
        order = order[:published]  # the test rows begin with the first year again
    elif data.name == "newsgroups-bydate":
        earlier, later = np.split(order, [published])
        draw = np.random.default_rng(0)
        order = np.concatenate([draw.permutation(earlier), draw.permutation(later)])
    elif data.name != "reuters":
        order = np.argsort(data.rows.class_indices[data.rows.class_indptr[:-1]], kind="stable")
    if rows is not None and len(order) > rows:
        order = order[np.linspace(0, len(order) - 1, rows).astype(np.int64)]
    return replace(data, rows=data.rows.take(order), published=None)


def along_the_stream(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield the scores of a stream in the order that it has, then of each tenth."""
    found = outcomes(data.rows, name)
    yield {"right": float(found.right.mean()), **found.scores()}
    for tenth in range(TENTHS):
        part = found.event * TENTHS // len(data.rows) == tenth
        if part.any():
            some = Outcomes(found.confidence[part], found.right[part], found.event[part])
            yield {
                "tenth": tenth + 1,
                "confidence": float(some.confidence.mean()),
                "share right": float(some.right.mean()),
                "error": some.calibration_error(),
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
TRAINED_STUDY: Final = Study(
    "Confidence right after offline training",
    [
        Trial(each, name, splits=3, passes=passes, tags={"trained": PASSES[passes]})
        for each in TRAINED
        for passes, names in (
            (1, ("svm", "pa", "oplt")),
            (3, ("svm", "svm kept_back=0", "svm known_rows", "pa", "oplt")),
        )
        for name in names
    ],
    right_after_training,
    [
        Pivot(
            "right after training",
            ["right", "confidence", "calibration error", "error by chance"],
            across="trained",
        )
    ],
    rows=20_000,
    prepare=as_stream,
)
REAL: Final = Study(
    "Confidence on streams in their real order",
    trials(["eurlex", "reuters", "newsgroups-bydate", "clinc"], ["svm", "ff", "pa", "oplt"]),
    along_the_stream,
    [
        Pivot("calibration", ["right", *SCORES]),
        Pivot("along the stream", ["confidence", "share right"], across="tenth"),
    ],
    rows=20_000,
    prepare=in_real_order,
)

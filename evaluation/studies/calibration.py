"""Whether confidence comes true, and what is left when one acts on the surer answers only.

Each set is one stream, in a random order. Every row is ranked before it is learned; the confidence
before it is held against whether the first class was right. Rows before the first thousand are
over do not count, nor do the few without a first class.

The expected calibration error is over fifteen bins with as many outcomes each, from the least
confident to the most. Brier score and log loss stand beside those of the best constant: the share
of right answers, known beforehand.

With `--drift` each stream is that of manyclass.evaluation.studies.drift: classes arrive all along,
and in its middle a share of the features change their meaning. A third table has what was said and
what came true before and after.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.event import Event, Instance
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.model import Enrolled
from manyclass.evaluation import sets
from manyclass.evaluation.figures import Figure
from manyclass.evaluation.plot import Axis, Plot, Point, Series
from manyclass.evaluation.report import Cell, Table, best_of
from manyclass.evaluation.studies.drift import drifting
from manyclass.evaluation.studies.study import Study, heard, parser_of
from manyclass.training.rows import Rows

SETS: Final = ("clinc", "newsgroups", "cpv", "eurlex", "yso")
LEARNERS: Final = (
    "ff",
    "svm",
    "pa",
    "arow",
    "ooz",
    "oplt",
    "iplt",
    "frequency",
    "committee(members=ff+pa+arow,vote=score)",
)
LIMITS: Final = (0.5, 0.8, 0.9, 0.95)
BINS = 15
FIRST_COUNTED = 1_000
AROUND_DRIFT: Final = (-1_000, 0, 100, 300, 1_000, 3_000, 6_000)  # limits, from the middle on
LEAST_LOGGED = 1e-3  # a confidence nearer to 0 or 1 counts as this near in the log loss

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Outcomes:
    """Confidences, 1 for each that came with a right first class and 0 for the others, and the
    places of the events in their stream."""

    confidence: Floats
    right: Floats
    event: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.right)

    @property
    def bins(self) -> list[tuple[float, float, int]]:
        """(mean confidence, share right, outcomes) of each bin, the least confident first."""
        order = np.argsort(self.confidence, kind="stable")
        return [
            (float(self.confidence[part].mean()), float(self.right[part].mean()), len(part))
            for part in np.array_split(order, BINS)
            if len(part)
        ]

    @property
    def calibration_error(self) -> float:
        """The mean distance of the two, weighed by the outcomes."""
        return sum(abs(sure - right) * count for sure, right, count in self.bins) / len(self)

    @property
    def brier(self) -> float:
        """The mean square of confidence - right."""
        return float(((self.confidence - self.right) ** 2).mean())

    @property
    def log_loss(self) -> float:
        """The mean of -ln of the probability that was given to what came."""
        sure = self.confidence.clip(LEAST_LOGGED, 1 - LEAST_LOGGED)
        return float(-np.log(np.where(self.right == 1, sure, 1 - sure)).mean())

    @property
    def constant(self) -> "Outcomes":
        """The same outcomes, each with the share of right ones as its confidence."""
        return Outcomes(np.full(len(self), self.right.mean()), self.right, self.event)

    def between(self, begin: int, end: int) -> "Outcomes":
        """Those of events from `begin` up to `end`."""
        part = (begin <= self.event) & (self.event < end)
        return Outcomes(self.confidence[part], self.right[part], self.event[part])

    def above(self, limit: float) -> tuple[float, float | None]:
        """(share of answers with at least this confidence, share of them that is right)."""
        sure = self.right[self.confidence >= limit]
        return len(sure) / len(self), float(sure.mean()) if len(sure) else None


def events_of(rows: Rows) -> list[Event]:
    """The rows as a service would be taught them."""
    events = []
    for row in range(len(rows)):
        active = slice(rows.indptr[row], rows.indptr[row + 1])
        names = (rows.features[column] for column in rows.indices[active])
        values = map(float, rows.values[active])
        true = rows.class_indices[rows.class_indptr[row] : rows.class_indptr[row + 1]]
        instance = Instance(dict(zip(names, values, strict=True)))
        events.append(Event.learn(instance, [rows.classes[column] for column in true]))
    return events


def measure(events: Sequence[Event], options: Options) -> Outcomes:
    """What a learner says of each event before it learns it, and what came of that."""
    enrolled = Enrolled.begun(options.specification, make(options))
    said = list[tuple[float, bool, int]]()
    for number, event in enumerate(events):
        before = enrolled.answer(event.instance, 1, None)
        learned = enrolled.apply(event)
        if number >= FIRST_COUNTED and before.confidence is not None:
            said.append((before.confidence, learned.rank == 1, number))
    found = np.array(said, float).reshape(-1, 3)
    return Outcomes(found[:, 0], found[:, 1], found[:, 2].astype(np.int64))


# --- tables ---------------------------------------------------------------------------------------

Measured = Mapping[str, Outcomes]


def _figure(figure: float | None) -> Cell:
    return Cell("-") if figure is None else Cell(f"{figure:.3f}", figure)


def errors_of(title: str, found: Measured) -> Table:
    """How far the confidence of each learner is from what came true."""
    rows = [
        [
            Cell(name),
            _figure(float(each.right.mean())),
            _figure(each.calibration_error),
            _figure(each.brier),
            _figure(each.constant.brier),
            _figure(each.log_loss),
            _figure(each.constant.log_loss),
        ]
        for name, each in found.items()
    ]
    columns = ["learner", "right", "calibration error", "Brier", "constant", "log loss", "constant"]
    best = [best_of([row[at] for row in rows], "less") for at in (2, 3, 5)]
    return Table(title, columns, rows, [-1, -1, best[0], best[1], -1, best[2], -1])


def shares_of(title: str, found: Measured) -> Table:
    """What is answered at each limit of confidence, and how much of that is right."""
    rows = []
    for name, each in found.items():
        cells = [_figure(figure) for limit in LIMITS for figure in each.above(limit)]
        rows.append([Cell(name), *cells])
    columns = ["learner"]
    for limit in LIMITS:
        columns += [f">= {limit:g}: answered", "right"]
    return Table(title, columns, rows, [-1] * len(columns))


def drift_of(title: str, found: Measured, middle: int) -> Table:
    """Mean confidence and share right, before the middle of the stream and after."""
    rows = []
    for name, each in found.items():
        cells = [Cell(name)]
        for begin, end in pairwise(AROUND_DRIFT):
            part = each.between(middle + begin, middle + end)
            if not len(part):
                cells += [Cell("-"), Cell("-")]
            else:
                cells += [_figure(float(of.mean())) for of in (part.confidence, part.right)]
        rows.append(cells)
    columns = ["learner"]
    for begin, end in pairwise(AROUND_DRIFT):
        columns += [f"{begin:+,} to {end:+,}: said", "right"]
    return Table(title, columns, rows, [-1] * len(columns))


def reliability_of(name: str, found: Measured) -> Figure:
    """The share of right answers by confidence: on the diagonal, what was said came true."""
    series = [Series("as said", [Point(0, 0), Point(1, 1)], 0, dashed=True, marked=False)]
    for colour, (learner, each) in enumerate(found.items(), start=1):
        points = [
            Point(sure, right, note=f"{count:,} outcomes: {sure:.3f} said, {right:.3f} right")
            for sure, right, count in each.bins
        ]
        series.append(Series(learner, points, colour))
    plot = Plot(f"{name}: reliability", Axis("confidence"), Axis("share right"), series)
    return Figure(plot, f"{BINS} bins with as many outcomes each.", own_legend=True)


def main() -> None:
    parser = parser_of(__doc__, SETS)
    parser.add_argument("--rows", type=int, default=20_000, help="most rows of a set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learner", action="append", metavar="SPEC", help="in place of the usual")
    parser.add_argument(
        "--drift",
        type=float,
        metavar="SHARE",
        help="let classes arrive, and this share of the features change in the middle",
    )
    given = parser.parse_args()
    learners = [Options.parse(each) for each in given.learner or LEARNERS]
    study = Study("manyclass.evaluation.studies.calibration", given)
    for done, name in enumerate(given.sets, start=1):
        rows = sets.read(name, given.data).rows.shuffled(given.seed)
        rows = rows.take(np.arange(min(len(rows), given.rows)))
        if given.drift is not None:
            rows = drifting(rows, given.seed, given.drift)
        events = events_of(rows)
        found = {each.specification: measure(events, each) for each in learners}
        heard(name, done)
        title = f"{name}: {len(events):,} rows"
        study.show(errors_of(f"{title}; confidence against what came true", found))
        study.show(shares_of(f"{title}; answers by limit", found))
        if given.drift is not None:
            study.show(drift_of(f"{title}; around the change", found, len(events) // 2))
        study.figures.append(reliability_of(name, found))
    study.write()


if __name__ == "__main__":
    main()

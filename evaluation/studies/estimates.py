"""How well one feature estimates class proportions: Madani et al., JMLR 2009, appendix B.

A feature sees 1,000 classes, drawn independently. The weights that FSU then has are compared with
the true probabilities, for several minimum weights; the mean over 200 such streams is reported
(figures 21 and 22). FSU is the one of the core: each stream is a feature of one index of learner ff
that learns always.
"""

from argparse import Namespace
from collections.abc import Callable, Sequence
from math import ceil
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.core.index import Columns, Index
from manyclass.core.learners.options import Options
from manyclass.evaluation.figures import Figure
from manyclass.evaluation.plot import Axis, Plot, Point, Series
from manyclass.evaluation.report import Cell, Table
from manyclass.evaluation.studies.study import Study, parser_of

STREAMS = 200
OBSERVATIONS = 1000
MIN_WEIGHTS = (0.0, 0.001, 0.01, 0.1)
HIGHEST = (0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 0.9)  # values of p*
MOST_CLASSES = 100  # of figure 21(a)
NEVER_ABOVE = 1.0  # no weight is, and so no margin either: every observation is learned

Probabilities = NDArray[np.float64]


def fsu(streams: NDArray[np.int32], min_weight: float) -> NDArray[np.float64]:
    """The weights (streams, classes) that FSU has at the end of streams (streams, observations)."""
    count, length = streams.shape
    options = Options.of(
        "ff",
        margin_threshold=NEVER_ABOVE,
        min_weight=min_weight,
        max_outdegree=int(streams.max()) + 1,
        rating=0,
        feature_memory=0,
    )
    classes = [str(number) for number in range(int(streams.max()) + 1)]
    index = Index(options)
    every = np.arange(count * length + 1, dtype=np.int64)
    index.learn_csr(
        Columns([str(number) for number in range(count)]),
        every,
        np.repeat(np.arange(count, dtype=np.int32), length),
        np.ones(count * length, np.float32),
        Columns(classes),
        every,
        streams.ravel(),
    )
    weights = np.zeros((count, len(classes)))
    for number in range(count):
        row: dict[str, Any] = index.feature(str(number))
        for name, weight in row["edges"]:
            weights[number, int(name)] = weight
    return weights


def one_ahead(highest: float, classes: int) -> Probabilities:
    """One class of the highest probability p*; the others have equal parts of what is left."""
    return np.array([highest, *[(1 - highest) / (classes - 1)] * (classes - 1)])


def stick(draw: np.random.Generator) -> Probabilities:
    """Probabilities drawn from [0, 1] one after the other, the last one cut to what is left."""
    found = list[float]()
    while True:
        left = 1 - sum(found)
        found.append(float(draw.uniform()))
        if found[-1] >= left:
            return np.array([*found[:-1], left])


def drawn(probabilities: Sequence[Probabilities], draw: np.random.Generator) -> NDArray[np.int32]:
    """A stream of classes for each of the distributions."""
    return np.array(
        [draw.choice(len(each), OBSERVATIONS, p=each / each.sum()) for each in probabilities],
        np.int32,
    )


def deviation(weights: NDArray[np.float64], highest: float) -> float:
    """Mean of |p~ - p*| / p*, p~ being the highest weight of a stream."""
    return float(np.mean(np.abs(weights.max(axis=1) - highest) / highest))


def distances(
    weights: NDArray[np.float64], probabilities: Sequence[Probabilities]
) -> tuple[float, float]:
    """Means of the l1 and of the greatest distance between weights and true probabilities."""
    true = np.zeros((len(probabilities), max(weights.shape[1], *map(len, probabilities))))
    for number, each in enumerate(probabilities):
        true[number, : len(each)] = each
    apart = np.abs(np.pad(weights, [(0, 0), (0, true.shape[1] - weights.shape[1])]) - true)
    return float(apart.sum(axis=1).mean()), float(apart.max(axis=1).mean())


def by_highest(
    classes_of: Callable[[float], int], draw: np.random.Generator
) -> dict[float, list[float]]:
    """For each p*, the deviations under each of the MIN_WEIGHTS, on the same streams."""
    found = {}
    for highest in HIGHEST:
        probabilities = [one_ahead(highest, classes_of(highest))] * STREAMS
        streams = drawn(probabilities, draw)
        found[highest] = [deviation(fsu(streams, each), highest) for each in MIN_WEIGHTS]
    return found


def table_of(title: str, found: dict[float, list[float]]) -> Table:
    """A row for each p*."""
    return Table(
        title,
        ["p*", *(f"w_min {each:g}" for each in MIN_WEIGHTS)],
        [
            [Cell(f"{highest:g}"), *(Cell(f"{each:.3f}", each) for each in deviations)]
            for highest, deviations in found.items()
        ],
        [-1] * (len(MIN_WEIGHTS) + 1),
    )


def figure_of(title: str, found: dict[float, list[float]]) -> Figure:
    """A line for each minimum weight."""
    series = [
        Series(
            f"w_min {min_weight:g}",
            [
                Point(highest, each[number], note=f"p* {highest:g}, deviation {each[number]:.3f}")
                for highest, each in found.items()
            ],
            number,
        )
        for number, min_weight in enumerate(MIN_WEIGHTS)
    ]
    plot = Plot(title, Axis("p*", logarithmic=True), Axis("mean |p~ - p*| / p*"), series)
    return Figure(plot, f"{STREAMS} streams of {OBSERVATIONS} classes for each point.")


def of_sticks(draw: np.random.Generator) -> Table:
    """Figure 22: distances under each minimum weight, on the same streams."""
    probabilities = [stick(draw) for _ in range(STREAMS)]
    streams = drawn(probabilities, draw)
    rows = []
    for min_weight in MIN_WEIGHTS:
        both = distances(fsu(streams, min_weight), probabilities)
        rows.append([Cell(f"{min_weight:g}"), *(Cell(f"{each:.4f}", each) for each in both)])
    size = mean(map(len, probabilities))
    title = f"Figure 22: probabilities drawn one after the other, {size:.1f} classes on average"
    return Table(title, ["w_min", "l1", "l_max"], rows, [-1] * 3)


def main(given: Namespace) -> None:
    study = Study("manyclass.evaluation.studies.estimates", given)
    draw = np.random.default_rng(given.seed)
    regimes: list[tuple[str, Callable[[float], int]]] = [
        (f"Figure 21(a): deviation from p*, {MOST_CLASSES} classes", lambda _: MOST_CLASSES),
        (
            "Figure 21(b): deviation from p*, 1/p* classes, at least 2",
            lambda highest: max(ceil(1 / highest), 2),
        ),
    ]
    for title, classes_of in regimes:
        found = by_highest(classes_of, draw)
        study.show(table_of(title, found))
        study.figures.append(figure_of(title, found))
    study.show(of_sticks(draw))
    study.write()


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the streams")
    main(parser.parse_args())

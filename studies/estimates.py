"""Estimates of class proportions by one feature: Madani et al., JMLR 2009, appendix B.

A feature sees 1,000 classes, drawn independently. The weights of FSU are compared with the true
probabilities, for several minimum weights (figures 21 and 22); each value is the mean over 200
streams. Each stream is a feature of one learner `ff` that always updates.
"""

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.columns import Columns
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.evaluation.datasets import Dataset
from manyclass.training.rows import Rows
from studies.declaration import Pivot, Plot, Record, Study, trials

STREAMS: Final = 200
OBSERVATIONS: Final = 1000
MIN_WEIGHTS: Final = ("0", "0.001", "0.01", "0.1")
HIGHEST: Final = (0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 0.9)  # values of p*
MANY, FEW, STICKS = "one of 100 classes ahead", "one of 1/p* classes ahead", "broken sticks"

Floats = NDArray[np.float64]


def fsu(streams: NDArray[np.int32], min_weight: str) -> Floats:
    """Return the final weights (streams, classes) of FSU on streams (streams, observations)."""
    count, length = streams.shape
    classes = [str(number) for number in range(int(streams.max()) + 1)]
    always = "margin_threshold=1,rating=0,mass_cap=0"  # no weight exceeds 1, so no margin
    limits = f"min_weight={min_weight},max_outdegree={len(classes)}"
    learner = Learner(Options.parse(f"ff({always},{limits})"))
    every = np.arange(count * length + 1, dtype=np.int64)
    learner.learn_csr(
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
        row: dict[str, Any] = learner.feature(str(number))
        for name, weight in row["edges"]:
            weights[number, int(name)] = weight
    return weights


def one_ahead(highest: float, classes: int) -> Floats:
    """Return p* for one class and equal parts of the rest for the others."""
    return np.array([highest, *[(1 - highest) / (classes - 1)] * (classes - 1)])


def stick(draw: np.random.Generator) -> Floats:
    """Return probabilities drawn from [0, 1] one after the other, the last cut to the rest."""
    found = list[float]()
    while True:
        left = 1 - sum(found)
        found.append(float(draw.uniform()))
        if found[-1] >= left:
            return np.array([*found[:-1], left])


def drawn(probabilities: Sequence[Floats], draw: np.random.Generator) -> NDArray[np.int32]:
    """Return a stream of classes for each of the distributions."""
    return np.array(
        [draw.choice(len(each), OBSERVATIONS, p=each / each.sum()) for each in probabilities],
        np.int32,
    )


def distances(weights: Floats, probabilities: Sequence[Floats]) -> tuple[float, float]:
    """Return the mean l1 and the mean greatest distance of weights and probabilities."""
    true = np.zeros((len(probabilities), max(weights.shape[1], *map(len, probabilities))))
    for number, each in enumerate(probabilities):
        true[number, : len(each)] = each
    apart = np.abs(np.pad(weights, [(0, 0), (0, true.shape[1] - weights.shape[1])]) - true)
    return float(apart.sum(axis=1).mean()), float(apart.max(axis=1).mean())


def estimated(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield the deviation |p~ - p*| / p* for each p*, or l1 and l_max of broken sticks.

    `name` is the minimum weight. Equal seeds draw equal streams.
    """
    draw = np.random.default_rng(seed)
    if data.name == STICKS:
        sticks = [stick(draw) for _ in range(STREAMS)]
        l1, l_max = distances(fsu(drawn(sticks, draw), name), sticks)
        yield {"l1": l1, "l_max": l_max}
        return
    for highest in HIGHEST:
        classes = 100 if data.name == MANY else max(ceil(1 / highest), 2)
        streams = drawn([one_ahead(highest, classes)] * STREAMS, draw)
        errors = np.abs(fsu(streams, name).max(axis=1) - highest) / highest
        yield {"p*": highest, "deviation": float(errors.mean())}


def no_rows(name: str, folder: Path) -> Dataset:
    """Return an empty data set: the streams are synthetic."""
    return Dataset(name, Rows.of([]))


STUDY: Final = Study(
    "Estimates of class proportions by FSU (Madani et al. 2009, figures 21 and 22)",
    trials([MANY, FEW, STICKS], MIN_WEIGHTS),
    estimated,
    [
        Pivot("deviation from p*, by w_min", ["deviation"], rows="p*", across="estimator"),
        Pivot("distances by w_min", ["l1", "l_max"], digits=4),
    ],
    [Plot("deviation by w_min", "p*", "deviation", along="p*", logarithmic=True)],
    read=no_rows,
)

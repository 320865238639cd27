"""Mistakes of the weight-bounded perceptron against its bound.

The two-class form of `ooz` in appendix A of the paper on it: a feature has one weight w in [0, 1]
to class 1, and 1 - w to class 2. Feature values are 0 or more, an instance has length 1. An update
is made iff the true class does not score higher; it never leaves [0, 1].

If weights w* give the true class a lead of u beta or more on every instance, an update lessens
|w - w*|^2 by (u - 2) beta^2 at least, as the paper shows, and indeed by (u - 1) beta^2: the proof
drops the square in d^2 - 2 beta x d >= -(beta x)^2, d = 1 - w <= beta x. So the mistakes are at
most |w0 - w*|^2 / ((u - 1) beta^2) for u > 1.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.evaluation.datasets import Dataset
from manyclass.training.rows import Rows
from studies.declaration import Pivot, Record, Study, Trial

Doubles = NDArray[np.float64]

START: Final = 0.5
MOST_DRAWN: Final = 200_000
CLEAN: Final = 10_000  # instances in a row without a mistake that end a stream
NAME: Final = "synthetic"


def lead(weights: Doubles, x: Doubles, is_first: bool) -> float:
    """Return the score of the true class less that of the other."""
    difference = float(x @ (2 * weights - 1))
    return difference if is_first else -difference


def update(weights: Doubles, x: Doubles, is_first: bool, beta: float) -> bool:
    """Learn an instance; return whether the true class did not score higher."""
    if lead(weights, x, is_first) > 0:
        return False
    room = 1 - weights if is_first else weights
    change = np.minimum(beta * x, room)
    weights += change if is_first else -change
    return True


def update_of_many(weights: Doubles, x: Doubles, true: int, beta: float) -> bool:
    """Learn an instance of class `true` by weights (features, classes); return if it was a mistake.

    Each feature moves weight from the highest scoring other class to the true one, as far as it has
    any. This form of the update for many classes may lead away from a separator.
    """
    scores = x @ weights
    others = np.where(np.arange(len(scores)) == true, -np.inf, scores)
    wrong = int(others.argmax())
    if scores[true] > scores[wrong]:
        return False
    change = np.minimum(beta * x, weights[:, wrong])
    weights[:, wrong] -= change
    weights[:, true] += change
    return True


@dataclass(frozen=True)
class Stream:
    """Random instances with a lead of u beta or more by random weights w*, named F-l-beta-u."""

    features: int
    active: int  # features of an instance
    beta: float
    u: float
    extreme: bool = False  # each weight of w* is 0 or 1

    @property
    def name(self) -> str:
        """Return the name of the trial."""
        kind = ", w* 0 or 1" if self.extreme else ""
        return f"F {self.features}, l {self.active}, beta {self.beta}, u {self.u:g}{kind}"

    def run(self, seed: int) -> Record:
        """Return the mistakes until none was made for long, and the bounds."""
        random = np.random.default_rng(seed)
        separator = random.random(self.features)
        if self.extreme:
            separator = np.round(separator)
        weights = np.full(self.features, START)
        first = float(((weights - separator) ** 2).sum())
        mistakes, clean, drawn, least = 0, 0, 0, np.inf
        while clean < CLEAN and drawn < MOST_DRAWN:
            drawn += 1
            x = np.zeros(self.features)
            positions = random.choice(self.features, self.active, replace=False)
            x[positions] = random.exponential(size=self.active)
            x /= np.linalg.norm(x)
            is_first = lead(separator, x, True) > 0
            if lead(separator, x, is_first) < self.u * self.beta:
                continue
            before = float(((weights - separator) ** 2).sum())
            if update(weights, x, is_first, self.beta):
                mistakes, clean = mistakes + 1, 0
                least = min(least, before - float(((weights - separator) ** 2).sum()))
            else:
                clean += 1
        unit = self.beta**2
        return {
            "mistakes": mistakes,
            "bound by u - 1": first / ((self.u - 1) * unit),
            "bound by u - 2": first / ((self.u - 2) * unit) if self.u > 2 else np.inf,
            "least gain / beta^2": least / unit,
            "drawn": drawn,
        }


STREAMS: Final = (
    Stream(20, 5, 0.05, 3),
    Stream(100, 10, 0.05, 3),
    Stream(100, 10, 0.02, 3),
    Stream(100, 10, 0.1, 3),
    Stream(100, 10, 0.05, 2.1),
    Stream(100, 10, 0.05, 1.5),
    Stream(100, 10, 0.05, 6),
    Stream(100, 10, 0.05, 3, extreme=True),
    Stream(20, 5, 0.2, 3, extreme=True),
)
BY_NAME: Final = {stream.name: stream for stream in STREAMS}


def measured(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield the record of a stream."""
    began = time.process_time()
    found = BY_NAME[name].run(seed)
    kept = {key: value for key, value in found.items() if np.isfinite(value)}
    yield {**kept, "CPU s": time.process_time() - began}


def no_data(name: str, data: Path) -> Dataset:
    """Return an empty data set: the streams draw their own instances."""
    return Dataset(name, Rows.of([({"none": 1.0}, ["none"])]))


STUDY: Final = Study(
    about="Mistakes of the weight-bounded perceptron and their bound",
    trials=[Trial(NAME, stream.name, splits=3) for stream in STREAMS],
    measure=measured,
    tables=[
        Pivot(
            "means of 3 streams",
            ("mistakes", "bound by u - 1", "bound by u - 2", "least gain / beta^2", "drawn"),
            digits=2,
        )
    ],
    read=no_data,
)

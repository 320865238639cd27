from collections.abc import Mapping
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.reliability import Bin

@final
class Calibration:
    """From the scores of the two best classes to the probability that the first is right.

    Learned from outcome to outcome; nothing of it depends on the scale of the scores. It keeps the
    last 10,000 outcomes with the confidence it had before each, and is judged by them. Part of the
    state: it follows from the events alone.
    Threads: one at a time, but for `confidence`, which holds the GIL for all of its work.
    """

    def __new__(cls) -> Self: ...
    @property
    def outcomes(self) -> int:
        """Rankings it has learned from: those that had a first class."""

    def confidence(self, first: float, second: float) -> float | None:
        """The probability, 0 to 1, that the first class is right, by the two highest scores.

        A closer second never makes it larger. None before 100 outcomes, and when `first` is 0:
        there is no first class.
        """

    def add(self, first: float, second: float, is_right: bool) -> None:
        """Learn what came of a ranking; nothing when `first` is 0."""

    @property
    def brier(self) -> float | None:
        """The mean square of confidence - outcome (1 right, 0 wrong), over the outcomes kept."""

    @property
    def reliability(self) -> list[Bin]:
        """The outcomes kept, in ten bins of equal width by the confidence before each."""

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """The state as flat arrays."""

    @classmethod
    def load(cls, sections: Mapping[str, NDArray[np.generic]]) -> Self:
        """Return what was dumped; SnapshotError when no outcomes could have led to the arrays."""

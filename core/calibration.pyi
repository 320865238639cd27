from collections.abc import Mapping
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.reliability import Bin

@final
class Calibration:
    """A map from the scores of the two best classes to the probability that the first is right.

    It learns online from outcomes and is invariant to the scale of the scores. The last 10,000
    outcomes, each with the confidence from before it, measure its quality. It is part of the state
    and depends on the events alone.
    Threads: any may call `confidence`; one at a time the rest.
    """

    def __new__(cls) -> Self: ...
    @property
    def outcomes(self) -> int:
        """The number of rankings learned; a ranking without a first class does not count."""

    def confidence(self, first: float, second: float) -> float | None:
        """Return the probability, 0 to 1, that the first class is right, by the two highest scores.

        The probability never rises with `second`. Return None before 100 outcomes, and for a
        `first` of 0, which means an empty ranking.
        """

    def add(self, first: float, second: float, is_right: bool) -> None:
        """Learn the outcome of a ranking; do nothing if `first` is 0."""

    def settle(self, top_two: NDArray[np.float64], right: NDArray[np.uint8]) -> None:
        """Fit the confidence to the two highest scores (n, 2) and outcomes (n,), 1 for right.

        All outcomes count alike, so the confidence has less noise than after `add`, which follows
        changes. They do not join the last 10,000; no outcomes, or none before, change nothing.
        Raise ValueError for other shapes and for scores that are not finite.
        """

    @property
    def brier(self) -> float | None:
        """The mean square of confidence - outcome (1 right, 0 wrong), over the kept outcomes."""

    @property
    def reliability(self) -> list[Bin]:
        """The kept outcomes in ten bins of equal width, by the confidence before each."""

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the state as flat arrays."""

    @classmethod
    def load(cls, sections: Mapping[str, NDArray[np.generic]]) -> Self:
        """Return the dumped state; raise SnapshotError if no outcomes can lead to the arrays."""

from collections.abc import Mapping
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.reliability import Bin

@final
class Calibration:
    """A map from the scores of the two best classes to the probability that the first is right.

    It learns online from outcomes and is invariant to the scale of the scores. It keeps the last
    10,000 outcomes, each with the confidence before it was learned, to measure its own quality. It
    is part of the state and depends on the events alone.
    Threads: any number may call `confidence`; other methods one thread at a time.
    """

    def __new__(cls) -> Self: ...
    @property
    def outcomes(self) -> int:
        """The number of rankings learned; a ranking without a first class does not count."""

    def confidence(self, first: float, second: float) -> float | None:
        """Return the probability, 0 to 1, that the class of score `first` is right.

        `first` and `second` are the two highest scores; the probability never rises with `second`.
        Return None before 100 outcomes, and if `first` is 0: the ranking was empty.
        """

    def add(self, first: float, second: float, is_right: bool) -> None:
        """Learn whether the first class of a ranking with these two highest scores was right.

        Do nothing if `first` is 0."""

    def settle(self, top_two: NDArray[np.float64], right: NDArray[np.uint8]) -> None:
        """Fit the confidence to the two highest scores (n, 2) and outcomes (n,), 1 for right.

        All these outcomes count equally, so the confidence has less noise than after `add`, which
        gives recent outcomes more weight. They do not join the last 10,000. Nothing changes without
        outcomes here, or without any before. Raise ValueError for other shapes and for scores that
        are not finite.
        """

    @property
    def brier(self) -> float | None:
        """The mean of (confidence - outcome)² over the last 10,000; outcomes are 0 or 1 (right)."""

    @property
    def reliability(self) -> list[Bin]:
        """The last 10,000 outcomes in ten bins of equal width, by the confidence before each."""

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the state as flat arrays."""

    @classmethod
    def load(cls, sections: Mapping[str, NDArray[np.generic]]) -> Self:
        """Return the dumped state; raise SnapshotError if no outcomes can lead to the arrays."""

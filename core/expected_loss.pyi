from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.sections import Sections
from manyclass.core.taxonomy import Taxonomy

CANDIDATES: int
SECTIONS: dict[str, str]

@final
class ExpectedLoss:
    """Expected taxonomic losses of ranked classes, by probabilities of a fitted temperature.

    The probabilities are the softmax of the scores, divided by the temperature times the highest
    score. The temperature is chosen from a fixed grid: with it, the classes of least expected loss
    had the smallest taxonomic loss in about the last 4,000 rankings. It is part of the state and
    depends on the events alone.
    Threads: one at a time; any may call `of` and `temperature` meanwhile.
    """

    def __new__(cls) -> Self: ...
    @property
    def temperature(self) -> float:
        """The temperature in force, as a multiple of the highest score of a ranking."""

    def of(self, taxonomy: Taxonomy, ranked: list[tuple[str, float]]) -> list[float]:
        """Return the expected taxonomic loss of each ranked class, in the order of `ranked`.

        `ranked` lists (class, score), best first, each class once; one of them is assumed to be
        true. A class without a node counts as a child of the root.
        """

    def add(self, taxonomy: Taxonomy, ranked: list[tuple[str, float]], classes: list[str]) -> None:
        """Count the ranking of an instance before it is learned with these true classes.

        `ranked` lists (class, score), best first; an empty ranking is not counted. Raise ValueError
        without true classes.
        """

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the state as flat arrays; empty before the first loss."""

    @classmethod
    def load(cls, sections: Sections) -> Self:
        """Return the dumped state, or a new one if `sections` lacks its arrays; SnapshotError."""

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

    The probability of a class is the softmax of the scores, divided by the temperature times the
    highest score. The temperature is the one of a fixed grid by which the classes of least expected
    loss had the smallest taxonomic loss, in about the last 4,000 rankings. It is part of the state
    and depends on the events alone.
    Threads: one at a time, but for `of` and `temperature`, which may run meanwhile.
    """

    def __new__(cls) -> Self: ...
    @property
    def temperature(self) -> float:
        """The temperature in force, in units of the highest score of a ranking."""

    def of(self, taxonomy: Taxonomy, ranked: list[tuple[str, float]]) -> list[float]:
        """Return the expected taxonomic loss of each ranked class, one of which is true.

        The ranking has the best class first, and each class once. A class without a node stands
        right below the root.
        """

    def add(self, taxonomy: Taxonomy, ranked: list[tuple[str, float]], classes: list[str]) -> None:
        """Count a ranking, best class first, of an instance that is about to be learned with these
        true classes; do nothing if it is empty. ValueError without true classes.
        """

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the state as flat arrays, none before the first loss."""

    @classmethod
    def load(cls, sections: Sections) -> Self:
        """Return the dumped state, a new one without its arrays; SnapshotError."""

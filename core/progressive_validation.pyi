from collections.abc import Mapping
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.taxonomic_loss import ParentAccuracy, TaxonomicLoss

HITS_AT: tuple[int, ...]
DEEPEST: int
WINDOWS: tuple[int, ...]

@final
class ProgressiveValidation:
    """The accuracy of ranking each example before it is learned: totals, and the last 10,000 ranks.

    It is part of the state and depends on the events only. Threads: one at a time.
    """

    taxonomic_loss: TaxonomicLoss
    parent_accuracy: ParentAccuracy

    def __new__(cls) -> Self: ...
    @property
    def examples(self) -> int:
        """The number of examples."""

    @property
    def hits(self) -> dict[int, int]:
        """The number of examples with a true class among the first k, for each k of HITS_AT."""

    @property
    def reciprocal_rank_sum(self) -> float:
        """The sum of 1 / rank over all examples; an example not retrieved adds 0."""

    def add(self, rank: int) -> None:
        """Count the rank of an example's best true class; 0 means not retrieved."""

    def add_all(self, ranks: NDArray[np.int32]) -> None:
        """Count the ranks (n,) of examples in order; 0 means not retrieved."""

    def windows(self) -> dict[int, dict[str, float]]:
        """Return for each window size the number of examples, r1, r5, r10 and mrr (0 if empty)."""

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the sections of a snapshot."""

    @classmethod
    def load(cls, sections: Mapping[str, NDArray[np.generic]]) -> Self:
        """Return the accuracy of a snapshot's sections; SnapshotError if these are inconsistent."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.columns import Columns
from manyclass.core.index import Index
from manyclass.core.instance import Instance
from manyclass.core.outcome import Learned

_Given = Instance | Mapping[str, float] | Iterable[str | int]

@final
class Ensemble:
    """Indexes, the members, that rank by vote and learn the same instances.

    One more index, the table, learns the classes of all instances, and no features. A class that
    it does not have is not nominated.

    Threads: any number may rank at once; one at a time may learn. Array calls release the GIL, the
    others while they wait for a lock.
    """

    def __new__(cls, table: Index, members: Iterable[Index]) -> Self: ...
    def rank(
        self,
        instance: _Given,
        vote: str,
        k: int = 5,
        threshold: float | None = None,
        among: Iterable[str] | None = None,
    ) -> list[tuple[str, float]]:
        """Return the k best classes with a score above `threshold`, best first.

        Each member nominates 50 classes at most; for the vote "probability", as many as needed.
        With `among`, the members vote among the classes of these names alone, and each nominates
        all of them that it ranks. InstanceError unless it is an array, KeyError for an unknown
        vote.
        """

    def spans(self, instance: _Given) -> list[float]:
        """Return for each member the divisor that makes shares of its scores; 0 without any."""

    def learn(
        self,
        instance: _Given,
        classes: list[str],
        rejected: list[str],
        weight: float,
        is_first_epoch: bool,
        vote: str,
        deepest: int,
        takes: Sequence[bool],
    ) -> tuple[Learned, list[int]]:
        """Rank the instance, then learn it with the table and the members that `takes` flags.

        Return the outcome of the ranking, and for each member the place of the best true class
        among its nominations, 0 for none. A ranking by "probability" has the `deepest` first places
        only. ValueError unless there is a flag for each member.
        """

    def rank_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        vote: str,
        k: int = 5,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return class ids (n, k) of the table, best first, padded with -1, and scores (n, k)."""

    def learn_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        classes: Columns,
        class_indptr: NDArray[np.int64],
        class_indices: NDArray[np.int32],
        weights: NDArray[np.float32] | None,
        is_first_epoch: bool,
        vote: str,
        deepest: int,
        takes: NDArray[np.uint8],
        top_two: NDArray[np.float64],
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Learn the rows in order; return ranks (n,) and places (n, members) as from `learn`.

        `takes` (n, members) flags the members that learn a row; `top_two` (n, 2) receives the two
        highest scores before it was learned. ValueError for other shapes, or for arrays that are
        not CSR.
        """

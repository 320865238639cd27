"""The protocol of every learner, and the two implementations: an index and a committee."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from manyclass.core.event import Event, Instance
from manyclass.core.index import Columns, Index, Node
from manyclass.core.learned import Learned
from manyclass.core.learners.committee import Committee
from manyclass.core.learners.options import Options
from manyclass.core.sections import Sections

Given = Instance | Mapping[str, float] | Iterable[str | int]  # the latter as Instance takes it


class Learner(Protocol):
    """Ranks a sparse instance against its classes, and learns from one labelled instance at a time.

    The same calls in the same order make the same state, byte for byte. Any number of threads may
    rank at once; one at a time may change. manyclass.core.index.Index documents each method.
    """

    @property
    def options(self) -> Options: ...
    def configure(self, options: Options) -> None:
        """Use other options from here on; OptionError for those of another learner."""

    # --- one instance ---------------------------------------------------------------------------
    def rank(
        self, instance: Given, k: int = 5, threshold: float | None = None
    ) -> list[tuple[str, float]]: ...
    def explain(
        self, instance: Given, classes: Sequence[str], limit: int = 10
    ) -> list[list[tuple[str, float]]]: ...
    def paths(
        self, instance: Given, classes: Sequence[str], limit: int = 10
    ) -> list[list[Node]]: ...
    def learn(self, instance: Given, classes: Sequence[str], passes_done: int = 0) -> Learned: ...
    def apply(self, event: Event) -> Learned: ...
    def forget_class(self, name: str) -> bool: ...
    def forget_feature(self, name: str) -> bool: ...

    # --- many instances, as CSR arrays ----------------------------------------------------------
    def rank_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        k: int = 5,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...
    def learn_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        classes: Columns,
        class_indptr: NDArray[np.int64],
        class_indices: NDArray[np.int32],
        passes_done: int = 0,
    ) -> NDArray[np.int32]: ...
    def plant_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        classes: Columns,
        class_indptr: NDArray[np.int64],
        class_indices: NDArray[np.int32],
    ) -> bool: ...
    def class_ids(self, classes: Columns) -> NDArray[np.int32]: ...

    # --- looking inside -------------------------------------------------------------------------
    @property
    def features(self) -> int: ...
    @property
    def classes(self) -> int: ...
    @property
    def edges(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def resident_bytes(self) -> int: ...
    @property
    def evicted_features(self) -> int: ...
    @property
    def evicted_classes(self) -> int: ...
    @property
    def learned(self) -> int: ...
    @property
    def active_features_ranked(self) -> int: ...
    @property
    def edges_touched(self) -> int: ...
    def has_class(self, name: str) -> bool: ...
    def has_feature(self, name: str) -> bool: ...
    def outdegrees(self) -> NDArray[np.int64]: ...
    def feature(self, name: str) -> dict[str, object]: ...
    def class_(self, name: str, limit: int = 100) -> dict[str, object]: ...
    def class_page(self, prefix: str, after: str, limit: int) -> list[tuple[str, int]]: ...
    def feature_page(self, prefix: str, after: str, limit: int) -> list[tuple[str, int]]: ...

    # --- state ----------------------------------------------------------------------------------
    def dump(self) -> dict[str, NDArray[np.generic]]: ...


def make(options: Options, hash_seed: int = 0) -> Learner:
    """Return an empty learner. `hash_seed` salts its tables of names, not its state."""
    if options.members:
        return Committee(options, hash_seed)
    return Index(options, hash_seed)


def load(options: Options, sections: Sections, hash_seed: int = 0) -> Learner:
    """Return the learner that was dumped; SnapshotError when the arrays do not make one."""
    if options.members:
        return Committee.load(options, sections, hash_seed)
    return Index.load(options, sections, hash_seed)

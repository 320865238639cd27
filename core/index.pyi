from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.event import Event, Instance
from manyclass.core.learned import Learned
from manyclass.core.learners.options import Options

_Given = Instance | Mapping[str, float] | Iterable[str | int]  # the latter as Instance takes it

@final
class Columns:
    """The names of the columns of CSR arrays, with the ids an index gave them, looked up once."""

    def __new__(cls, names: Sequence[str]) -> Self: ...
    def __len__(self) -> int: ...
    def __getitem__(self, column: int, /) -> str:
        """The name of a column; IndexError when there is none."""

class Node(NamedTuple):
    """A node on the path to a class in a label tree.

    `classes` counts the classes below it, `probability` is that of the node given the node above,
    `moved` holds (feature, change of the log-odds), largest first, and `bias` is the change for
    every instance.
    """

    classes: int
    probability: float
    bias: float
    moved: list[tuple[str, float]]

@final
class Index:
    """The sparse index: feature -> a few weighted classes; or a label tree above the classes.

    An index ranks with RankedRetrieval (Madani et al., JMLR 2009, section 3), a tree by best-first
    search; both learn as the options say: docs/learners.md has every rule. The edges of a tree are
    its weights: of a feature for a child of a node.
    Threads: any number may rank at once; a change waits for the ranks under way and holds up
    those that come. Array calls release the GIL for all their work, and no call holds it while it
    waits.
    """

    def __new__(cls, options: Options, hash_seed: int = 0) -> Self: ...
    @property
    def options(self) -> Options: ...
    def configure(self, options: Options) -> None:
        """Use other options from the next call on. The state stays until it is updated.

        Raise OptionError for options of another learner, whose state has another meaning.
        """

    # --- one instance -------------------------------------------------------------------------
    def rank(
        self, instance: _Given, k: int = 5, threshold: float | None = None
    ) -> list[tuple[str, float]]:
        """The k best classes with a score above `threshold`, best first.

        Without one, all that were retrieved: those with a positive score, or with any score but 0
        where weights can be negative (learners pa, mmp, arow and svm); of a label tree (iplt and
        oplt), whose scores are probabilities, all classes, also for features it does not know.
        """

    def explain(
        self, instance: _Given, classes: Sequence[str], limit: int = 10
    ) -> list[list[tuple[str, float]]]:
        """For each class, the features that voted for it, or against, and what each gave, heaviest
        first; all of them add up to its score. Of a label tree, what each added to the log-odds of
        the nodes on the path to the class."""

    def paths(self, instance: _Given, classes: Sequence[str], limit: int = 10) -> list[list[Node]]:
        """For each class the nodes of a label tree below the root down to it, with at most `limit`
        features each; empty for a class that is not in it, and without a tree."""

    def probabilities(self, instance: _Given, classes: Sequence[str]) -> list[float]:
        """What each class scores in a label tree, best or not; 0 for one that is not in it."""

    def learn(self, instance: _Given, classes: Sequence[str], passes_done: int = 0) -> Learned:
        """Learn an instance; return its ranking right before."""

    def apply(self, event: Event) -> Learned:
        """Learn or forget, by the kind of the event; NOTHING_LEARNED unless it learned.

        Forgetting an unknown name changes nothing.
        """

    def forget_class(self, name: str) -> bool: ...
    def forget_feature(self, name: str) -> bool: ...
    def sparsify(self, edges: int) -> int:
        """Keep the heaviest edges, so many; return how many were removed.

        For a model of pa, mmp, arow or svm that was learned without a limit on outdegrees. Raise
        OptionError for other learners.
        """

    # --- many instances, as CSR arrays ------------------------------------------------------------
    def rank_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        k: int = 5,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Class ids (n, k), best first, -1 where there are fewer, and scores (n, k), 0 there.

        A change by another thread may come between blocks of 256 rows; an id it frees may then
        mean another class further down.
        """

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
    ) -> NDArray[np.int32]:
        """Learn the rows in order. Ranks (n,) as from `learn`. With passes_done > 0 the times seen
        are not counted again (offline training of several passes)."""

    def plant_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        classes: Columns,
        class_indptr: NDArray[np.int64],
        class_indices: NDArray[np.int32],
    ) -> bool:
        """Build a label tree over the classes of rows that are about to be learned.

        Return whether it was built: a learner other than `iplt`, or one that has learned before,
        does not change.
        """

    def class_ids(self, classes: Columns) -> NDArray[np.int32]:
        """The id of each named class, -1 for one that was never learned."""

    # --- looking inside ---------------------------------------------------------------------------
    @property
    def features(self) -> int: ...
    @property
    def classes(self) -> int: ...
    @property
    def edges(self) -> int: ...
    @property
    def bytes(self) -> int:
        """Bytes of the state as MAX_BYTES counts them; the same after a reload."""

    @property
    def resident_bytes(self) -> int:
        """Bytes that the state takes from the system now, free space inside it included."""

    @property
    def evicted_features(self) -> int: ...
    @property
    def evicted_classes(self) -> int: ...
    @property
    def learned(self) -> int:
        """Instances learned so far (N of tf-idf)."""

    @property
    def active_features_ranked(self) -> int:
        """Known active features of all retrievals since start, learning's too; no state."""

    @property
    def edges_touched(self) -> int:
        """Edges scored by all retrievals since start, learning's too; no state."""

    def has_class(self, name: str) -> bool: ...
    def has_feature(self, name: str) -> bool: ...
    def work(self) -> dict[str, int]:
        """Count the work done since start: no state, for tests and benchmarks.

        names_visited by listings, ids_looked_at by evictions, and rows_swept for forgotten classes.
        """

    def outdegrees(self) -> NDArray[np.int64]:
        """How many features have 0, 1, 2, ... edges; the last place counts 1,000 and more."""

    def feature(self, name: str) -> dict[str, object]:
        """times_seen, rating, outdegree, mass and edges [(class, weight)], heaviest first.

        Of a label tree, the weights with which the feature tells the classes of a pre-leaf apart.
        Raises UnknownName.
        """

    def class_(self, name: str, limit: int = 100) -> dict[str, object]:
        """learned and features [(feature, weight)], heaviest first. Reads every row.

        Raises UnknownName.
        """

    def class_page(self, prefix: str, after: str, limit: int) -> list[tuple[str, int]]:
        """(class, learned) in the order of the names' UTF-8 bytes, those after `after`."""

    def feature_page(self, prefix: str, after: str, limit: int) -> list[tuple[str, int]]:
        """(feature, times seen) in the order of the names' UTF-8 bytes, those after `after`."""

    def _hold(self, milliseconds: int) -> None:
        """Hold the lock until `_let_go`, or for so long: for tests of threads that wait for it."""

    def _let_go(self) -> None: ...
    @property
    def _is_held(self) -> bool: ...

    # --- state ----------------------------------------------------------------------------------
    def dump(self) -> dict[str, NDArray[np.generic]]:
        """The whole state as flat arrays, little-endian, the same for equal states."""

    @classmethod
    def load(
        cls, options: Options, sections: Mapping[str, NDArray[np.generic]], hash_seed: int = 0
    ) -> Index:
        """The index that was dumped; SnapshotError when the arrays do not make one."""

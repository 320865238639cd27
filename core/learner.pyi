from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, Self, final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.calibration import Calibration
from manyclass.core.columns import Columns
from manyclass.core.event import Event
from manyclass.core.evidence import Evidence
from manyclass.core.instance import Instance
from manyclass.core.learners.member import Member
from manyclass.core.learners.options import Options
from manyclass.core.outcome import Learned, MixtureWeights, Node, ScoreOfParts
from manyclass.core.sections import Sections
from manyclass.core.taxonomy import Taxonomy

MIXTURE_SECTION: Final[str]

_Given = Instance | Mapping[str, float] | Iterable[str | int]  # as the constructor of Instance

@final
class Learner:
    """A learner: a sparse index of features and their few weighted classes, a label tree above the
    classes, or a committee of such learners, which vote.

    An index ranks with RankedRetrieval (Madani et al., JMLR 2009, section 3), a tree by best-first
    search. The options define how both learn; docs/learners.md has every rule. The edges of a tree
    are its weights, each of a feature for a child of a node.

    Every event reaches every member of a committee; `subsample` and `shuffle` decide whether and
    when the member learns it. The committee has its own table of the classes of all events, with
    the limits of a learner; a class evicted from it is not ranked, even if a member still has it.
    The limit in bytes is divided evenly among that table, each member and each shuffle buffer.
    `bytes`, `edges`, evictions and work are sums over the members, `features` is the largest of
    them, and ratings, masses and weights are means, a member without a weight having one of 0.

    The same calls in the same order make the same state, byte for byte.
    Threads: any number may rank at once. A change waits for the current rankings and blocks later
    ones; while a committee learns, rankings may have votes of members that have learned the event
    and of others that have not. Array calls release the GIL for all their work, and no call waits
    with the GIL held.
    """

    def __new__(
        cls,
        options: Options,
        hash_seed: int = 0,
        taxonomy: Taxonomy | None = None,
        evidence: Evidence | None = None,
    ) -> Self:
        """Make a learner that has learned nothing.

        With the `evidence` of a model, it ranks by descriptions and vectors too. The model changes
        the evidence, after all learners that share it have learned an event.
        """

    def join(self, evidence: Evidence) -> None:
        """Rank by this evidence of a model too, from now on; call it at most once."""

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy that was given, or one of its own. Only a learner of a tree reads it."""

    @property
    def options(self) -> Options: ...
    @property
    def members(self) -> tuple[Member, ...]:
        """The members of a committee, none of another learner."""

    def configure(self, options: Options) -> None:
        """Use other options from the next call on. The state stays until the next update.

        Raise OptionError for options of another learner, or of a committee with members of other
        learners, whose state has another meaning.
        """

    # --- one instance -------------------------------------------------------------------------
    def rank(
        self,
        instance: _Given,
        k: int = 5,
        threshold: float | None = None,
        among: Iterable[str] | None = None,
    ) -> list[tuple[str, float]]:
        """Return the k best classes with a score above `threshold`, best first.

        Without a threshold, rank all retrieved classes: classes with a positive score, or with any
        score but 0 for learners with signed weights. A label tree retrieves all classes, also for
        unknown features; its scores are probabilities.

        Each member of a committee nominates 50 classes at most; for the vote by probability, as
        many as needed.

        With `among`, rank only the classes of these names, with the same scores; unknown names are
        left out. Each member of a committee then nominates all of these classes that it ranks.
        Raise InstanceError if `among` is not an array of names.
        """

    def explain(
        self, instance: _Given, classes: Sequence[str], limit: int = 10
    ) -> list[list[tuple[str, float]]]:
        """Return for each class the contributions of features, at most `limit`, largest first.

        All contributions add up to the score. For a label tree, they add to the log-odds of the
        nodes on the path to the class. For a committee they are parts of the mean of shares: the
        members' explanations are divided by the span of their scores (with the vote by probability
        they stay log-odds). These add up to the score of vote "score", unless a member has negative
        scores: its shares are then measured from its lowest score.
        """

    def explain_parts(
        self, instance: _Given, classes: Sequence[str], limit: int = 10
    ) -> list[ScoreOfParts] | None:
        """Return what words, descriptions and vectors give to the score of each class.

        Each has at most `limit` features of the description. None if the learner alone ranks the
        instance: there is no description, and no vector.
        """

    @property
    def mixture(self) -> MixtureWeights | None:
        """The weights of the parts of a score now; None without the evidence of a model."""

    def dump_mixture(self) -> dict[str, NDArray[np.generic]]:
        """Return the section of the mixture; none before the first outcome."""

    def load_mixture(self, sections: Sections) -> None:
        """Load the mixture of a snapshot, if it has one; SnapshotError."""

    def paths(self, instance: _Given, classes: Sequence[str], limit: int = 10) -> list[list[Node]]:
        """Return for each class its path in a label tree, from below the root to the leaf.

        A node has at most `limit` features. The path is empty without a tree, for a class that the
        tree lacks, and for a committee, whose members have paths of their own.
        """

    def probabilities(self, instance: _Given, classes: Sequence[str]) -> list[float]:
        """Return the score of each class in a label tree, ranked or not; 0 for an unknown class.

        For a committee, return the means over its members.
        """

    def learn(
        self,
        instance: _Given,
        classes: Sequence[str],
        epoch: int = 0,
        rejected: Sequence[str] = (),
        weight: float = 1.0,
    ) -> Learned:
        """Learn an instance; return its ranking from before the update.

        `rejected` are classes that are said to be wrong, `weight` says how much the instance
        counts. InstanceError if the learner cannot learn them, see docs/learners.md. With epoch > 0
        the times seen and the members' progressive accuracy do not count the instance again.
        """

    def apply(self, event: Event, calibration: Calibration | None = None) -> Learned:
        """Learn or forget, by the kind of the event; return NOTHING_LEARNED unless it learned.

        Forgetting an unknown name changes nothing. If the event has true classes, the outcome of
        its ranking is added to the calibration, with the class ranked first and the source.
        """

    def placed(self, names: list[str], before_learning: bool = False) -> None:
        """Note that the taxonomy has added, changed or removed the nodes of these names.

        With `before_learning` new ones are not ranked yet: the event that brought them is learned
        next, and they are given once more after it.

        Called after the change, by the thread that changes the learner.
        """

    def place_all(self) -> None:
        """Note all classes of the taxonomy, for a new learner; called as `placed` is."""

    def forget_class(self, name: str) -> bool: ...
    def rename_class(self, name: str, to: str) -> bool:
        """Give a class a name that no class has; return False, without a change, if it cannot be.

        Neither name may be in the taxonomy.
        """

    def forget_feature(self, name: str) -> bool: ...
    def drop_example(self, instance: Instance, classes: list[str]) -> int:
        """Keep an instance with these true classes no longer for replay or as a neighbor.

        Return how often it was kept.
        """

    def sparsify(self, edges: int) -> int:
        """Keep the `edges` heaviest edges; return the number of removed ones.

        Use it for a model with signed weights that was learned without a limit on outdegrees.
        Raise OptionError for other learners.
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
        """Return class ids (n, k), best first, padded with -1, and scores (n, k), padded with 0.

        Another thread may change the learner between blocks of at most 256 rows; a freed id may
        then stand for another class in later rows.
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
        epoch: int = 0,
        weights: NDArray[np.float32] | None = None,
        top_two: NDArray[np.float64] | None = None,
        calibration: Calibration | None = None,
        counts: NDArray[np.uint8] | None = None,
    ) -> NDArray[np.int32]:
        """Learn the rows in order; return ranks (n,) as from `learn`.

        The times seen are counted in epoch 0 only, for offline training of several epochs.
        `top_two` (n, 2) receives the two highest scores before each row was learned, `first` and
        `second` of `learn`. The calibration learns the outcome of each row, or, with `counts` (n,),
        of the rows where it is not 0. ValueError for other shapes.
        """

    def build_csr(
        self,
        features: Columns,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float32],
        classes: Columns,
        class_indptr: NDArray[np.int64],
        class_indices: NDArray[np.int32],
    ) -> bool:
        """Build a label tree over the classes of rows that will be learned next.

        Return True if a tree was built; a learner that does not build one offline, or that has
        learned before, does not change.
        """

    def class_ids(self, classes: Columns) -> NDArray[np.int32]:
        """Return the id of each named class, -1 for an unknown class."""

    # --- looking inside ---------------------------------------------------------------------------
    @property
    def features(self) -> int: ...
    @property
    def classes(self) -> int: ...
    @property
    def edges(self) -> int: ...
    @property
    def bytes(self) -> int:
        """Bytes of the state that count for MAX_BYTES; the same after a reload."""

    @property
    def resident_bytes(self) -> int:
        """Bytes of memory that the state occupies now, including free space inside."""

    @property
    def evicted_features(self) -> int: ...
    @property
    def evicted_classes(self) -> int: ...
    @property
    def neighbor_weight(self) -> float:
        """The weight of the vote of neighbors, by the outcomes so far; 0: it does not count."""

    @property
    def learned(self) -> int:
        """Instances learned so far (N of tf-idf)."""

    @property
    def active_features_ranked(self) -> int:
        """Known active features of all retrievals since start, also by learning; not saved."""

    @property
    def edges_touched(self) -> int:
        """Edges scored by all retrievals since start, also by learning; not saved."""

    def has_class(self, name: str) -> bool: ...
    def has_feature(self, name: str) -> bool: ...
    def work(self) -> dict[str, int]:
        """Return counts of the work since start, for tests and benchmarks; not saved.

        names_visited by listings, ids_looked_at by evictions, and rows_swept for forgotten classes.
        """

    def outdegrees(self) -> NDArray[np.int64]:
        """Return the numbers of features with 0, 1, 2, ... edges, at last with 1,000 and more."""

    def feature(self, name: str) -> dict[str, object]:
        """Return times_seen, rating, outdegree, mass and edges [(class, weight)], heaviest first.

        For a label tree, the edges are the feature's weights for classes at pre-leaves. Raise
        UnknownName.
        """

    def class_(self, name: str, limit: int = 100) -> dict[str, object]:
        """Return learned and features [(feature, weight)], heaviest first; read every row.

        Raise UnknownName.
        """

    def class_page(self, prefix: str, after: str, limit: int) -> list[tuple[str, int]]:
        """Return (class, learned) for names after `after`, in the order of UTF-8 bytes."""

    def classes_by(
        self, order: Literal["events", "newest"], prefix: str, after: str, limit: int
    ) -> list[tuple[str, int]]:
        """Return (class, learned) for classes after `after`: those learned most often first, or the
        newest first. The list is empty after a class that is gone. Reads every class.
        """

    @property
    def ranked_classes(self) -> int:
        """The number of classes that a ranking can have: the classes of the learner, and those of
        the model's evidence that the learner lacks. Reads every class of the evidence."""

    def unlearned_page(self, prefix: str, after: str, limit: int) -> list[tuple[str, int]]:
        """Return (class, number of events with a vector) for names after `after` of classes that
        the evidence of the model has and the learner has not, in the order of UTF-8 bytes. Part of
        an event counts as one."""

    def feature_page(self, prefix: str, after: str, limit: int) -> list[tuple[str, int]]:
        """Return (feature, times seen) for names after `after`, in the order of UTF-8 bytes."""

    def _hold(self, milliseconds: int) -> None:
        """Hold the lock until `_let_go` or the time is over, for tests of waiting threads."""

    def _let_go(self) -> None: ...
    @property
    def _is_held(self) -> bool: ...

    # --- state ----------------------------------------------------------------------------------
    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the whole state as flat little-endian arrays, the same for equal states."""

    @classmethod
    def load(
        cls,
        options: Options,
        sections: Mapping[str, NDArray[np.generic]],
        hash_seed: int = 0,
        taxonomy: Taxonomy | None = None,
        evidence: Evidence | None = None,
    ) -> Learner:
        """Return the dumped learner; raise SnapshotError for arrays that are not a valid state."""

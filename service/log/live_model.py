"""The model in use."""

from collections.abc import Callable
from typing import NamedTuple

from manyclass.core.learner import Learner
from manyclass.core.model import Model
from manyclass.service.errors import NotReady
from manyclass.service.log.recovery import Recovery


class LearnerCounts(NamedTuple):
    """The counts of the primary learner, which only grow."""

    evicted_features: int = 0
    evicted_classes: int = 0
    active_features_ranked: int = 0
    edges_touched: int = 0

    @classmethod
    def of(cls, learner: Learner) -> "LearnerCounts":
        """Return the counts of a learner, which may have begun before this process."""
        return cls(
            learner.evicted_features,
            learner.evicted_classes,
            learner.active_features_ranked,
            learner.edges_touched,
        )


class LiveModel:
    """The only reference to the model in use; a restore replaces it.

        no model ──► stand-in ──► current ──► stopped, or lost ──► current
                   (ranks only)  (ranks and    (ranks only)
                                   learns)

    A model is lost if it includes events that the log has lost. Belongs to the event loop's thread.
    """

    def __init__(self) -> None:
        self.recovery = Recovery()
        self.is_current = False  # the model equals the state of the log
        self.is_lost = False
        self.times_lost = 0
        self.on_model: Callable[[Model | None], None] = lambda _: (
            None
        )  # called with each model that ranks
        self._model: Model | None = None
        self._counted: Learner | None = None  # the primary learner
        self._counts_at_first = LearnerCounts()  # of the primary learner when it became primary
        self._counts_before = LearnerCounts()  # sum over former primary learners

    @property
    def model(self) -> Model:
        """The model in use. Raises NotReady before there is one."""
        if self._model is None:
            raise NotReady("recovering")
        return self._model

    @property
    def is_loaded(self) -> bool:
        """True if there is a model, current or not."""
        return self._model is not None

    @property
    def position(self) -> int | None:
        """The number of the last event applied by this process, which needs the log from there on.

        None while the process loads a snapshot.
        """
        if self.is_current:
            return self.model.seq
        restored = self.recovery.snapshot
        return None if restored is None else restored.seq + self.recovery.replayed

    def use(self, model: Model) -> None:
        """Make this the current model."""
        self._rank_with(model)
        self.is_current = True
        self.is_lost = False
        self.count_on()

    def stand_in(self, model: Model | None) -> None:
        """Rank with this model until there is a current one, unless there was one before."""
        if self._counted is None and model is not None:
            self._rank_with(model)

    def stop(self) -> None:
        """Note that the model no longer follows the log."""
        self.is_current = False

    def lose(self) -> None:
        """Mark the state as lost: it includes events that the log lost, or lacks trimmed ones."""
        self.is_current = False
        self.is_lost = True
        self.times_lost += 1

    def _rank_with(self, model: Model) -> None:
        self._model = model
        self.on_model(model)

    def counts(self) -> LearnerCounts:
        """Return the counts of all primary learners since this process had its first model."""
        if self._counted is None:
            return LearnerCounts()
        now = LearnerCounts.of(self._counted)
        each = zip(self._counts_before, now, self._counts_at_first, strict=True)
        return LearnerCounts(*(before + now - first for before, now, first in each))

    def count_on(self) -> None:
        """Start to count the present primary learner; call this after a possible change."""
        learner = self.model.learner
        if learner is not self._counted:
            self._counts_before = self.counts()
            self._counted, self._counts_at_first = learner, LearnerCounts.of(learner)

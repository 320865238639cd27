from collections.abc import Callable
from typing import final

from manyclass.core.enrolled import Enrolled
from manyclass.core.event import Event
from manyclass.core.evidence import Evidence
from manyclass.core.outcome import Outcome

@final
class PublishedLearner:
    """The primary learner of a model, as native code calls it; any thread may rank with it."""

    def __new__(cls) -> PublishedLearner: ...
    def use(self, enrolled: Enrolled, evidence: Evidence) -> None:
        """Publish this learner and the evidence of its model; wait until no thread ranks with the
        one before."""

    def learn(self, event: Event, clock: Callable[[], float] | None = None) -> Outcome | None:
        """Learn the next event as `Enrolled.apply` does; `clock` measures the seconds.

        Return None, and change nothing, unless it is a "learn" event without placements whose
        features are all above 0, the model has no taxonomy, and the learner can learn from it.
        """

    @staticmethod
    def has_memory() -> bool:
        """Return whether memory is reserved for the next change.

        With it, a change that has begun is finished even if the system has no memory left.
        """

    seq: int
    """The number of the last event that the model applied or passed over."""

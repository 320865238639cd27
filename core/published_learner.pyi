from collections.abc import Callable
from typing import final

from manyclass.core.enrolled import Enrolled
from manyclass.core.event import Event
from manyclass.core.outcome import Outcome

@final
class PublishedLearner:
    """The learner of a model that answers, as native code reaches it: on any thread to rank."""

    def __new__(cls) -> PublishedLearner: ...
    def use(self, enrolled: Enrolled) -> None:
        """Let this learner answer, once no thread ranks with the one before."""

    def learn(self, event: Event, clock: Callable[[], float] | None = None) -> Outcome | None:
        """Learn an event as the next one, as Enrolled.apply would; `clock` measures the time.

        None, with nothing changed, if the classes are in a taxonomy, for an event of another kind
        than "learn", with placements, without features, or of which the learner can learn nothing.
        """

    @staticmethod
    def has_memory() -> bool:
        """Return whether memory is set aside for the next change, which is then finished even if
        the system has none left.
        """

    seq: int
    """The number of the last event that the model has applied, or passed over."""

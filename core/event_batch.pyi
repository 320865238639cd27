from collections.abc import Sequence
from typing import Self, final

from manyclass.core.event import Event, Text
from manyclass.core.instance import Instance
from manyclass.core.published_learner import PublishedLearner
from manyclass.core.text import Reading, TextAnalysis

@final
class EventBatch:
    """Plain learn events in the order of the log, and their outcomes.

    A plain event has features and true classes, perhaps a source and a text, and neither an event
    id nor a weight, rejected classes, placements or a time.
    Threads: one at a time; `learn` releases the GIL.
    """

    def __new__(cls) -> Self: ...
    def add(
        self,
        instance: Instance,
        classes: Sequence[str],
        source: str | None = None,
        text: Text | None = None,
        reading: Reading | None = None,
    ) -> None:
        """Add an event; InstanceError for a bad name, ValueError without features or classes."""

    def __len__(self) -> int: ...
    @property
    def size(self) -> int:
        """The bytes of all payloads."""

    @property
    def is_full(self) -> bool:
        """True when further events belong to another batch."""

    @property
    def first_seq(self) -> int:
        """The number of the first event, 0 before `begin`."""

    @property
    def learned(self) -> int:
        """The number of events that are applied: the first ones of the batch."""

    def payloads(self) -> list[bytes]:
        """Return each event as its bytes in the log."""

    def events(self) -> list[Event]:
        """Return the events, to be applied one at a time."""

    def is_read_by(self, analysis: TextAnalysis) -> bool:
        """Return whether the instances of all texts are of this analysis."""

    def begin(self, first_seq: int) -> None:
        """Set the number of the first event; the others follow it."""

    def note(self, rank: int, is_updated: bool) -> None:
        """Note the outcome of the next event, which was applied by itself."""

    def learn(self, learner: PublishedLearner, seconds: float) -> None:
        """Learn the next events: at least one, and others for so many seconds.

        Each counts in `learned` and for the learner at once, also if a later one ends in an error.
        ValueError if no learner answers. Only without a taxonomy.
        """

    def ranks(self, first: int = 0) -> list[int]:
        """Return the ranks before learning of the events applied, from `first` on; 0: none."""

    def seconds(self, first: int = 0) -> list[float]:
        """Return how long learning each of them took."""

    def updated(self, first: int = 0) -> list[bool]:
        """Return whether each of them updated the learner."""

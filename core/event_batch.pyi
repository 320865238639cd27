from collections.abc import Sequence
from typing import Self, final

from manyclass.core.event import Event, Text
from manyclass.core.instance import Instance
from manyclass.core.published_learner import PublishedLearner
from manyclass.core.text import Reading, TextAnalysis

@final
class EventBatch:
    """Plain "learn" events in the order of the log, and their outcomes.

    A plain event has features above 0, a vector or both, true classes, and optionally a source, a
    reviewer, a batch and a text. It has no event id, weight, rejected classes, placements or time.
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
        reviewer: str | None = None,
        batch: str | None = None,
    ) -> None:
        """Add an event.

        Raise InstanceError for a bad name; ValueError without features and vector, for a value
        below 0, and without classes."""

    def __len__(self) -> int: ...
    @property
    def size(self) -> int:
        """The number of bytes of all payloads."""

    @property
    def is_full(self) -> bool:
        """True if the next event needs another batch."""

    @property
    def first_seq(self) -> int:
        """The seq of the first event, 0 before `begin`."""

    @property
    def learned(self) -> int:
        """The number of events applied so far, from the first one on."""

    def payloads(self) -> list[bytes]:
        """Return the bytes of each event, as the log stores them."""

    def events(self) -> list[Event]:
        """Return the events, to apply them one at a time."""

    def is_read_by(self, analysis: TextAnalysis) -> bool:
        """Return whether this analysis made the instances of all texts."""

    def has_vectors_of(self, dimension: int) -> bool:
        """Return whether all vectors of the batch have this dimension; true without any."""

    def begin(self, first_seq: int) -> None:
        """Set the seq of the first event; the others follow it."""

    def note(self, rank: int, is_updated: bool) -> None:
        """Store the outcome of the next event, which was applied outside the batch."""

    def learn(self, learner: PublishedLearner, seconds: float) -> None:
        """Learn the next event, and more until `seconds` have passed.

        Each event counts in `learned` and in the learner at once, so it stays learned if a later
        one raises an error. The classes must have no taxonomy. Raise ValueError if no learner is
        published.
        """

    def ranks(self, first: int = 0) -> list[int]:
        """Return the rank of each applied event, from `first` on; 0: it was not retrieved."""

    def seconds(self, first: int = 0) -> list[float]:
        """Return the seconds that learning took for each applied event, from `first` on."""

    def updated(self, first: int = 0) -> list[bool]:
        """Return whether each applied event updated the learner, from `first` on."""

from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.errors import SAME_MODEL as SAME_MODEL
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.sections import Sections

SECTIONS: Final[dict[str, str]]
SUMS: Final[tuple[str, ...]]
NOT_SUMS: Final[tuple[str, ...]]

@final
class Evidence:
    """The descriptions of the classes of a model, and sums of the vectors of past events: evidence
    beside the weights of the learners, which all of them share.

    Threads: any number may rank by it; one changes it.
    """

    def __new__(cls, hash_seed: int = 0) -> Evidence:
        """Create evidence of nothing. `hash_seed` salts the tables of names and has no
        effect on the state."""

    def limit(self, classes: int, size: int) -> None:
        """Keep the sums of at most so many classes, in at most so many bytes; 0: no limit.

        At a limit, the class whose newest vector is the oldest is evicted.
        """

    def __bool__(self) -> bool:
        """Return whether there is a description or a vector."""

    def __contains__(self, name: str, /) -> bool:
        """Return whether a class has a description, or vectors of events."""

    @property
    def dimension(self) -> int:
        """The dimension of all vectors, 0 before the first."""

    def check(self, instance: Instance) -> None:
        """Raise InstanceError if the vector of an instance has another dimension."""

    def describe(self, name: str, instance: Instance, since: int = 0) -> None:
        """Replace the description of a class by these features of its texts, and its vector.

        `since` is the number of the event that first described it. An instance without features and
        vector ranks no class; with 0 as `since`, it removes the description."""

    def learn(self, event: Event, seq: int) -> None:
        """Add the vector of the event with this number, if it has one, to its classes."""

    def amend(self, event: Event, seq: int) -> None:
        """Take the vector of the target of an "amend" event back, and add it to its new classes."""

    def forget(self, name: str) -> None:
        """Forget the sums of a class; its description stays."""

    def rename(self, name: str, to: str) -> None:
        """Rename a class, or add its sums to those of the class `to`."""

    def sizes(self) -> dict[str, int]:
        """Return the numbers of classes with a description and of classes with vectors, the number
        of events with vectors, the dimension, and the bytes."""

    @property
    def bytes_of_descriptions(self) -> int:
        """The bytes of memory that the descriptions take, with their vectors: an estimate."""

    def events_of(self, name: str) -> float:
        """Return the number of events, by their weights, whose vectors a class has."""

    @property
    def resident_bytes(self) -> int: ...
    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the sections of the sums; none without vectors of events."""

    @classmethod
    def load(cls, sections: Sections, hash_seed: int = 0) -> Evidence:
        """Return the evidence of a snapshot, without descriptions. Raise SnapshotError."""

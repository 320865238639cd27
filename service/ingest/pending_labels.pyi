from collections.abc import Callable
from typing import Final, final

from manyclass.core.instance import Instance
from manyclass.service.ingest.stored_instance import Absence, StoredInstance

MOST_FORGOTTEN: Final[int]
AGED_AT_ONCE: Final[int]

@final
class PendingLabels:
    """Stores ranked instances until their label comes, for a time and within a byte limit.

    All of this is in memory only: after a restart no id was ever seen.
    """

    def __new__(
        cls,
        seconds: float,
        most_bytes: int,
        clock: Callable[[], float],
        most_forgotten: int = ...,
        aged_at_once: int = ...,
    ) -> PendingLabels:
        """Begin empty.

        Of clients' ids whose instance is gone `most_forgotten` are remembered. A call forgets
        `aged_at_once` outdated instances at most, unless memory is short.
        """

    def __len__(self) -> int: ...
    @property
    def bytes(self) -> int:
        """The memory that the instances take."""

    def keep(self, instance: Instance, given_id: str | None = None) -> str:
        """Store an instance and return its id: the given one, or a new unique one.

        When an id comes again, the newest instance counts.
        """

    def find(self, instance_id: str) -> StoredInstance | Absence:
        """Return the instance of an id, or the reason why there is none."""

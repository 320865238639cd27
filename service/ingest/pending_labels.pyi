from collections.abc import Callable, Iterable, Sequence
from typing import Final, final

from manyclass.core.event import Text
from manyclass.core.instance import Instance
from manyclass.core.text import Reading
from manyclass.service.ingest.stored_instance import (
    Absence,
    ServedClasses,
    StoredInstance,
    WaitingInstance,
)

MOST_FORGOTTEN: Final[int]
AGED_AT_ONCE: Final[int]
MOST_SERVED: Final[int]  # classes of a ranking

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
        keeps_texts: bool = ...,
        most_forgotten: int = ...,
        aged_at_once: int = ...,
    ) -> PendingLabels:
        """Begin empty. Texts are dropped unless it `keeps_texts`.

        Of clients' ids whose instance is gone `most_forgotten` are remembered. A call forgets
        `aged_at_once` outdated instances at most, unless memory is short.
        """

    def __len__(self) -> int: ...
    @property
    def bytes(self) -> int:
        """The memory that the instances and their rankings take."""

    def keep(
        self,
        instance: Instance,
        given_id: str | None = None,
        ranked: Sequence[str] = ...,
        confidence: float | None = None,
        abstained: bool = False,
        source: str | None = None,
        text: Text | None = None,
        reading: Reading | None = None,
    ) -> str:
        """Store an instance and return its id: the given one, or a new unique one.

        When an id comes again, the newest instance counts. `ranked` are the classes served, best
        first, of which five are stored; an abstention has classes here too. `source`, and `text`
        with its `reading`, are stored, if there are any.
        """

    def find(self, instance_id: str) -> StoredInstance | Absence:
        """Return the instance of an id, or the reason why there is none."""

    def label(self, number: int) -> ServedClasses | None:
        """Note that the label of the instance with this number has come, and return its ranking.

        None if a label had come before, or the instance is no longer stored.
        """

    def erase(self, source: str | None, ids: Iterable[str] = ()) -> int:
        """Overwrite all instances of a source, and the newest instance of each id; return their
        number. They do not wait any more, and are too late for a label.
        """

    @property
    def newest(self) -> int:
        """The number of the newest instance, 0 before the first."""

    def least_certain(
        self, most: int, source: str | None = None, after: int = 0
    ) -> list[WaitingInstance]:
        """Return instances that wait for a label, least certain first, those without a confidence
        before all others; of equal ones the oldest first. With `source`, only those of it, and only
        instances behind the number `after`.

        Instances without features never wait. Other threads may store instances meanwhile.
        """

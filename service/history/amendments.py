"""The amendments that wait for a rebuild, by the event that each corrects or deletes."""

from collections.abc import Iterable
from typing import NamedTuple

from manyclass.core.event import Event


class Amended(NamedTuple):
    """The newest amendment of an event: its number, and the classes in force; none: deleted."""

    seq: int
    classes: tuple[str, ...]


class Amendments:
    """Amendments since the last rebuild. One thread notes them, any may look them up."""

    def __init__(self) -> None:
        self._of: dict[int, Amended] = {}

    def __len__(self) -> int:
        """Return how many events are amended."""
        return len(self._of)

    def note(self, seq: int, event: Event) -> None:
        """Note an applied "amend" event."""
        self._of[event.target] = Amended(seq, tuple(event.classes))

    def note_all(self, events: Iterable[tuple[int, bytes]]) -> None:
        """Note those of the log or of a segment that amend others."""
        for seq, payload in events:
            if Event.amends(payload):
                self.note(seq, Event.from_bytes(payload))

    def of(self, seq: int) -> Amended | None:
        """Return the newest amendment of an event."""
        return self._of.get(seq)

    def waiting(self) -> dict[int, Amended]:
        """Return a copy of all, by the number of the amended event."""
        return dict(self._of)

    def settle(self, settled: dict[int, Amended]) -> None:
        """Forget amendments that a rebuild has applied, unless the event was amended again."""
        for target, amended in settled.items():
            if self._of.get(target) == amended:
                del self._of[target]

    @property
    def oldest_seq(self) -> int | None:
        """The number of the oldest amendment."""
        return min((each.seq for each in list(self._of.values())), default=None)

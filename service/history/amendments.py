"""The amendments that wait for a rebuild, by the event that each corrects or deletes."""

from collections.abc import Iterable
from typing import NamedTuple

from manyclass.core.event import Event


class Amended(NamedTuple):
    """The newest amendment of an event: its number, and the classes in force, empty if deleted.

    `time` is in Unix milliseconds, 0 if it is not known. With a `reviewer`, the event has this one.
    """

    seq: int
    classes: tuple[str, ...]
    time: int = 0
    reviewer: str | None = None


class Amendments:
    """The amendments since the last rebuild. One thread notes them; any thread may read them."""

    def __init__(self) -> None:
        self._of: dict[int, Amended] = {}

    def __len__(self) -> int:
        """Return the number of amended events."""
        return len(self._of)

    def note(self, seq: int, event: Event, time: int = 0) -> None:
        """Note an applied "amend" event, and its time in Unix milliseconds."""
        before = self._of.get(event.target)
        reviewer = event.reviewer or (before.reviewer if before is not None else None)
        self._of[event.target] = Amended(seq, tuple(event.classes), time, reviewer)

    def note_all(self, events: Iterable[tuple[int, bytes, int]]) -> None:
        """Note those of the dated events that amend others."""
        for seq, payload, time in events:
            if Event.amends(payload):
                self.note(seq, Event.from_bytes(payload), time)

    def of(self, seq: int) -> Amended | None:
        """Return the newest amendment of an event."""
        return self._of.get(seq)

    def reassigned(self) -> set[int]:
        """Return the events whose amendment has a reviewer."""
        return {seq for seq, each in list(self._of.items()) if each.reviewer is not None}

    def waiting(self) -> dict[int, Amended]:
        """Return a copy of all amendments, by the number of the amended event."""
        return dict(self._of)

    def settle(self, settled: dict[int, Amended]) -> None:
        """Forget amendments that a rebuild has applied, unless the event was amended again."""
        for target, amended in settled.items():
            if self._of.get(target) == amended:
                del self._of[target]

    def renew(self, events: Iterable[tuple[int, bytes, int]], last_seq: int | None = None) -> None:
        """Replace the amendments up to event `last_seq`, or all, by those among these events."""
        found = Amendments()
        found.note_all(events)
        kept = [] if last_seq is None else list(self._of.items())
        later = {target: each for target, each in kept if each.seq > (last_seq or 0)}
        self._of = found._of | later

    @property
    def erasures(self) -> int:
        """The number of amended events that are deleted."""
        return sum(not each.classes for each in list(self._of.values()))

    @property
    def oldest_time(self) -> int | None:
        """The time of the oldest amendment in Unix milliseconds, None if it is not known."""
        oldest = min(list(self._of.values()), default=None)
        return oldest.time or None if oldest is not None else None

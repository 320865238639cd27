"""The events that a member of a committee keeps back, to learn them in another order."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from manyclass.core.aliases import renamed
from manyclass.core.errors import EventError, SnapshotError
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.sections import Sections, need, runs

EVENT_BYTES = 100  # counted for an event beside its own bytes

SECTIONS = {"waiting_events": "u1", "waiting_sizes": "<u8", "waiting_first_pass": "u1"}


class ShuffleBuffer:
    """Learn events, each with a mark for the first epoch. `bytes` is their size as counted."""

    def __init__(self) -> None:
        self.bytes = 0
        self._events: list[tuple[bytes, bool]] = []

    def __len__(self) -> int:
        return len(self._events)

    def add(self, event: Event, is_first_epoch: bool) -> None:
        """Add an event."""
        self._append(bytes(event), is_first_epoch)

    def take(self, drawn: int) -> tuple[Event, bool]:
        """Remove the event that a drawn number, of any size, picks; the last takes its place."""
        place = drawn % len(self._events)
        (event, is_first_epoch), last = self._events[place], self._events.pop()
        if place < len(self._events):
            self._events[place] = last
        self.bytes -= len(event) + EVENT_BYTES
        return Event.from_bytes(event), is_first_epoch

    # --- forgetting -------------------------------------------------------------------------------

    def has_class(self, name: str) -> bool:
        """Return whether an event has the class."""
        return any(name in event.classes or name in event.rejected for event in self._with(name))

    def has_feature(self, name: str) -> bool:
        """Return whether the feature is active in an event."""
        return any(name in dict(event.instance.items()) for event in self._with(name))

    def forget_class(self, name: str) -> bool:
        """Remove the class from every event, and events without another class."""
        return self._rewrite(name, _without_class)

    def rename_class(self, name: str, to: str) -> bool:
        """Replace the class in every event."""
        return self._rewrite(name, lambda event, old: renamed(event, {old: to}))

    def forget_feature(self, name: str) -> bool:
        """Remove the feature from every event."""
        return self._rewrite(name, _without_feature)

    def drop(self, instance: Instance, classes: list[str]) -> int:
        """Remove the events with this instance and these true classes; return how many."""
        wire = bytes(instance)
        kept = [
            (event, first)
            for event, first in self._events
            if not (event.endswith(wire) and Event.from_bytes(event).classes == classes)
        ]
        dropped = len(self._events) - len(kept)
        self._events, self.bytes = [], 0
        for event, first in kept:
            self._append(event, first)
        return dropped

    def _with(self, name: str) -> list[Event]:
        """Return the events in whose bytes the name occurs, as a name or by chance."""
        encoded = name.encode()
        return [Event.from_bytes(event) for event, _ in tuple(self._events) if encoded in event]

    def _rewrite(self, name: str, without: Callable[[Event, str], Event | None]) -> bool:
        encoded = name.encode()
        before, self._events, self.bytes = self._events, [], 0
        for event, is_first_epoch in before:
            if encoded not in event:
                self._append(event, is_first_epoch)
            elif (left := without(Event.from_bytes(event), name)) is not None:
                self._append(bytes(left), is_first_epoch)
        return self._events != before

    def _append(self, event: bytes, is_first_epoch: bool) -> None:
        self._events.append((event, is_first_epoch))
        self.bytes += len(event) + EVENT_BYTES

    # --- state ------------------------------------------------------------------------------------

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the events as flat arrays."""
        joined = b"".join(event for event, _ in self._events)
        return {
            "waiting_events": np.frombuffer(joined, "u1"),
            "waiting_sizes": np.array([len(event) for event, _ in self._events], "<u8"),
            "waiting_first_pass": np.array([first for _, first in self._events], "u1"),
        }

    @classmethod
    def load(cls, sections: Sections) -> "ShuffleBuffer":
        """Return the buffer that was dumped; SnapshotError when the arrays do not make one."""
        arrays = runs(sections, SECTIONS)
        joined = arrays["waiting_events"].tobytes()
        sizes: list[int] = arrays["waiting_sizes"].tolist()
        first_epochs: list[int] = arrays["waiting_first_pass"].tolist()
        need(sum(sizes) == len(joined), "waiting_sizes", "they do not add up to the events' bytes")
        one_each = len(first_epochs) == len(sizes) and {*first_epochs} <= {0, 1}
        need(one_each, "waiting_first_pass", "an event is of no pass")
        waiting, at = cls(), 0
        for size, is_first in zip(sizes, first_epochs, strict=True):
            try:
                event = Event.from_bytes(joined[at : at + size])
            except EventError as error:
                raise SnapshotError(str(error), "waiting_events") from error
            need(event.kind == "learn", "waiting_events", f"a {event.kind} event cannot wait")
            waiting.add(event, is_first == 1)
            at += size
        return waiting


def _without_class(event: Event, name: str) -> Event | None:
    classes = [other for other in event.classes if other != name]
    rejected = [other for other in event.rejected if other != name]
    if not classes and not rejected:
        return None
    return Event.learn(event.instance, classes, rejected=rejected, weight=event.weight)


def _without_feature(event: Event, name: str) -> Event:
    left = {feature: value for feature, value in event.instance.items() if feature != name}
    instance = Instance(left)
    return Event.learn(instance, event.classes, rejected=event.rejected, weight=event.weight)

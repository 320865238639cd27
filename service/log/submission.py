"""Submissions: the events of one call, from the queue to their answer."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from manyclass.core.errors import RequestConflict
from manyclass.core.event import Event
from manyclass.core.model import Model
from manyclass.service.log.request import Request, Result

NAME_BYTES = 64  # approximate memory of a name besides its own bytes


class Submission:
    """The events of one call on their way through the log, and the answer for the caller.

    entries    event   Result   event   event      as submitted; a Result is a known retry
    known              Result           Result     grows when retries are set aside
    new        event            event              to be logged
    """

    __slots__ = (
        "_entries",
        "_is_joined",
        "_known",
        "answer",
        "arrived_at",
        "closed",
        "count",
        "durable",
        "has_ids",
        "held",
        "new",
        "outcome",
        "sent",
        "size",
    )

    def __init__(
        self,
        entries: Sequence[Event | Result],
        arrived_at: float,
        answer: "asyncio.Future[list[Result]]",
    ) -> None:
        self._entries = entries
        self._known = {at: each for at, each in enumerate(entries) if isinstance(each, Result)}
        self.new = [each for each in entries if isinstance(each, Event)]
        self.has_ids = any(event.event_id is not None for event in self.new)
        self._is_joined = self.has_ids or any(event.parents for event in self.new)
        self.count = len(self.new)  # number of new events when submitted
        self.size = sum(len(bytes(event)) for event in self.new)  # bytes in the log
        self.held = self.size + sum(map(_names_bytes, self.new))  # bytes in memory
        self.arrived_at = arrived_at
        self.answer = answer
        self.closed = False  # answered or cancelled
        self.sent = False  # passed to the store
        self.durable = False
        # of `new`, applied
        self.outcome: list[Result] | RequestConflict | None = None if self.new else []

    def set_aside(self, model: Model) -> None:
        """Keep retries of applied events out of the log. Raises RequestConflict.

        Retries of events that are not yet applied are recognised when they are applied.
        """
        if not self.has_ids:
            return
        try:
            repeated = model.repeats(self.new)
        except RequestConflict as conflict:
            raise self.placed(conflict) from None
        applied = {at: seq for at, seq in repeated.items() if seq <= model.seq}
        if applied:
            positions = self._positions()
            self._known |= {positions[at]: Result.of_retry(seq) for at, seq in applied.items()}
            self.new = [event for at, event in enumerate(self.new) if at not in applied]
            self.outcome = None if self.new else []

    def payloads(self) -> Iterator[bytes]:
        """Yield the new events as bytes for the log. Not for the event loop: there may be many."""
        for at, event in enumerate(self.new):
            # A conflict of one event with an id or placements excludes the whole request.
            yield bytes(event.join() if self._is_joined and at else event)

    @property
    def applied(self) -> bool:
        """True if the events are applied, or a conflict excluded them."""
        return self.outcome is not None

    def request(self, on_applied: Callable[[], None]) -> Request:
        """Return the new events for the apply loop, which calls `on_applied` after the last."""

        def note(outcome: list[Result] | RequestConflict) -> None:
            self.outcome = outcome
            on_applied()

        return Request(self.new, note)

    def conflict(self) -> RequestConflict | None:
        """Return the conflict that excluded all events; call this only once."""
        if isinstance(self.outcome, RequestConflict):
            return self.placed(self.outcome)
        return None

    def finish(self) -> None:
        """Answer the caller with the results of the applied events."""
        assert isinstance(self.outcome, list)
        self.answer.set_result(self.in_order(self.outcome))

    def in_order(self, results: list[Result]) -> list[Result]:
        """Return the results of all entries in order, from the results of the new events."""
        if not self._known:
            return results
        of_new = iter(results)
        return [self._known.get(at) or next(of_new) for at in range(len(self._entries))]

    def placed(self, conflict: RequestConflict) -> RequestConflict:
        """Return the conflict with its position among all entries instead of the new events."""
        conflict.position = self._positions()[conflict.position]
        return conflict

    def _positions(self) -> list[int]:
        """Return the positions of the new events among all entries."""
        return [at for at in range(len(self._entries)) if at not in self._known]


def _names_bytes(event: Event) -> int:
    """Return the bytes of an event's class names as objects, besides its wire form."""
    names = (*event.classes, *event.rejected)
    return NAME_BYTES * len(names) + sum(map(len, names))

"""Submissions of plain events, from the queue to their answer."""

import asyncio
from collections.abc import Callable

from manyclass.core.event_batch import EventBatch
from manyclass.core.model import Model
from manyclass.service.log.request import BatchRequest


class BatchSubmission:
    """Plain events of many clients on their way through the log; see Submission.

    No event of them can be a retry or a conflict, so one cannot keep another out.
    """

    __slots__ = (
        "answer",
        "applied",
        "arrived_at",
        "closed",
        "count",
        "durable",
        "held",
        "new",
        "sent",
        "size",
    )

    def __init__(
        self, batch: EventBatch, arrived_at: float, answer: "asyncio.Future[EventBatch]"
    ) -> None:
        self.new = batch
        self.count = len(batch)
        self.size = self.held = batch.size
        self.arrived_at = arrived_at
        self.answer = answer
        self.closed = False  # answered, or given up
        self.sent = False  # to the store
        self.durable = False
        self.applied = False

    def set_aside(self, model: Model) -> None:
        """Do nothing: there are no retries among the events."""

    def payloads(self) -> list[bytes]:
        """Return the events as bytes for the log."""
        return self.new.payloads()

    def request(self, on_applied: Callable[[], None]) -> BatchRequest:
        """Return the events for the apply loop, which calls `on_applied` at the end."""

        def note() -> None:
            self.applied = True
            on_applied()

        return BatchRequest(self.new, note)

    def conflict(self) -> None:
        """Return None: no event can be in conflict with another."""

    def finish(self) -> None:
        """Give the caller the applied events."""
        self.answer.set_result(self.new)

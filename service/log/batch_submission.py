"""Submissions of plain events, from the queue to the answer."""

import asyncio
from collections.abc import Callable

from manyclass.core.event_batch import EventBatch
from manyclass.core.model import Model
from manyclass.service.log.request import BatchRequest


class BatchSubmission:
    """Plain events of many clients on their way through the log; see Submission.

    A plain event can be neither a retry nor in conflict, so none of them excludes another.
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
        self.closed = False  # answered or cancelled
        self.sent = False  # passed to the store
        self.durable = False
        self.applied = False

    def set_aside(self, model: Model) -> None:
        """Do nothing, because plain events are never retries."""

    def payloads(self) -> list[bytes]:
        """Return the events as bytes for the log."""
        return self.new.payloads()

    def request(self, on_applied: Callable[[], None]) -> BatchRequest:
        """Return the events for the apply loop, which calls `on_applied` after the last."""

        def note() -> None:
            self.applied = True
            on_applied()

        return BatchRequest(self.new, note)

    def conflict(self) -> None:
        """Return None, because plain events are never in conflict."""

    def finish(self) -> None:
        """Answer the caller with the applied events."""
        self.answer.set_result(self.new)

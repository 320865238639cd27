"""Requests: events that are applied together or not at all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from manyclass.core.errors import RequestConflict
from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.outcome import Outcome


class Result(NamedTuple):
    """The result of one event; a retry has the number of the event that it repeats."""

    seq: int
    duplicate: bool
    rank: int | None
    updated: bool

    @classmethod
    def of(cls, outcome: Outcome | int) -> "Result":
        """Return the result of an applied event, or of a retry of the event with this number."""
        if isinstance(outcome, int):
            return cls.of_retry(outcome)
        return cls(outcome.seq, False, outcome.rank, outcome.updated)

    @classmethod
    def of_retry(cls, seq: int) -> "Result":
        """Return the result of a retry of event `seq`."""
        return cls(seq, True, None, False)


@dataclass(frozen=True, slots=True)
class Request:
    """The events of one request in the log.

    `on_applied` receives the result of each event, or the conflict that excluded all of them.
    """

    events: Sequence[Event]
    on_applied: Callable[[list[Result] | RequestConflict], None]


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """Plain events of several requests, consecutive in the log.

    `on_applied` is called when all are applied; the batch has the outcomes.
    """

    batch: EventBatch
    on_applied: Callable[[], None]

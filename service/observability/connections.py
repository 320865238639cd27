"""The counts of connections and of the queue of review, from the parts that have them."""

from typing import NamedTuple, Protocol


class ConnectionCounts(NamedTuple):
    """The numbers of connections and of bytes they hold, with limits, and refusals since the start.

    `shed` counts the refusals that limited the load, by reason.
    """

    connections: int
    connections_limit: int
    buffered_bytes: int
    buffered_limit_bytes: int
    bad_requests: int
    shed: dict[str, int]


class ConnectionLimits(Protocol):
    """The part that limits and counts connections."""

    def counts(self) -> ConnectionCounts:
        """Return the present counts."""


class ReviewFigures(Protocol):
    """The queue of instances that wait for review."""

    items: int
    bytes: int

    @property
    def failures(self) -> int:
        """The number of errors of the store."""

    @property
    def failing(self) -> str | None:
        """The reason why the store does not take instances now, or cannot be read."""

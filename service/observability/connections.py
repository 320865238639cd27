"""The counts of connections, from the part that limits them."""

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

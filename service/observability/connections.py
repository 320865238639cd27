"""The counts of connections, as the part that limits them has them."""

from typing import NamedTuple, Protocol


class ConnectionCounts(NamedTuple):
    """Connections and the bytes that they hold, with their limits, and refusals since the start.

    `shed` counts the refusals that limited the load, by their reason.
    """

    connections: int
    connections_limit: int
    buffered_bytes: int
    buffered_limit_bytes: int
    bad_requests: int
    shed: dict[str, int]


class ConnectionLimits(Protocol):
    """Limits connections, and counts them."""

    def counts(self) -> ConnectionCounts:
        """Return the present counts."""

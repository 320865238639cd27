"""Limits and counts that all connections share."""

from typing import Protocol

from manyclass.service.config.settings import Settings
from manyclass.service.http.admission import Admission
from manyclass.service.http.cors import Cors
from manyclass.service.http.fault_log import FaultLog
from manyclass.service.http.memory_budget import MemoryBudget


class Connection(Protocol):
    """The part of a connection that the limits use."""

    def close_if_idle(self) -> bool:
        """Close the connection unless a request is under way; return whether it was closed."""


class Limits:
    """Limits on memory, rankings and connections, and counts of refusals.

    `idle` holds the connections whose next request has no complete head yet, the longest idle
    first. They have shown no key, so at the limit the first is closed in favour of a new one.
    """

    def __init__(self, settings: Settings) -> None:
        self.budget = MemoryBudget(settings.max_buffered_bytes)
        self.admission = Admission(
            settings.max_concurrent, settings.max_burst, settings.max_concurrent_bytes
        )
        self.faults = FaultLog()
        self.cors = Cors(settings.allowed_origins)
        self.max_connections = settings.max_connections
        self.connections = 0
        self.idle: dict[Connection, None] = {}  # a set in order of insertion
        self.rejected_connections = 0  # above MAX_CONNECTIONS
        self.closed_idle = 0  # idle connections closed for new ones
        self.slow_readers = 0  # connections closed because their answers were not read
        self.bad_requests = 0  # that are not HTTP

    def admit(self, connection: Connection) -> bool:
        """Count a new connection; return False when there are too many and none is idle."""
        self.connections += 1
        if self.connections > self.max_connections:
            closed = next((each for each in self.idle if each.close_if_idle()), None)
            if closed is None:
                self.rejected_connections += 1
                return False
            del self.idle[closed]
            self.closed_idle += 1
        self.idle[connection] = None
        return True

    def forget(self, connection: Connection) -> None:
        """Remove a lost connection from the count."""
        self.connections -= 1
        self.idle.pop(connection, None)

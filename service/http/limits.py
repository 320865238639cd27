"""Limits and counts that all connections share."""

from typing import Protocol

from manyclass.service.config.settings import Settings
from manyclass.service.http.admission import Admission
from manyclass.service.http.cors import Cors
from manyclass.service.http.fault_log import FaultLog
from manyclass.service.http.memory_budget import MemoryBudget
from manyclass.service.observability.connections import ConnectionCounts


class Connection(Protocol):
    """The part of a connection that the limits use."""

    def close_if_idle(self) -> bool:
        """Close the connection unless a request is under way; return whether it was closed."""


class Workers(Protocol):
    """The connections that are not on the event loop."""

    @property
    def running(self) -> bool:
        """True while they can be given connections."""

    @property
    def connections(self) -> int:
        """The connections they have, and those on their way to and from the event loop."""

    @property
    def closed_idle(self) -> int:
        """The idle connections they closed in favour of new ones."""

    def note_connections(self, count: int) -> None:
        """Let them know how many connections the event loop has."""

    def note_taken_over(self) -> None:
        """Count a connection handed over no longer: the event loop counts it now."""

    def close_idle(self) -> bool:
        """Let them close the longest idle connection; return False when none is idle."""

    def give(self, connection: "Socket") -> None:
        """Let them go on with a connection between two requests."""


class Socket(Protocol):
    """The part of a socket that workers use."""

    def fileno(self) -> int:
        """Return its descriptor."""


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
        self.max_connections = settings.max_connections  # fewer if too few files may be open
        self.workers: Workers | None = None  # with connections of their own
        self._own = set[Connection]()  # of the event loop
        self.idle: dict[Connection, None] = {}  # a set in order of insertion
        self.rejected_connections = 0  # above MAX_CONNECTIONS
        self._closed_idle = 0  # idle connections closed for new ones
        self.slow_readers = 0  # connections closed because their answers were not read
        self.bad_requests = 0  # that are not HTTP

    def admit(self, connection: Connection, handed_over: bool = False) -> bool:
        """Count a connection; return False when there are too many and none is idle.

        It is new, or `handed_over` by a worker.
        """
        if handed_over and self.workers is not None:
            self.workers.note_taken_over()  # before the loop counts it, or it would count twice
        self._own.add(connection)
        self._note_count()
        if self.connections > self.max_connections and not self._close_idle():
            self.rejected_connections += 1
            return False
        self.idle[connection] = None
        return True

    def _close_idle(self) -> bool:
        """Close the longest idle connection; return False when none is idle."""
        closed = next((each for each in self.idle if each.close_if_idle()), None)
        if closed is None:
            return self.workers is not None and self.workers.close_idle()
        del self.idle[closed]
        self._closed_idle += 1
        return True

    def forget(self, connection: Connection) -> None:
        """Remove a connection from the count that is lost, or on its way to a worker."""
        self._own.discard(connection)
        self._note_count()
        self.idle.pop(connection, None)

    def keep(self, connection: Connection) -> None:
        """Count an idle connection again that no worker could take."""
        self._own.add(connection)
        self._note_count()
        self.idle[connection] = None

    @property
    def connections(self) -> int:
        """The connections of the event loop and of the workers."""
        return len(self._own) + (0 if self.workers is None else self.workers.connections)

    @property
    def closed_idle(self) -> int:
        """The idle connections closed in favour of new ones."""
        return self._closed_idle + (0 if self.workers is None else self.workers.closed_idle)

    def counts(self) -> ConnectionCounts:
        """Return the present counts, for the metrics."""
        return ConnectionCounts(
            connections=self.connections,
            connections_limit=self.max_connections,
            buffered_bytes=self.budget.used,
            buffered_limit_bytes=self.budget.limit,
            bad_requests=self.bad_requests,
            shed={
                "concurrency": self.admission.shed,
                "connections": self.rejected_connections,
                "idle_connection": self.closed_idle,
                "memory": self.budget.refused,
                "reads": self.admission.shed_reads,
                "slow_reader": self.slow_readers,
            },
        )

    def _note_count(self) -> None:
        if self.workers is not None:
            self.workers.note_connections(len(self._own))

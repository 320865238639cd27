"""The limits and counts that all connections share."""

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
        """Close the connection unless a request is in progress; return whether it was closed."""


class Workers(Protocol):
    """The workers, which have the connections that are not on the event loop."""

    @property
    def running(self) -> bool:
        """True while the workers accept connections."""

    @property
    def connections(self) -> int:
        """The number of their connections, including those on the way to or from the event loop."""

    @property
    def closed_idle(self) -> int:
        """The number of idle connections that they closed in favour of new ones."""

    def note_connections(self, count: int) -> None:
        """Note the number of connections of the event loop."""

    def note_taken_over(self) -> None:
        """Stop counting a handed-over connection; the event loop counts it from now on."""

    def close_idle(self) -> bool:
        """Close the connection that has been idle longest; return False if none is idle."""

    def give(self, connection: "Socket") -> None:
        """Give a connection to a worker between two requests."""


class Socket(Protocol):
    """The part of a socket that workers use."""

    def fileno(self) -> int:
        """Return its descriptor."""


class Limits:
    """The limits on memory, rankings and connections, and the counts of refusals.

    `idle` has the connections whose next request has no complete head yet, longest idle first.
    Their keys are unknown, so at the limit the first is closed in favour of a new connection.
    """

    def __init__(self, settings: Settings) -> None:
        self.budget = MemoryBudget(settings.max_buffered_bytes)
        self.admission = Admission(
            settings.max_concurrent, settings.max_burst, settings.max_concurrent_bytes
        )
        self.faults = FaultLog()
        self.cors = Cors(settings.allowed_origins)
        self.max_connections = settings.max_connections  # fewer if too few files may be open
        self.workers: Workers | None = None  # they have connections of their own
        self._own = set[Connection]()  # the connections of the event loop
        self.idle: dict[Connection, None] = {}  # a set in order of insertion
        self.rejected_connections = 0  # beyond MANYCLASS_MAX_CONNECTIONS
        self._closed_idle = 0  # idle connections closed for new ones
        self.slow_readers = 0  # connections closed because their answers were not read
        self.bad_requests = 0  # requests that are not HTTP

    def admit(self, connection: Connection, handed_over: bool = False) -> bool:
        """Count a connection, new or `handed_over` by a worker; return False if there are too many
        and none is idle.
        """
        if handed_over and self.workers is not None:
            self.workers.note_taken_over()  # first, so that the connection is not counted twice
        self._own.add(connection)
        self._note_count()
        if self.connections > self.max_connections and not self._close_idle():
            self.rejected_connections += 1
            return False
        self.idle[connection] = None
        return True

    def _close_idle(self) -> bool:
        """Close the connection that has been idle longest; return False if none is idle."""
        closed = next((each for each in self.idle if each.close_if_idle()), None)
        if closed is None:
            return self.workers is not None and self.workers.close_idle()
        del self.idle[closed]
        self._closed_idle += 1
        return True

    def forget(self, connection: Connection) -> None:
        """Stop counting a connection that is lost or given to a worker."""
        self._own.discard(connection)
        self._note_count()
        self.idle.pop(connection, None)

    def keep(self, connection: Connection) -> None:
        """Count an idle connection again because no worker could take it."""
        self._own.add(connection)
        self._note_count()
        self.idle[connection] = None

    @property
    def connections(self) -> int:
        """The number of connections of the event loop and the workers."""
        return len(self._own) + (0 if self.workers is None else self.workers.connections)

    @property
    def closed_idle(self) -> int:
        """The number of idle connections that were closed in favour of new ones."""
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

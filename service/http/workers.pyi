from collections.abc import Sequence
from typing import final

from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.service.http.limits import Socket
from manyclass.service.http.plain_events import PlainEvents
from manyclass.service.http.plain_rankings import PlainRankings
from manyclass.service.log.request import Result
from manyclass.service.observability.metrics import PlainCounts

@final
class TakenEvents:
    """Events that workers have read; their connections wait for the answers."""

    def __len__(self) -> int: ...
    def parts(self) -> list[EventBatch | Event]:
        """Return the events, only once, in order of arrival: events with an id or a weight alone,
        all others in batches. They are lost after a MemoryError.
        """

    def answer_batch(self, first: int, batch: EventBatch) -> None:
        """Send the answers to the events of a learned batch, which begins with number `first`."""

    def answer(self, first: int, results: Sequence[Result]) -> None:
        """Send the answers to learned events, from number `first` on."""

    def refuse(self, first: int, refusals: Sequence[bytes]) -> None:
        """Send refusals, as bytes, for events that are not learned, from number `first` on."""

@final
class Workers:
    """Threads that answer plain requests and hand all other connections over to the event loop."""

    def __new__(cls, rankings: PlainRankings, events: PlainEvents) -> Workers: ...
    def start(
        self,
        workers: int,
        listeners: Sequence[Socket],
        most_connections: int,
        keep_alive_seconds: float,
        quiet_seconds: float,
    ) -> None:
        """Accept connections in this many threads. Raises RuntimeError if the system has no more.

        `most_connections` includes connections of the event loop. A connection is closed after
        `keep_alive_seconds` without a further request, or `quiet_seconds` without a first one.
        """

    @property
    def running(self) -> bool:
        """True between `start` and `stop`."""

    def give(self, connection: Socket) -> None:
        """Give a connection to a worker between two requests, with a descriptor of its own."""

    def stop(self) -> None:
        """End the threads: they stop accepting, answer the received requests, and close or hand
        over their connections.
        """

    def fileno(self) -> int:
        """Return a descriptor that is readable while there are handed-over connections."""

    def handed_over(self) -> list[tuple[int, bytes, bytes]]:
        """Return the connections handed over since the last call.

        Each has a descriptor, now owned by the caller, the received but unanswered bytes, and the
        unsent rest of an answer.
        """

    def learn_fileno(self) -> int:
        """Return a descriptor that is readable while there are events to take."""

    def set_learning(self, learns: bool) -> None:
        """Let the workers queue the events of plain requests, or else hand the connections over."""

    def taken_events(self) -> TakenEvents:
        """Return the events queued since the last call. Each must be answered."""

    @property
    def connections(self) -> int:
        """The number of connections of the workers, and of those on the way to the event loop."""

    @property
    def closed_idle(self) -> int:
        """The number of idle connections that were closed in favour of new ones."""

    def note_connections(self, count: int) -> None:
        """Tell the workers the number of connections of the event loop."""

    def note_taken_over(self) -> None:
        """Stop counting a handed-over connection; the event loop counts it from now on."""

    def close_idle(self) -> bool:
        """Let a worker close the connection idle longest; return False if none is idle."""

    def counts(self) -> list[PlainCounts]:
        """Return the counts of each worker."""

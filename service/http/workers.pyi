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
        """Return the events, once, in the order in which they came: those with an id or a weight
        alone, the others in batches. They are gone after a MemoryError.
        """

    def answer_batch(self, first: int, batch: EventBatch) -> None:
        """Answer the events of a batch, which begins with number `first`: they are learned."""

    def answer(self, first: int, results: Sequence[Result]) -> None:
        """Answer the events from number `first` on: they are learned."""

    def refuse(self, first: int, refusals: Sequence[bytes]) -> None:
        """Answer the events from number `first` on with these bytes: they are not learned."""

@final
class Workers:
    """Threads that answer plain requests, and hand all other connections to the event loop."""

    def __new__(cls, rankings: PlainRankings, events: PlainEvents) -> Workers: ...
    def start(
        self,
        workers: int,
        listeners: Sequence[Socket],
        most_connections: int,
        keep_alive_seconds: float,
        quiet_seconds: float,
    ) -> None:
        """Accept connections in so many threads. RuntimeError when the system has no more of them.

        `most_connections` counts those of the event loop too. A connection is closed after
        `keep_alive_seconds` without a further request, `quiet_seconds` without a first one.
        """

    @property
    def running(self) -> bool:
        """True between `start` and `stop`."""

    def give(self, connection: Socket) -> None:
        """Let a worker go on with a connection between two requests, by a descriptor of its own."""

    def stop(self) -> None:
        """End the threads: they accept no more, answer the requests that have come, and close or
        hand over their connections.
        """

    def fileno(self) -> int:
        """Return a descriptor that is readable while connections are handed over."""

    def handed_over(self) -> list[tuple[int, bytes, bytes]]:
        """Return the connections handed over since the last call.

        Each is a descriptor, which is the caller's now, the bytes received and not answered, and
        the rest of an answer that could not be sent at once.
        """

    def learn_fileno(self) -> int:
        """Return a descriptor that is readable while there are events to take."""

    def set_learning(self, learns: bool) -> None:
        """Let the workers queue the events of plain requests, or hand the connections over."""

    def taken_events(self) -> TakenEvents:
        """Return the events queued since the last call. Each has to be answered."""

    @property
    def connections(self) -> int:
        """The connections of the workers, and those on their way to the event loop."""

    @property
    def closed_idle(self) -> int:
        """The idle connections that were closed in favour of new ones."""

    def note_connections(self, count: int) -> None:
        """Let the workers know how many connections the event loop has."""

    def note_taken_over(self) -> None:
        """Count a connection handed over no longer: the event loop counts it now."""

    def close_idle(self) -> bool:
        """Let a worker close the longest idle connection; return False when none is idle."""

    def counts(self) -> list[PlainCounts]:
        """Return the counts of each worker."""

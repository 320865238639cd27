"""Admission control: limits on the rankings and the GETs in progress."""

from collections.abc import Iterator
from contextlib import contextmanager

from manyclass.service.http.asgi import Application, AsgiScope, Receive, Send
from manyclass.service.http.problems import unavailable
from manyclass.service.token_bucket import TokenBucket

MOST_LONG = 8  # concurrent long rankings, unless max_concurrent is larger
MOST_READS = 32  # concurrent GETs, most of which wait for their turn


class Places:
    """Requests in progress, at most so many; each one above takes a token of `burst`."""

    def __init__(self, most: int, burst: int = 0) -> None:
        self.most = most
        self.burst = TokenBucket(burst)
        self.taken = 0

    @property
    def is_full(self) -> bool:
        """True when no further request may begin."""
        return self.taken >= self.most and self.burst.is_empty

    def take(self) -> bool:
        """Count a request as in progress; return False if there are too many."""
        if self.taken >= self.most:
            if self.burst.is_empty:
                return False
            self.burst.take()
        self.taken += 1
        return True

    def leave(self) -> None:
        """Count a request as ended."""
        self.taken -= 1

    def left_by(self, application: Application) -> Application:
        """Return the application for a request that has taken a place.

        It leaves the place when the answer begins, as a client may take long to read the rest.
        After a client that goes away before, the place is taken until the application is done.
        """

        async def answer(scope: AsgiScope, receive: Receive, send: Send) -> None:
            begun = False

            async def begin(message: object) -> None:
                nonlocal begun
                if not begun:
                    begun = True
                    self.leave()
                await send(message)

            try:
                await application(scope, receive, begin)
            finally:
                if not begun:
                    self.leave()

        return answer

    @contextmanager
    def left(self) -> Iterator[None]:
        """Let other rankings begin, inside, while this one waits."""
        self.taken -= 1
        try:
            yield
        finally:
            self.taken += 1


class Admission:
    """The part that sheds rankings and GETs beyond a concurrency, so that latency stays low.

    A short ranking runs to its end in one iteration of the event loop, so the short rankings in
    progress are those of the same iteration, and each waits for the previous ones. A burst, for
    example after a stretch of learning, is admitted; a lasting overload is not. A long ranking (of
    many instances, explained, gzipped) runs in slices, one in each iteration. Large rankings also
    take memory, so the total size of their bodies is bounded. GETs run in turn (reads.py), so most
    of the `reads` in progress wait in a queue.
    """

    def __init__(self, most: int, burst: int, most_bytes: int) -> None:
        self.short = Places(most, burst)
        self.reads = Places(MOST_READS)
        self.long = Places(max(most, MOST_LONG))
        self.most_bytes = most_bytes
        self.large_bytes = 0  # total size of the bodies of large requests in progress
        self.shed = 0  # rankings refused since the start
        self.shed_reads = 0  # GETs refused since the start

    def places(self, gzipped: bool) -> Places:
        """Return where a ranking is counted before its body is read."""
        return self.long if gzipped else self.short

    @contextmanager
    def in_slices(self, places: Places) -> Iterator[None]:
        """Count a ranking of these places as a long one; Problem 503 when there are too many."""
        if places is self.long:
            yield
            return
        if not self.long.take():
            raise self._too_many()
        try:
            with places.left():
                yield
        finally:
            self.long.leave()

    @contextmanager
    def large(self, size: int) -> Iterator[None]:
        """Count the body of a large request in progress. Raises Problem 503 above the limit."""
        if self.large_bytes and self.large_bytes + size > self.most_bytes:
            raise self._too_many()
        self.large_bytes += size
        try:
            yield
        finally:
            self.large_bytes -= size

    def _too_many(self) -> Exception:
        self.shed += 1
        return unavailable("Too many large rankings are in progress at once.")

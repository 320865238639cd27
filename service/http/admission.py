"""Admission control: limits on the rankings in progress, by number and by bytes."""

from collections.abc import Iterator
from contextlib import contextmanager

from manyclass.service.http.problems import unavailable


class Admission:
    """Sheds rankings above a concurrency, so that latency does not grow with the queue.

    A ranking of one instance runs to its end in one iteration of the event loop, so the rankings in
    progress are the ones that arrived in the same iteration: each waits for the ones before it.
    Rankings of many instances last longer and take more memory; a second limit bounds the sum of
    their bodies, in bytes.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self.most = most
        self.most_bytes = most_bytes
        self.running = 0
        self.large_bytes = 0  # of the bodies of large requests in progress
        self.shed = 0  # rankings refused since the start

    @property
    def is_full(self) -> bool:
        """True when no further ranking may begin."""
        return self.running >= self.most

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let other rankings begin while this one waits for an event."""
        self.running -= 1
        try:
            yield
        finally:
            self.running += 1

    @contextmanager
    def large(self, size: int) -> Iterator[None]:
        """Count the body of a large request in progress; Problem 503 above the limit."""
        if self.large_bytes and self.large_bytes + size > self.most_bytes:
            self.shed += 1
            raise unavailable("Too many large rankings are in progress at once.")
        self.large_bytes += size
        try:
            yield
        finally:
            self.large_bytes -= size

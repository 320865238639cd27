"""Plain learning: POST /learn of one event with features and classes, without ASGI.

    bytes of a read ──► event ──► group commit ──► bytes of the answer

None for all other requests, and then nothing has changed: FastAPI's way answers these.
"""

import asyncio
import logging
from contextlib import suppress
from http import HTTPStatus
from time import perf_counter
from typing import Final, Literal

import msgspec

from manyclass.core.event import Event
from manyclass.service.engine import Engine
from manyclass.service.errors import NotReady
from manyclass.service.http.limits import Limits
from manyclass.service.http.plain_events import PlainEvents
from manyclass.service.http.problems import problem_of
from manyclass.service.http.schemas.learn import LearnAnswer
from manyclass.service.log.request import Result
from manyclass.service.observability.metrics import Metrics

logger = logging.getLogger(__name__)

ENDPOINT = "/learn"

_encode = msgspec.json.Encoder().encode
_OK: Final = [(b"content-type", b"application/json")]

Lines = list[tuple[bytes, bytes]]


class Learning:
    """A plain request to learn whose event is on its way through the log."""

    __slots__ = ("began", "results", "size")

    def __init__(self, results: "asyncio.Future[list[Result]]", size: int, began: float) -> None:
        self.results = results
        self.size = size  # bytes of the request
        self.began = began


class PlainLearning:
    """Admits the events of plain requests, and makes the answers. Belongs to the event loop."""

    def __init__(
        self,
        events: PlainEvents,
        engine: Engine,
        metrics: Metrics,
        limits: Limits,
        stopping: asyncio.Event,
    ) -> None:
        self._events = events
        self._engine = engine
        self._metrics = metrics
        self._budget = limits.budget
        self._stopping = stopping
        self._last_headers = limits.cors.headers_for(None) if limits.cors.is_enabled else []
        self.answered = 0
        self._lines_of: Lines | None = None  # the headers of the server in `_lines`
        self._lines = b""

    def begin(self, data: bytes) -> Learning | None:
        """Admit the event of one plain request; None if `data` is anything else."""
        began = perf_counter()
        if self._stopping.is_set() or not self._budget.fits(len(data), len(data)):
            return None
        event = self._events.event(data)
        if event is None:
            return None
        with suppress(NotReady):  # the other way says so
            _ = self._engine.model
            return Learning(self._admitted(event), len(data), began)
        return None

    def is_begun(self, data: bytes) -> bool:
        """Return whether a plain request may begin here, with its whole head."""
        return (
            not self._stopping.is_set()
            and self._budget.fits(len(data), len(data))
            and self._events.is_begun(data)
        )

    def answer(self, learning: Learning, default_headers: Lines) -> bytes:
        """Return the whole answer, once the event is applied or refused."""
        self.answered += 1
        try:
            results = learning.results.result()
        except Exception as error:
            return self.refusal(error, learning.began, default_headers)
        self.count(1, results[0].duplicate, "event loop")
        body = _encode(self._answered(results[0]))
        headers = [*_OK, (b"content-length", b"%d" % len(body))]
        return self._whole(200, headers, body, learning.began, default_headers)

    def count(self, events: int, retries: int, thread: Literal["event loop", "worker"]) -> None:
        """Count plain events that `thread` has read; events learned are counted elsewhere."""
        self._metrics.plain_events[thread] += events
        self._metrics.learn_events["duplicate"] += retries

    def refusal(self, error: Exception, began: float, default_headers: Lines) -> bytes:
        """Return the whole answer to a request whose event is not learned; see HotPath."""
        self._metrics.out_of_memory.note(error)
        problem = problem_of(error)
        if problem.status < 500:
            self._metrics.learn_events["rejected"] += 1
        elif problem.status == 500:
            logger.error("POST %s failed", ENDPOINT, exc_info=error)
        return self._whole(*problem.answer(), began, default_headers)

    def _whole(
        self, status: int, headers: Lines, body: bytes, began: float, default_headers: Lines
    ) -> bytes:
        self._metrics.request(ENDPOINT, status, perf_counter() - began)
        if self._lines_of is not default_headers:
            self._lines_of, self._lines = default_headers, _lines_of(default_headers)
        first = b"HTTP/1.1 %d %s\r\n" % (status, HTTPStatus(status).phrase.encode())
        own = _lines_of([*headers, *self._last_headers])
        return b"".join((first, self._lines, own, b"\r\n", body))

    def _admitted(self, event: Event) -> "asyncio.Future[list[Result]]":
        try:
            return self._engine.admit([event])
        except Exception as error:
            refused: asyncio.Future[list[Result]] = asyncio.get_running_loop().create_future()
            refused.set_exception(error)
            return refused

    @staticmethod
    def _answered(result: Result) -> LearnAnswer:
        repeated, rank = int(result.duplicate), result.rank
        return LearnAnswer(result.seq, 1 - repeated, repeated, rank, rank, result.updated)


def _lines_of(headers: Lines) -> bytes:
    return b"".join(b"%s: %s\r\n" % (name.lower(), value) for name, value in headers)

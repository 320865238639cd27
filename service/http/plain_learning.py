"""Plain learning: POST /learn of one event with features or a text, without ASGI.

    bytes of a read ──► event ──► group commit ──► bytes of the answer

None for all other requests, and then nothing has changed: FastAPI's way answers these.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from time import perf_counter
from typing import Final, Literal

import msgspec

from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
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
# the batch that has an event and its place there, the result of an event by itself, or the error
Outcome = tuple[EventBatch, int] | Result | Exception


class Learning:
    """A plain request to learn whose event is on its way through the log."""

    __slots__ = ("began", "on_end", "outcome", "size")

    def __init__(self, size: int, began: float, on_end: Callable[[], None]) -> None:
        self.outcome: Outcome | None = None  # until `on_end` is called
        self.size = size  # bytes of the request
        self.began = began
        self.on_end = on_end


class PlainLearning:
    """Admits the events of plain requests, and makes the answers. Belongs to the event loop.

    The events of a turn of the loop are admitted together, those with an id or a weight alone.
    """

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
        last_headers = limits.cors.headers_for(None) if limits.cors.is_enabled else []
        self._last_lines = _lines_of(last_headers)
        self.answered = 0
        self._lines_of: Lines | None = None  # the headers of the server in `_lines`
        self._lines = self._first_lines = b""
        self._batch = EventBatch()  # of this turn, unless it is full
        self._gathered: list[Learning] = []  # of its events

    def begin(self, data: bytes, on_end: Callable[[], None]) -> Learning | None:
        """Take the event of one plain request; None if `data` is anything else.

        `on_end` is called in a later turn of the loop, when the event is applied or refused.
        """
        began = perf_counter()
        if self._stopping.is_set() or not self._budget.fits(len(data), len(data)):
            return None
        if self.lacks_memory:
            return None  # FastAPI's path refuses it
        with suppress(NotReady):  # FastAPI's path refuses it
            _ = self._engine.model
            taken = self._events.take(data, self._batch)
            if taken is False:
                return None
            learning = Learning(len(data), began, on_end)
            if isinstance(taken, Event):  # it may be refused, and nothing with it
                self._learn(learning, taken)
            else:
                self._gather(learning)
            return learning
        return None

    @property
    def lacks_memory(self) -> bool:
        """True when memory ran out and there is no room for further events yet."""
        return self._metrics.out_of_memory.is_short

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
        outcome = learning.outcome
        assert outcome is not None
        if isinstance(outcome, Exception):
            return self.refusal(outcome, learning.began, default_headers)
        if isinstance(outcome, Result):
            self.count(1, outcome.duplicate, "event loop")
            body = _encode(_answered(outcome))
            headers = [*_OK, (b"content-length", b"%d" % len(body))]
            return self._whole(200, headers, body, learning.began, default_headers)
        self.count(1, 0, "event loop")
        self._metrics.request(ENDPOINT, 200, perf_counter() - learning.began)
        self._note_lines(default_headers)
        return self._events.answer(*outcome, self._first_lines, self._last_lines)

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
        self._note_lines(default_headers)
        first = b"HTTP/1.1 %d %s\r\n" % (status, HTTPStatus(status).phrase.encode())
        return b"".join((first, self._lines, _lines_of(headers), self._last_lines, b"\r\n", body))

    def _note_lines(self, default_headers: Lines) -> None:
        """Take the headers of the server, which change once a second."""
        if self._lines_of is not default_headers:
            self._lines_of, self._lines = default_headers, _lines_of(default_headers)
            self._first_lines = b"HTTP/1.1 200 OK\r\n" + self._lines

    # --- through the log -------------------------------------------------------------------------

    def _gather(self, learning: Learning) -> None:
        """Have the event that was taken last admitted with those of this turn."""
        if not self._gathered:
            asyncio.get_running_loop().call_soon(self._admit, self._batch, self._gathered)
        self._gathered.append(learning)
        if self._batch.is_full:
            self._batch, self._gathered = EventBatch(), []

    def _admit(self, batch: EventBatch, learnings: list[Learning]) -> None:
        """Admit the events of a turn, together if the queue has room for all."""
        if batch is self._batch:
            self._batch, self._gathered = EventBatch(), []
        if not self._engine.has_room(batch):
            for learning, event in zip(learnings, batch.events(), strict=True):
                self._learn(learning, event)
            return
        try:
            learned = self._engine.admit_batch(batch)
        except Exception as error:
            _end(learnings, [error] * len(learnings))
        else:
            learned.add_done_callback(partial(self._end_batch, learnings))

    @staticmethod
    def _end_batch(learnings: Sequence[Learning], learned: "asyncio.Future[EventBatch]") -> None:
        error = learned.exception()
        if error is None:
            batch = learned.result()
            _end(learnings, [(batch, place) for place in range(len(learnings))])
        else:
            _end(learnings, [_as_exception(error)] * len(learnings))

    def _learn(self, learning: Learning, event: Event) -> None:
        """Admit an event by itself."""
        try:
            results = self._engine.admit([event])
        except Exception as error:
            asyncio.get_running_loop().call_soon(_end, [learning], [error])
        else:
            results.add_done_callback(partial(self._end, learning))

    @staticmethod
    def _end(learning: Learning, results: "asyncio.Future[list[Result]]") -> None:
        error = results.exception()
        _end([learning], [results.result()[0] if error is None else _as_exception(error)])


def _end(learnings: Sequence[Learning], outcomes: Sequence[Outcome]) -> None:
    """Let the connections of requests send their answers; a failure of one stops no other."""
    for learning, outcome in zip(learnings, outcomes, strict=True):
        learning.outcome = outcome
        try:
            learning.on_end()
        except Exception as error:
            context = {"message": "the answer to a plain event failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)


def _as_exception(error: BaseException) -> Exception:
    return error if isinstance(error, Exception) else RuntimeError(repr(error))


def _answered(result: Result) -> LearnAnswer:
    repeated = int(result.duplicate)
    return LearnAnswer(result.seq, 1 - repeated, repeated, result.rank, result.updated)


def _lines_of(headers: Lines) -> bytes:
    return b"".join(b"%s: %s\r\n" % (name.lower(), value) for name, value in headers)

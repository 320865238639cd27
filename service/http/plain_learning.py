"""Plain learning: native code reads the events, and many share one submission to the log.

    connection of the loop ─► PlainLearning ─┐
                                             ├─► Admission ─► group commit ─► answers
    worker ─► queue ─► WorkerLearning ───────┘

For other requests the result is None and nothing changes: the Python tier answers them.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from time import perf_counter
from typing import Any, Final, Literal, Protocol

from uvicorn.server import ServerState

from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.service.engine import Engine
from manyclass.service.errors import NotReady
from manyclass.service.http.limits import Limits
from manyclass.service.http.plain_events import PlainEvents
from manyclass.service.http.problems import problem_of
from manyclass.service.http.workers import TakenEvents, Workers
from manyclass.service.log.request import Result
from manyclass.service.observability.metrics import Metrics

logger = logging.getLogger(__name__)

ENDPOINT = "/learn"
STOP_SECONDS = 10.0  # longer than a store may take to answer

Lines = list[tuple[bytes, bytes]]
Part = Event | EventBatch  # an event that may be refused alone, or a batch


class Requests(Protocol):
    """Requests that wait for the outcomes of their events, numbered in order of the events."""

    def applied(self, first: int, batch: EventBatch) -> None:
        """Answer the requests of a batch, whose first event has number `first`."""

    def ended(self, number: int, result: Result) -> None:
        """Answer the request of one event."""

    def refused(self, first: int, count: int, error: Exception) -> None:
        """Answer `count` requests, from `first` on, whose events are not learned due to `error`."""


class Admission:
    """The part that submits plain events: a batch in one submission if the queue has room for it
    and all vectors have the dimension of those before, otherwise event by event. Belongs to the
    event loop.

    Outcomes come in a later turn of the loop.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.under_way = set[asyncio.Future[list[Result]] | asyncio.Future[EventBatch]]()

    def admit(self, part: Part, requests: Requests, first: int = 0) -> int:
        """Submit the events of a part, whose first has number `first`; return the next number."""
        if isinstance(part, Event):
            self._admit_event(part, requests, first)
            return first + 1
        if self._engine.can_admit(part):
            self._admit_batch(part, requests, first)
        else:  # the queue may have room for a few, and refuse a vector for its dimension
            for number, event in enumerate(part.events(), first):
                self._admit_event(event, requests, number)
        return first + len(part)

    def _admit_event(self, event: Event, requests: Requests, number: int) -> None:
        try:
            results = self._engine.admit([event])
        except Exception as error:
            results = _failed(error)
        self.under_way.add(results)
        results.add_done_callback(partial(self._end_event, requests, number))

    def _admit_batch(self, batch: EventBatch, requests: Requests, first: int) -> None:
        try:
            learned = self._engine.admit_batch(batch)
        except Exception as error:
            learned = _failed(error)
        self.under_way.add(learned)
        learned.add_done_callback(partial(self._end_batch, requests, first, len(batch)))

    def _end_event(
        self, requests: Requests, number: int, results: "asyncio.Future[list[Result]]"
    ) -> None:
        self.under_way.discard(results)
        error = results.exception()
        if error is None:
            requests.ended(number, results.result()[0])
        else:
            requests.refused(number, 1, _as_exception(error))

    def _end_batch(
        self, requests: Requests, first: int, count: int, learned: "asyncio.Future[EventBatch]"
    ) -> None:
        self.under_way.discard(learned)
        error = learned.exception()
        if error is None:
            requests.applied(first, learned.result())
        else:
            requests.refused(first, count, _as_exception(error))


class LearnAnswers:
    """The writer and counter of whole answers to plain requests to learn."""

    def __init__(self, metrics: Metrics, limits: Limits) -> None:
        self._metrics = metrics
        last_headers = limits.cors.headers_for(None) if limits.cors.is_enabled else []
        self._last_lines = _lines_of(last_headers)
        self._lines_of: Lines | None = None  # the server's headers that `_lines` was made from
        self._lines = self._first_lines = b""

    @property
    def lacks_memory(self) -> bool:
        """True if memory ran out and there is no room for further events yet."""
        return self._metrics.out_of_memory.is_short

    def count(self, events: int, retries: int, thread: Literal["event loop", "worker"]) -> None:
        """Count plain events that `thread` has read; learned events are counted elsewhere."""
        self._metrics.plain_events[thread] += events
        self._metrics.learn_events["duplicate"] += retries

    def applied(self, batch: EventBatch, position: int, began: float, headers: Lines) -> bytes:
        """Return the answer for the event at this position of a batch."""
        self._note(200, began, headers)
        return PlainEvents.answer_in(batch, position, self._first_lines, self._last_lines)

    def ended(self, result: Result, began: float, headers: Lines) -> bytes:
        """Return the answer for an event that was submitted alone."""
        self._note(200, began, headers)
        return PlainEvents.answer(result, self._first_lines, self._last_lines)

    def refused(self, error: Exception, began: float, headers: Lines) -> bytes:
        """Return the answer for an event that is not learned, in the form of Front."""
        self._metrics.out_of_memory.note(error)
        problem = problem_of(error)
        if problem.status < 500:
            self._metrics.learn_events["rejected"] += 1
        elif problem.status == 500:
            logger.error("POST %s failed", ENDPOINT, exc_info=error)
        status, added, body = problem.answer()
        self._note(status, began, headers)
        first = b"HTTP/1.1 %d %s\r\n" % (status, HTTPStatus(status).phrase.encode())
        return b"".join((first, self._lines, _lines_of(added), self._last_lines, b"\r\n", body))

    def _note(self, status: int, began: float, headers: Lines) -> None:
        """Count a request, and note the headers of the server, which change once a second."""
        self._metrics.request(ENDPOINT, status, perf_counter() - began)
        if self._lines_of is not headers:
            self._lines_of, self._lines = headers, _lines_of(headers)
            self._first_lines = b"HTTP/1.1 200 OK\r\n" + self._lines


# --- on the event loop ----------------------------------------------------------------------------


class Learning:
    """A plain request to learn on a connection of the loop, in progress."""

    __slots__ = ("answer", "began", "on_end", "size")

    def __init__(self, size: int, began: float, on_end: Callable[[], None]) -> None:
        self.size = size  # bytes of the request
        self.began = began
        self.on_end = on_end
        # Makes the answer from the server's headers; set before `on_end` is called.
        self.answer: Callable[[float, Lines], bytes] | None = None


class LoopRequests:
    """Requests on connections of the loop, whose events are submitted together."""

    def __init__(self, answers: LearnAnswers) -> None:
        self.learnings: Final[list[Learning]] = []
        self._answers = answers

    def applied(self, first: int, batch: EventBatch) -> None:
        """Send the answers to a batch."""
        self._answers.count(len(batch), 0, "event loop")
        for place in range(len(batch)):
            self._end(first + place, partial(self._answers.applied, batch, place))

    def ended(self, number: int, result: Result) -> None:
        """Send the answer to an event."""
        self._answers.count(1, result.duplicate, "event loop")
        self._end(number, partial(self._answers.ended, result))

    def refused(self, first: int, count: int, error: Exception) -> None:
        """Send a refusal to these requests."""
        for number in range(first, first + count):
            self._end(number, partial(self._answers.refused, error))

    def _end(self, number: int, answer: Callable[[float, Lines], bytes]) -> None:
        """Let a connection send its answer; a failure of one does not affect others."""
        learning = self.learnings[number]
        learning.answer = answer
        try:
            learning.on_end()
        except Exception as error:
            context = {"message": "the answer to a plain event failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)


class PlainLearning:
    """The part that handles plain requests to learn on the event loop, to which it belongs.

    The events of a turn of the loop are submitted together, but events with an id or a weight
    alone.
    """

    def __init__(
        self,
        events: PlainEvents,
        engine: Engine,
        admission: Admission,
        answers: LearnAnswers,
        limits: Limits,
        stopping: asyncio.Event,
    ) -> None:
        self._events = events
        self._engine = engine
        self._admission = admission
        self._answers = answers
        self._budget = limits.budget
        self._stopping = stopping
        self.answered = 0
        self._batch = EventBatch()  # the events of this turn, or since the last full batch
        self._gathered = LoopRequests(answers)  # the requests of these events

    def begin(self, data: bytes, on_end: Callable[[], None]) -> Learning | None:
        """Read the event of one plain request, or return None if `data` is anything else.

        `on_end` is called in a later turn of the loop, when the event is applied or refused.
        """
        began = perf_counter()
        if self._stopping.is_set() or not self._budget.fits(len(data), len(data)):
            return None
        if self._answers.lacks_memory:
            return None  # the Python tier refuses it
        with suppress(NotReady):  # the Python tier refuses it
            _ = self._engine.model
            taken = self._events.take(data, self._batch)
            if taken is False:
                return None
            learning = Learning(len(data), began, on_end)
            if isinstance(taken, Event):
                alone = LoopRequests(self._answers)
                alone.learnings.append(learning)
                self._admission.admit(taken, alone)
            else:
                self._gather(learning)
            return learning
        return None

    def is_begun(self, data: bytes) -> bool:
        """Return whether `data` has the complete head of a request that may be plain."""
        return (
            not self._stopping.is_set()
            and self._budget.fits(len(data), len(data))
            and self._events.is_begun(data)
        )

    def answer(self, learning: Learning, headers: Lines) -> bytes:
        """Return the whole answer, once the event is applied or refused."""
        assert learning.answer is not None
        self.answered += 1
        return learning.answer(learning.began, headers)

    def _gather(self, learning: Learning) -> None:
        """Submit the event that was read last with the other events of this turn."""
        if not self._gathered.learnings:
            asyncio.get_running_loop().call_soon(self._admit, self._batch, self._gathered)
        self._gathered.learnings.append(learning)
        if self._batch.is_full:
            self._begin_batch()

    def _admit(self, batch: EventBatch, requests: LoopRequests) -> None:
        """Submit the events of a turn."""
        if batch is self._batch:
            self._begin_batch()
        self._admission.admit(batch, requests)

    def _begin_batch(self) -> None:
        self._batch, self._gathered = EventBatch(), LoopRequests(self._answers)


# --- for workers ----------------------------------------------------------------------------------


class WorkerRequests:
    """Requests on connections of workers, which were taken from the queue together."""

    def __init__(
        self, taken: TakenEvents, began: float, answers: LearnAnswers, server_state: ServerState
    ) -> None:
        self._taken = taken
        self._began = began
        self._answers = answers
        self._server_state = server_state

    def applied(self, first: int, batch: EventBatch) -> None:
        """Let the workers send the answers to a batch."""
        self._answers.count(len(batch), 0, "worker")
        self._taken.answer_batch(first, batch)

    def ended(self, number: int, result: Result) -> None:
        """Let a worker send the answer to an event."""
        self._answers.count(1, result.duplicate, "worker")
        self._taken.answer(number, [result])

    def refused(self, first: int, count: int, error: Exception) -> None:
        """Let the workers send a refusal."""
        headers = self._server_state.default_headers
        refusals = [self._answers.refused(error, self._began, headers) for _ in range(count)]
        self._taken.refuse(first, refusals)


class WorkerLearning:
    """The part that submits the events that workers have read, those of a turn of the event loop
    together, but events with an id or a weight alone. Belongs to the event loop.
    """

    def __init__(
        self,
        workers: Workers,
        admission: Admission,
        answers: LearnAnswers,
        server_state: ServerState,
    ) -> None:
        self._workers = workers
        self._admission = admission
        self._answers = answers
        self._server_state = server_state

    def start(self) -> None:
        """Take events from now on."""
        self._workers.set_learning(True)
        asyncio.get_running_loop().add_reader(self._workers.learn_fileno(), self._take)

    async def stop(self) -> None:
        """Stop the queue of the workers, and send all answers."""
        self._workers.set_learning(False)
        asyncio.get_running_loop().remove_reader(self._workers.learn_fileno())
        self._take()
        if self._admission.under_way:
            await asyncio.wait(self._admission.under_way, timeout=STOP_SECONDS)
            await asyncio.sleep(0)  # run the callbacks of the last submission

    def _take(self) -> None:
        taken = self._workers.taken_events()
        requests = WorkerRequests(taken, perf_counter(), self._answers, self._server_state)
        try:
            if self._answers.lacks_memory:
                raise MemoryError
            parts = taken.parts()
        except MemoryError as error:
            requests.refused(0, len(taken), error)
            return
        first = 0
        for part in parts:
            first = self._admission.admit(part, requests, first)


def _failed(error: Exception) -> "asyncio.Future[Any]":
    """Return the future of a submission that the engine refused at once."""
    future = asyncio.get_running_loop().create_future()
    future.set_exception(error)
    return future


def _as_exception(error: BaseException) -> Exception:
    return error if isinstance(error, Exception) else RuntimeError(repr(error))


def _lines_of(headers: Lines) -> bytes:
    return b"".join(b"%s: %s\r\n" % (name.lower(), value) for name, value in headers)

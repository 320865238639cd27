"""POST /learn with one event a line: learned while it arrives, for as long as the client likes."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any

import msgspec

from manyclass.core.errors import EventConflict
from manyclass.core.event import Event
from manyclass.service.config.settings import Settings
from manyclass.service.http.large_body import LARGE_BYTES, LargeBodies
from manyclass.service.http.memory_budget import Hold
from manyclass.service.http.problems import (
    ClientGone,
    FaultDocument,
    Problem,
    invalid,
    pointer,
    problem_of,
    unavailable,
)
from manyclass.service.http.request_body import (
    GUNZIP_BYTES,
    Blocks,
    Gunzip,
    Headers,
    Receive,
    Send,
    is_gzipped,
)
from manyclass.service.http.schemas import (
    LearnEvent,
    LearnRequest,
    Progress,
    StreamFailure,
    StreamFault,
    StreamWarning,
    Summary,
    WarningDocument,
    decode,
    warning_of,
)
from manyclass.service.http.turn import Turn
from manyclass.service.ingest.event_builder import EventBuilder, is_without_features
from manyclass.service.log.request import Result
from manyclass.service.observability.metrics import Metrics

logger = logging.getLogger(__name__)

MEDIA_TYPE = b"application/x-ndjson"
BATCH_EVENTS = 256

# A client may well send everything before it reads anything. What is written until then has to
# fit into the buffers between us, or each side waits for the other for ever: so faults are
# reported up to a number, cut to a length, and progress is told more and more seldom.
PROGRESS_LINES = 5000
PROGRESS_SECONDS = 5.0  # when lines come slowly
MOST_PROGRESS_AT_ONE_PACE = 50
MOST_FAULTS = 100
LONGEST_DETAIL = 300

# Between two lines a stream may be quiet for as long as it likes; a line that has begun takes
# memory until its end comes.
LINE_SECONDS = 60.0

_decoder = msgspec.json.Decoder(LearnEvent)
_encode = msgspec.json.Encoder().encode


class LearnStream:
    """Answers streams of events. When `stopping` is set, those under way come to an early end."""

    def __init__(
        self,
        settings: Settings,
        intake: EventBuilder,
        metrics: Metrics,
        stopping: asyncio.Event,
        progress_seconds: float = PROGRESS_SECONDS,
        line_seconds: float = LINE_SECONDS,
    ) -> None:
        self._longest_line = settings.max_body_bytes
        self._intake = intake
        self._metrics = metrics
        self._stopping = stopping
        self._progress_seconds = progress_seconds
        self._line_seconds = line_seconds

    async def answer(self, headers: Headers, receive: Receive, send: Send, hold: Hold) -> None:
        """Learn every line. Raises a Problem only while nothing was learned or answered."""
        gunzip = Gunzip() if is_gzipped(headers) else None
        hold.resize(0 if gunzip is None else GUNZIP_BYTES)
        clock = asyncio.get_running_loop().time
        lines = Lines(self._longest_line, hold, self._line_seconds, clock)
        stop = asyncio.ensure_future(self._stopping.wait())
        try:
            progress = _Pace(self._progress_seconds, clock)
            minimal = _prefers_minimal(headers)
            large = LargeBodies(LearnRequest, LearnEvent, "events", 1)
            call = _Call(self._intake, self._metrics, send, lines, progress, minimal, large)
            async with aclosing(_pieces(receive, gunzip, stop, self._progress_seconds)) as pieces:
                await call.run(pieces)
        finally:
            stop.cancel()


class Lines:
    """Cuts what arrives into lines of bounded length that end in bounded time."""

    def __init__(
        self, longest: int, hold: Hold, seconds: float, clock: Callable[[], float]
    ) -> None:
        """An unfinished line counts in `hold`; it has to end within `seconds`."""
        self._longest = longest
        self._hold = hold
        self._held_before = hold.size
        self._seconds = seconds
        self._clock = clock
        self._begun = Blocks()  # of a line whose end has not come yet
        self._begun_at = 0.0
        self._overlong = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield every line that ends in `data`; None stands for one that was too long.

        Raises Problem 408 when the unfinished line is too old, 503 when it has no room in memory.
        """
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            yield self._line(data[start:end])
            start = end + 1
        if start < len(data):
            if start or not self._is_unfinished:
                self._begun_at = self._clock()
            self._hold.resize(self._held_before + self._begun.size + len(data) - start)
            self._begun.add(data[start:])
            if self._begun.size > self._longest:
                self._overlong = True
                self._begun.clear()
        self._hold.resize(self._held_before + self._begun.size)
        if self._is_unfinished and self._clock() - self._begun_at > self._seconds:
            raise Problem(408, f"A line has to end within {self._seconds:g} s.")

    @property
    def _is_unfinished(self) -> bool:
        return self._overlong or self._begun.size > 0

    def rest(self) -> Iterator[bytes | None]:
        """The last line, when no line end followed it."""
        if self._is_unfinished:
            yield self._line(b"")

    def _line(self, end: bytes) -> bytes | None:
        if self._begun.size:
            self._begun.add(end)
            end = self._begun.join()
        overlong = self._overlong or len(end) > self._longest
        self._overlong = False
        return None if overlong else end


class _Pace:
    """When to tell progress: after so many lines or so long, both longer as the stream goes on."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lines = PROGRESS_LINES
        self._seconds = seconds
        self._told = 0
        self._last_line = 0
        self._last_time = self._clock()

    def is_due(self, settled: int) -> bool:
        """Whether to tell that the lines up to this one are settled; if so, it counts as told."""
        new = settled - self._last_line
        if new < self._lines and (not new or self._clock() - self._last_time < self._seconds):
            return False
        self._last_line = settled
        self._last_time = self._clock()
        self._told += 1
        if self._told % MOST_PROGRESS_AT_ONE_PACE == 0:
            self._lines *= 2
            self._seconds *= 2
        return True


class _Call:
    """One stream: what it has counted, and what it has answered so far."""

    def __init__(
        self,
        intake: EventBuilder,
        metrics: Metrics,
        send: Send,
        lines: Lines,
        progress: _Pace,
        minimal: bool,
        large: LargeBodies[LearnRequest, LearnEvent],
    ) -> None:
        self._intake = intake
        self._metrics = metrics
        self._send = send
        self._lines = lines
        self._read: list[tuple[int, LearnEvent | Problem]] = []  # with their line numbers
        self._minimal = minimal  # no progress, and nothing is sent before the end
        self._unsent = b""
        self._answering = False
        self._line = 0  # number of the last one read
        self._settled = 0  # lines up to this one are learned or were found faulty
        self._accepted = 0
        self._duplicates = 0
        self._rejected = 0
        self._warned = 0
        self._seq = 0
        self._hits = {1: 0, 5: 0}
        self._progress = progress
        self._large = large
        self._turn = Turn()

    async def run(self, pieces: AsyncIterator[bytes]) -> None:
        """Learn all lines, and say how it went. Raises a Problem while nothing was learned."""
        try:
            async for piece in pieces:
                await self._take(self._lines.feed(piece))
            await self._take(self._lines.rest())
        except ClientGone:
            raise
        except Exception as error:
            if not (self._answering or self._accepted or self._duplicates):
                raise
            await self._fail(error)
        else:
            await self._end(Summary(*self._counts()))

    async def _fail(self, error: Exception) -> None:
        """Say how far the stream came."""
        self._metrics.out_of_memory.note(error)
        problem = problem_of(error)
        if problem.status == 500:
            logger.error("a stream failed after line %d", self._settled, exc_info=error)
        await self._end(
            StreamFailure(
                *self._counts(),
                status=problem.status,
                detail=problem.detail,
                learned_up_to_line=self._settled,
            )
        )

    async def _take(self, lines: Iterator[bytes | None]) -> None:
        """Learn lines that arrived together, and say so every so often."""
        for line in lines:
            self._line += 1
            if line is None or (line and not line.isspace()):
                self._read.append((self._line, await self._form_of(line)))
            if len(self._read) >= BATCH_EVENTS:
                await self._learn()
            if self._turn.is_over:  # also when there is nothing to wait for
                await self._turn.pass_on()
        await self._learn()
        if self._turn.is_over:  # also when no line ends
            await self._turn.pass_on()
        if not self._minimal and self._progress.is_due(self._settled):
            await self._write(Progress(*self._counts()))

    async def _learn(self) -> None:
        """Learn what was read. Nothing more is read meanwhile, which slows the sender down."""
        batch = await self._events()
        while batch:
            try:
                results = await self._intake.submit([event for _, event in batch], wait=True)
            except EventConflict as conflict:
                line, _ = batch.pop(conflict.position)
                await self._reject(line, problem_of(conflict))
            else:
                batch.clear()
                self._count(results)
        self._settled = self._line

    async def _events(self) -> list[tuple[int, Event | Result]]:
        """The events of what was read, with their line numbers; faulty lines are reported."""
        read, self._read = self._read, []
        forms = [form for _, form in read if isinstance(form, LearnEvent)]
        known = await self._intake.instances(forms)
        events: list[tuple[int, Event | Result]] = []
        for line, form in read:
            try:
                if isinstance(form, Problem):
                    raise form
                event = await self._intake.event_in_turns(form, known)
                events.append((line, event))
                if is_without_features(event):
                    await self._warn(line, warning_of(form))
            except Exception as error:
                problem = problem_of(error)
                if problem.status >= 500:  # not the line's fault
                    raise
                await self._reject(line, problem)
            if self._turn.is_over:
                await self._turn.pass_on()
        return events

    async def _form_of(self, line: bytes | None) -> LearnEvent | Problem:
        """Return the form in a line, or the problem with the line."""
        if line is None:
            return invalid("The line is too long.")
        try:
            if len(line) > LARGE_BYTES:
                return await self._large.form(line)
            return decode(_decoder, line)
        except (Problem, msgspec.MsgspecError) as error:
            return problem_of(error)

    def _count(self, results: list[Result]) -> None:
        for result in results:
            self._seq = max(self._seq, result.seq)
            if result.duplicate:
                self._duplicates += 1
                self._metrics.learn_events["duplicate"] += 1
                continue
            self._accepted += 1
            for k in self._hits:
                self._hits[k] += result.rank is not None and result.rank <= k

    def _counts(self) -> tuple[int, int, int, int, int, float | None, float | None]:
        r1, r5 = (hits / self._accepted if self._accepted else None for hits in self._hits.values())
        return self._line, self._accepted, self._duplicates, self._rejected, self._seq, r1, r5

    async def _reject(self, line: int, problem: Problem) -> None:
        self._rejected += 1
        self._metrics.learn_events["rejected"] += 1
        if self._rejected <= MOST_FAULTS:
            detail = problem.detail[:LONGEST_DETAIL]
            errors = [
                FaultDocument(fault.detail[:LONGEST_DETAIL], pointer(fault.place)[:LONGEST_DETAIL])
                for fault in problem.faults[:1]
            ]
            await self._write(StreamFault(line, problem.status, detail, errors))

    async def _warn(self, line: int, warning: WarningDocument) -> None:
        self._warned += 1
        self._metrics.without_features["learn"] += 1
        if self._warned <= MOST_FAULTS:
            await self._write(StreamWarning(line, warning.detail, warning.pointer))

    async def _write(self, message: msgspec.Struct, more: bool = True) -> None:
        body = self._unsent + _encode(message) + b"\n"
        if self._minimal and more:
            self._unsent = body
            return
        if not self._answering:
            self._answering = True
            headers = [(b"content-type", MEDIA_TYPE)]
            if self._minimal:
                headers.append((b"preference-applied", b"return=minimal"))
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": more})

    async def _end(self, message: msgspec.Struct) -> None:
        await self._write(message, more=False)


def _prefers_minimal(headers: Headers) -> bool:
    """Whether the client wants its whole answer at the end, as RFC 7240 has it said.

    There are proxies that stop sending a request on once its answer has begun.
    """
    preferences = headers.get(b"prefer", b"").lower().split(b",")
    return any(each.split(b";")[0].strip() == b"return=minimal" for each in preferences)


async def _pieces(
    receive: Receive, gunzip: Gunzip | None, stop: "asyncio.Future[Any]", patience: float
) -> AsyncGenerator[bytes]:
    """The body as it arrives, and nothing (b"") whenever that long nothing did.

    Raises ClientGone when the body's end does not come, a Problem when the stream has to stop.
    """
    more = True
    while more:
        receiving = asyncio.ensure_future(receive())
        try:
            while not await _arrived(receiving, stop, patience):
                yield b""
            message = receiving.result()
        finally:
            receiving.cancel()
        if message["type"] == "http.disconnect":
            raise ClientGone
        more = message.get("more_body", False)
        if gunzip is None:
            yield message.get("body", b"")
        else:
            for piece in gunzip.feed(message.get("body", b"")):
                yield piece
                _go_on(stop)
                await asyncio.sleep(0)  # little may unpack to much: others have their turn
    if gunzip is not None:
        gunzip.end()


async def _arrived(
    receiving: "asyncio.Future[Any]", stop: "asyncio.Future[Any]", patience: float
) -> bool:
    _go_on(stop)  # first, for there is always more from a client that never pauses
    waiting_for = {receiving, stop}
    await asyncio.wait(waiting_for, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
    if not receiving.done():
        _go_on(stop)
    return receiving.done()


def _go_on(stop: "asyncio.Future[Any]") -> None:
    if stop.done():
        raise unavailable("The service is stopping.")

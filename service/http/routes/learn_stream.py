"""POST /learn with one event a line: events are learned while the stream arrives."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import msgspec

from manyclass.core.errors import RequestConflict
from manyclass.core.event import Event
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.http.call import CallRequest
from manyclass.service.http.decoding import decode
from manyclass.service.http.event_builder import EventBuilder, Known
from manyclass.service.http.instances import LARGE_BYTES
from manyclass.service.http.large_body import LargeBodies
from manyclass.service.http.line_reader import Lines, pieces
from manyclass.service.http.problems import ClientGone, Problem, invalid, problem_of
from manyclass.service.http.request_body import GUNZIP_BYTES, Gunzip, is_gzipped
from manyclass.service.http.schemas.learn import (
    MOST_REQUEST_PLACEMENTS,
    LearnEvent,
    LearnRequest,
    Progress,
    StreamFailure,
    Summary,
    names_in,
    placements_in,
)
from manyclass.service.http.stream_report import PROGRESS_SECONDS, ProgressSchedule, StreamReport
from manyclass.service.http.time_slice import TimeSlice
from manyclass.service.log.request import Result
from manyclass.service.log.submission import NAME_BYTES
from manyclass.service.observability.metrics import Metrics

logger = logging.getLogger(__name__)

BATCH_EVENTS = 256

_decoder = msgspec.json.Decoder(LearnEvent)
_large = LargeBodies(LearnRequest, LearnEvent, "events", 1)


class LearnStream:
    """The part that answers streams of events. When `stopping` is set, streams end early."""

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        builder: EventBuilder,
        metrics: Metrics,
        stopping: asyncio.Event,
    ) -> None:
        self.longest_line = settings.max_body_bytes
        self.engine = engine
        self.builder = builder
        self.metrics = metrics
        self._stopping = stopping

    async def answer(self, request: CallRequest) -> None:
        """Learn every line. Raises Problem only before anything was learned or answered."""
        gunzip = Gunzip() if is_gzipped(request.headers) else None
        request.reservation.resize(0 if gunzip is None else GUNZIP_BYTES)
        stop = asyncio.ensure_future(self._stopping.wait())
        try:
            stream = _Stream(self, request)
            body = pieces(request.receive, gunzip, stop, PROGRESS_SECONDS, stream.lines.hold)
            async with aclosing(body):
                await stream.run(body)
        finally:
            stop.cancel()


class _Stream:
    """One stream: its counts, and the lines that are read but not yet learned."""

    def __init__(self, service: LearnStream, request: CallRequest) -> None:
        clock = asyncio.get_running_loop().time
        self._engine = service.engine
        self._builder = service.builder
        self._metrics = service.metrics
        self._signer = request.signer
        self.lines = Lines(service.longest_line, request.reservation, clock)
        self._schedule = ProgressSchedule(clock)
        self._report = StreamReport(request.headers, request.send)
        self._read: list[tuple[int, LearnEvent | Problem]] = []  # line numbers and forms
        self._placements = 0  # in `_read`
        self._line = 0  # number of the last line read
        self._settled = 0  # number of the line up to which all are learned or were found faulty
        self._accepted = 0
        self._with_classes = 0  # of the accepted events
        self._duplicates = 0
        self._rejected = 0
        self._seq = 0
        self._hits = {1: 0, 5: 0}
        self._time_slice = TimeSlice()

    async def run(self, body: AsyncIterator[bytes]) -> None:
        """Learn all lines and report the result. Raises Problem before anything was learned."""
        try:
            async for piece in body:
                await self._take(self.lines.feed(piece))
            await self._take(self.lines.rest())
        except ClientGone:
            raise
        except Exception as error:
            if not (self._report.has_begun or self._accepted or self._duplicates):
                raise
            await self._fail(error)
        else:
            await self._report.write(Summary(*self._counts()), more=False)

    async def _fail(self, error: Exception) -> None:
        """Report the error and the number of the last settled line."""
        self._metrics.out_of_memory.note(error)
        problem = problem_of(error)
        if problem.status == 500:
            logger.error("a stream failed after line %d", self._settled, exc_info=error)
        failure = StreamFailure(
            *self._counts(),
            status=problem.status,
            detail=problem.detail,
            learned_up_to_line=self._settled,
        )
        await self._report.write(failure, more=False)

    async def _take(self, lines: Iterator[bytes | None]) -> None:
        """Learn the lines of one piece of the body; report progress when it is due."""
        for line in lines:
            self._line += 1
            if self._metrics.out_of_memory.is_short:
                raise MemoryError
            if line is None or (line and not line.isspace()):
                form = await self._form_of(line)
                self._read.append((self._line, form))
                if isinstance(form, LearnEvent):
                    self._placements += placements_in(form)
                    self.lines.hold(NAME_BYTES * names_in(form))
            if len(self._read) >= BATCH_EVENTS or self._placements >= MOST_REQUEST_PLACEMENTS:
                await self._learn()
            if self._time_slice.is_over:  # no await above suspends if all lines are blank
                await self._time_slice.renew()
        await self._learn()
        self.lines.settle()
        if self._time_slice.is_over:  # no line may have ended
            await self._time_slice.renew()
        if not self._report.is_minimal and self._schedule.is_due(self._settled):
            await self._report.write(Progress(*self._counts()))

    async def _learn(self) -> None:
        """Learn the lines read. Reading pauses meanwhile, which slows the sender down."""
        read, self._read, self._placements = self._read, [], 0
        known = await self._builder.instances(
            [form for _, form in read if isinstance(form, LearnEvent)]
        )
        batch = await self._events(read, known)
        del read  # the queue counts the memory of waiting events, but not of their forms
        while batch:
            try:
                results = await self._engine.submit([event for _, _, event in batch], wait=True)
            except RequestConflict as conflict:
                line, _, _ = batch.pop(conflict.position)
                await self._reject(line, await self._builder.problem_of(conflict))
                if self._time_slice.is_over:  # the rest is checked again
                    await self._time_slice.renew()
            else:
                for (_, instance_id, event), result in zip(batch, results, strict=True):
                    self._builder.learned(instance_id, known, event, result)
                    self._count(event, result)
                batch.clear()
        self._settled = self._line

    async def _events(
        self, read: list[tuple[int, LearnEvent | Problem]], known: Known
    ) -> list[tuple[int, str | None, Event | Result]]:
        """Return the events of the lines read, with the line number and the `id` of each; report
        faulty lines.
        """
        events: list[tuple[int, str | None, Event | Result]] = []
        for line, form in read:
            try:
                if isinstance(form, Problem):
                    raise form
                built = await self._builder.event(form, known)
                self.lines.hold(built.size)
                events.append((line, form.id, built.event))
                for warning in self._builder.warnings_of(form, built):
                    await self._report.warn(line, warning)
            except Exception as error:
                problem = problem_of(error)
                if problem.status >= 500:  # the fault is not in the line
                    raise
                await self._reject(line, problem)
            if self._time_slice.is_over:
                await self._time_slice.renew()
        return events

    async def _form_of(self, line: bytes | None) -> LearnEvent | Problem:
        """Return the form in a line, or the problem with the line."""
        if line is None:
            return invalid("The line is too long.")
        try:
            large = len(line) > LARGE_BYTES
            form = await _large.form(line) if large else decode(_decoder, line)
            form.reviewer = self._signer.reviewer(form.reviewer)
            return form
        except (Problem, msgspec.MsgspecError) as error:
            return problem_of(error)

    async def _reject(self, line: int, problem: Problem) -> None:
        self._rejected += 1
        self._metrics.learn_events["rejected"] += 1
        await self._report.reject(line, problem)

    def _count(self, event: Event | Result, result: Result) -> None:
        self._seq = max(self._seq, result.seq)
        if result.duplicate:
            self._duplicates += 1
            self._metrics.learn_events["duplicate"] += 1
            return
        self._accepted += 1
        if isinstance(event, Event) and (event.kind == "amend" or not event.classes):
            return
        self._with_classes += 1
        for k in self._hits:
            self._hits[k] += result.rank is not None and result.rank <= k

    def _counts(self) -> tuple[int, int, int, int, int, float | None, float | None]:
        r1, r5 = (
            hits / self._with_classes if self._with_classes else None
            for hits in self._hits.values()
        )
        return self._line, self._accepted, self._duplicates, self._rejected, self._seq, r1, r5

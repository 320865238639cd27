"""POST /learn, one event or many. Hot: reads and writes its bodies itself."""

from collections.abc import Sequence

import msgspec
from fastapi import APIRouter
from msgspec import UNSET

from manyclass.core.errors import EventConflict
from manyclass.core.event import Event
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.large_body import LARGE_BYTES, LargeBodies
from manyclass.service.http.memory_budget import Hold
from manyclass.service.http.problems import problem_of
from manyclass.service.http.request_body import (
    Headers,
    Receive,
    Send,
    media_type,
    read_body,
    require_json,
)
from manyclass.service.http.routes.contract import hot, one_of
from manyclass.service.http.routes.learn_stream import MEDIA_TYPE, LearnStream
from manyclass.service.http.schemas import (
    LearnAnswer,
    LearnEvent,
    LearnManyAnswer,
    LearnRequest,
    check_many,
    decode,
    warning_of,
)
from manyclass.service.http.turn import Turn
from manyclass.service.ingest.event_builder import EventBuilder, Known, is_without_features
from manyclass.service.log.request import Result
from manyclass.service.observability.metrics import Metrics

router = APIRouter(tags=["learn"])


@router.post(
    "/learn",
    **hot(
        Scope.LEARN,
        404,
        409,
        410,
        reads={
            "application/json": one_of("LearnRequest"),
            "application/x-ndjson": one_of("LearnLines"),
        },
        writes={
            "application/json": one_of("LearnAnswer", "LearnManyAnswer"),
            "application/x-ndjson": one_of("LearnStreamLines"),
        },
    ),
)
async def learn() -> None:
    """Teach an instance its true classes, or many. 200 means: durable and learned.

    `id` refers to an instance that was ranked before. Each is kept for a time and within a limit of
    bytes, by the process that ranked it: later is 410, and 404 when that process has been
    restarted. Other processes on the same store ask it; 503 when one of them did not answer, which
    may be the one. An id of your own that several of them rank stands for any of these instances.

    An instance without features (a text without words, no value above 0) makes no new class: it
    could never be ranked, except by the learner `frequency`. `warnings` says so.

    The features times the classes of an event are at most 200,000.

    An `event_id` makes a retry harmless, whatever the order of its features and classes. It is
    remembered for the last 1,000,000 events that had one; when the service goes back to a snapshot,
    what was undone may be sent again.

    Many are taken whole or not at all; of a stream (one event a line) a bad line is reported and
    skipped, and the answer is one object a line too. It begins while lines still come, which not
    every proxy can stand: with the header `Prefer: return=minimal` it comes at the end, and without
    progress.
    """
    raise AssertionError("the front answers this call")


_decoder = msgspec.json.Decoder(LearnRequest)
_encode = msgspec.json.Encoder().encode


class Learn:
    """Teaches an instance its true classes, or many; answers when that is durable and learned."""

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        keys: ApiKeys,
        intake: EventBuilder,
        metrics: Metrics,
        stream: LearnStream,
    ) -> None:
        self._most_bytes = settings.max_body_bytes
        self._most_events = settings.max_batch
        self._engine = engine
        self._keys = keys
        self._intake = intake
        self._metrics = metrics
        self._stream = stream
        self._large = LargeBodies(LearnRequest, LearnEvent, "events", settings.max_batch)

    async def answer(
        self, headers: Headers, receive: Receive, send: Send, hold: Hold
    ) -> bytes | None:
        """The body of the answer, None after a stream; raises what `problem_of` understands."""
        self._keys.require(Scope.LEARN, headers.get(b"authorization"))
        _ = self._engine.model  # NotReady before there is one
        if media_type(headers) == MEDIA_TYPE:
            await self._stream.answer(headers, receive, send, hold)
            return None
        require_json(headers)
        body = await read_body(headers, receive, self._most_bytes, hold)
        sent = 1
        try:
            large = len(body) > LARGE_BYTES
            request = await self._large.request(body) if large else decode(_decoder, body)
            if request.events is not UNSET:
                sent = len(request.events)
                return await self._many(request, request.events)
            known = await self._intake.instances([request])
            event = await self._intake.event_in_turns(request, known)
            [result] = await self._intake.submit([event])
        except Exception as error:
            if problem_of(error).status < 500:  # else nothing is wrong with what was sent
                self._metrics.learn_events["rejected"] += sent
            raise
        self._metrics.learn_events["duplicate"] += result.duplicate
        accepted = not result.duplicate
        answer = LearnAnswer(
            result.seq, int(accepted), int(result.duplicate), result.rank, result.updated
        )
        if is_without_features(event):
            self._metrics.without_features["learn"] += 1
            answer.warnings = [warning_of(request)]
        return _encode(answer)

    async def _many(self, request: LearnRequest, forms: Sequence[LearnEvent]) -> bytes:
        check_many(request, LearnEvent, "events", forms, self._most_events, "event to learn")
        known = await self._intake.instances(forms)
        turn = Turn()
        events = []
        for position, form in enumerate(forms):
            events.append(await self._event(position, form, known))
            if turn.is_over:
                await turn.pass_on()
        try:
            results = await self._intake.submit(events)
        except EventConflict as conflict:
            raise problem_of(conflict).within("events", conflict.position) from conflict
        duplicates = sum(result.duplicate for result in results)
        self._metrics.learn_events["duplicate"] += duplicates
        answer = LearnManyAnswer(
            max(result.seq for result in results),
            len(results) - duplicates,
            duplicates,
            [result.rank for result in results],
        )
        warnings = [
            warning_of(forms[position], "events", position)
            for position, event in enumerate(events)
            if is_without_features(event)
        ]
        if warnings:
            self._metrics.without_features["learn"] += len(warnings)
            answer.warnings = warnings
        return _encode(answer)

    async def _event(self, position: int, form: LearnEvent, known: Known) -> Event | Result:
        try:
            return await self._intake.event_in_turns(form, known)
        except Exception as error:
            raise problem_of(error).within("events", position) from error

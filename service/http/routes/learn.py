"""POST /learn: one event or many; learn_stream.py has the streams."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

import msgspec

from manyclass.core.errors import RequestConflict
from manyclass.core.event import Event
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.http.auth import ApiKeys, Scope, Signer
from manyclass.service.http.call import Call, CallRequest
from manyclass.service.http.decoding import check_many, decode
from manyclass.service.http.event_builder import Built, EventBuilder, Known
from manyclass.service.http.instances import LARGE_BYTES
from manyclass.service.http.large_body import LargeBodies
from manyclass.service.http.memory_budget import MemoryBudget, Reservation
from manyclass.service.http.plain_events import PlainEvents
from manyclass.service.http.problems import Problem, invalid, problem_of
from manyclass.service.http.request_body import NDJSON, media_type
from manyclass.service.http.routes.learn_stream import LearnStream
from manyclass.service.http.schemas.learn import (
    MOST_REQUEST_PLACEMENTS,
    LearnEvent,
    LearnManyAnswer,
    LearnRequest,
    names_in,
    placements_in,
)
from manyclass.service.http.schemas.parts import WarningDocument
from manyclass.service.http.time_slice import TimeSlice
from manyclass.service.log.request import Result
from manyclass.service.log.submission import NAME_BYTES
from manyclass.service.observability.metrics import Metrics

STREAM_TYPE = NDJSON.decode()

_decoder = msgspec.json.Decoder(LearnRequest)
_encode = msgspec.json.Encoder().encode


def _sign(forms: Sequence[LearnEvent], signer: Signer) -> None:
    """Set the reviewer of each event. Raises Problem with the position of a wrong one."""
    for position, each in enumerate(forms):
        try:
            each.reviewer = signer.reviewer(each.reviewer)
        except Problem as problem:
            raise problem.within("events", position) from problem


def _reserve(reservation: Reservation, form: LearnRequest | LearnEvent) -> None:
    """Reserve memory for the names of an event, or of all events of a request. Raises Problem
    503.
    """
    names = names_in(form)
    if isinstance(form, LearnRequest) and form.events is not None:
        names += sum(map(names_in, form.events))
    reservation.add(NAME_BYTES * names)


class Learn(Call):
    """The call that learns one event, many, or a stream; it answers once they are durable and
    learned.
    """

    path = "/learn"
    title = "learn"
    tag = "learn"
    scope = Scope.LEARN
    statuses = (404, 409, 410)
    reads: ClassVar = {
        "application/json": ["LearnRequest"],
        "application/x-ndjson": ["LearnLines"],
    }
    writes: ClassVar = {
        "application/json": ["LearnAnswer", "LearnManyAnswer"],
        "application/x-ndjson": ["LearnStreamLines"],
    }

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        keys: ApiKeys,
        builder: EventBuilder,
        metrics: Metrics,
        stream: LearnStream,
        budget: MemoryBudget,
    ) -> None:
        super().__init__(keys, budget)
        self._settings = settings
        self._engine = engine
        self._builder = builder
        self._metrics = metrics
        self._stream = stream
        self._large = LargeBodies(LearnRequest, LearnEvent, "events", settings.max_batch)

    async def answer(self, request: CallRequest) -> bytes | None:
        """Learn an instance with its true classes, or many instances. An answer of 200 means that
        the events are durable and learned.

        `not` lists wrong classes, with or without `classes`; the event says nothing about all other
        classes. Unknown classes in `not` stay unknown. `weight`, from 0.001 to 1,000, says how much
        the event counts. Not every learner supports `not` and `weight`: if the primary learner or a
        shadow does not, the answer is 422 and names the learners that do.

        `rank_before` is the true class's position before learning, or `null` if it was not
        retrieved or the event has no true class.

        `id` refers to an instance ranked earlier. The process that ranked the instance keeps it for
        a limited time and in limited memory: afterwards the answer is 410, or 404 after a restart
        of that process. Other processes on the same store ask that process for the instance; the
        answer is 503 if a process that may have it did not answer. If several processes ranked an
        instance under the same `id`, the label is applied to one of these instances. The history
        stores the event with the ranked text, the `id`, and the `source` of the ranking if the
        event has none.

        An instance without features (a text without words, no value other than 0) and without a
        vector adds no new class, because the class could never be retrieved; `warnings` reports it.
        Only a learner that ignores features adds the class.

        A `vector`, such as an embedding, may stand beside `features` or `text`, or alone. All
        vectors of a store have the same dimension.

        Learners with signed weights (`svm`, `pa`, `arow`, `mmp`, `path`, `hieron`) use values below
        0. All other learners, primary or shadow, ignore such values: `warnings` reports them, and
        the history keeps them.

        Words of a text that are longer than a name may be are left out, and so are features beyond
        the largest number of features of an instance; `warnings` reports it.

        The number of features of an event times the number of its classes, including `not`, is at
        most 200,000; further features of a text are left out. An event places at most 1,000 classes
        in the taxonomy, and the events of one request at most 5,000.

        An `event_id` makes a retry harmless; features and classes may be in another order. The
        service remembers the ids of the last 1,000,000 events that had one. After a snapshot was
        restored, the events that the restore has undone may be sent again.

        Many events are learned together or not at all. In a stream (one event per line), a faulty
        line is reported and skipped, and the answer has one object per line. The answer begins
        before the last line is read, which some proxies do not support: with the header `Prefer:
        return=minimal`, the whole answer comes at the end, without progress.
        """
        _ = self._engine.model  # raises NotReady before there is one
        if media_type(request.headers) == NDJSON:
            await self._stream.answer(request)
            return None
        sent = 1
        try:
            form = await self._form(request)
            is_one = form.events is None
            if form.events is None:
                form.reviewer = request.signer.reviewer(form.reviewer)
                read = await self._read(form)
            else:
                sent = len(form.events)
                _sign(form.events, request.signer)
                read = await self._read_many(form, form.events, request.reservation)
            del form  # the queue counts the memory of waiting events, but not of their forms
            results = await self._learn(read, is_one)
        except Exception as error:
            if problem_of(error).status < 500:  # the fault is in the request
                self._metrics.learn_events["rejected"] += sent
            raise
        self._metrics.learn_events["duplicate"] += sum(each.duplicate for each in results)
        body = PlainEvents.body(results[0]) if is_one else _encode(_many_answer(results))
        if read.warnings:
            return b"".join((body[:-1], b',"warnings":', _encode(read.warnings), b"}"))
        return body

    async def _form(self, request: CallRequest) -> LearnRequest:
        body = await request.json_body(self._settings.max_body_bytes, STREAM_TYPE)
        if len(body) > LARGE_BYTES:
            return await self._large.request(body, partial(_reserve, request.reservation))
        form = decode(_decoder, body)
        _reserve(request.reservation, form)
        return form

    async def _read(self, form: LearnRequest) -> "_Read":
        """Return the event of a request of one."""
        read = _Read(self._builder, await self._builder.instances([form]))
        read.add(form, await self._builder.event(form, read.known))
        return read

    async def _read_many(
        self, request: LearnRequest, forms: Sequence[LearnEvent], reservation: Reservation
    ) -> "_Read":
        """Return the events of a request of many."""
        check_many(request, LearnEvent, "events", forms, self._settings.max_batch, "event to learn")
        placements = sum(map(placements_in, forms))
        if placements > MOST_REQUEST_PLACEMENTS:
            raise invalid(
                f"The events of a request place at most {MOST_REQUEST_PLACEMENTS} classes in total;"
                f" these place {placements}.",
                "events",
            )
        read = _Read(self._builder, await self._builder.instances(forms))
        time_slice = TimeSlice()
        for position, form in enumerate(forms):
            built = await self._event(position, form, read.known)
            reservation.add(built.size)
            read.add(form, built, "events", position)
            if time_slice.is_over:
                await time_slice.renew()
        return read

    async def _event(self, position: int, form: LearnEvent, known: Known) -> Built:
        try:
            return await self._builder.event(form, known)
        except Exception as error:
            raise problem_of(error).within("events", position) from error

    async def _learn(self, read: "_Read", is_one: bool) -> list[Result]:
        try:
            results = await self._engine.submit(read.events)
        except RequestConflict as conflict:
            problem = await self._builder.problem_of(conflict)
            if is_one:
                raise problem from conflict
            raise problem.within("events", conflict.position) from conflict
        for instance_id, event, result in zip(read.ids, read.events, results, strict=True):
            self._builder.learned(instance_id, read.known, event, result)
        return results


class _Read:
    """The events of a request, and the data of their forms that the answer needs; forms may be
    large.
    """

    def __init__(self, builder: EventBuilder, known: Known) -> None:
        self._builder = builder
        self.known = known
        self.events: list[Event | Result] = []
        self.ids: list[str | None] = []  # of instances ranked before
        self.warnings: list[WarningDocument] = []

    def add(self, form: LearnEvent | LearnRequest, built: Built, *place: str | int) -> None:
        """Add the event of a form, which stands at `place` in the request."""
        self.events.append(built.event)
        self.ids.append(form.id)
        self.warnings += self._builder.warnings_of(form, built, *place)


def _many_answer(results: Sequence[Result]) -> LearnManyAnswer:
    duplicates = sum(result.duplicate for result in results)
    ranks = [result.rank for result in results]
    seq = max(result.seq for result in results)
    return LearnManyAnswer(seq, len(results) - duplicates, duplicates, ranks)

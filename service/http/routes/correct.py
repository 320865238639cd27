"""PUT /events/{name}: correct the classes of a past event."""

from typing import ClassVar

import msgspec

from manyclass.core.event import Event
from manyclass.core.event_parts import class_names
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.call import CallRequest, ChangeCall
from manyclass.service.http.decoding import decode, names_of
from manyclass.service.http.labels import check_correction
from manyclass.service.http.memory_budget import MemoryBudget
from manyclass.service.http.problems import Problem
from manyclass.service.http.reads import ReadingThreads
from manyclass.service.http.routes.events import find
from manyclass.service.http.schemas.events import Amended, CorrectRequest
from manyclass.service.http.time_slice import run_in_thread

_decoder = msgspec.json.Decoder(CorrectRequest)


class CorrectEvent(ChangeCall):
    """Corrects one event."""

    method = "PUT"
    path = "/events/{name:name}"
    title = "correct_event"
    tag = "events"
    scope = Scope.LEARN
    statuses = (404, 409)
    reads: ClassVar = {"application/json": ["CorrectRequest"]}
    writes: ClassVar = {"application/json": ["Amended"]}

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        keys: ApiKeys,
        budget: MemoryBudget,
        threads: ReadingThreads,
    ) -> None:
        super().__init__(settings, engine, keys, budget)
        self._threads = threads

    async def answer(self, request: CallRequest) -> bytes:
        """Correct the true classes of a learned event. The correction is a durable event.

        The service at once learns the instance with the right classes and against the wrong ones,
        and no longer replays it with the wrong ones. After the next rebuild (`POST /rebuild`) the
        state is as if the event had always been right. A retry of the original event is still a
        duplicate. Sending the classes that the event already has confirms its label: `/suspects` no
        longer lists it. A repeated correction changes nothing. The answer is 409 if a restore has
        undone the event, if `name` is the id of one event and the number of another, or if it is
        the id of an instance that several events label.
        """
        _ = self._engine.history  # raises HistoryOff, NotReady
        form = decode(_decoder, await self.body(request))
        reviewer = request.signer.reviewer(form.reviewer)
        classes = class_names(names_of(form.classes, "classes"))
        record = await find(self._engine, request.name, self._threads.run)
        if record.is_undone:
            raise Problem(
                409,
                f"A restore has undone event {record.seq}, so there is no label to correct: send"
                " the event to /learn again, or delete it.",
            )
        if record.is_corrected and sorted(classes) == sorted(record.classes):
            return msgspec.json.encode(Amended(record.seq, record.seq, changed=False))
        event = await run_in_thread(record.event.read_by, self._engine.model.text)
        check_correction(len(event.instance), len(classes) + len(record.classes))
        amendment = Event.amend(
            record.seq,
            event.instance,
            classes,
            record.classes,
            event.weight,
            text=event.text,
            reading=event.reading,
            reviewer=reviewer,
        )
        [result] = await self._engine.submit([amendment])
        return msgspec.json.encode(Amended(result.seq, record.seq, changed=True))

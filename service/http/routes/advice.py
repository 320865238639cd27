"""Advice: other learners and analyses of texts, compared with the present ones on the history."""

from typing import Annotated, ClassVar

import msgspec
from fastapi import Depends, Request, Response

from manyclass.core.errors import OptionError
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.history.advisor import AdviceQuestion, Advisor, check_learner
from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.call import CallRequest, ChangeCall
from manyclass.service.http.decoding import decode
from manyclass.service.http.memory_budget import MemoryBudget
from manyclass.service.http.problems import Fault, Problem, pointer
from manyclass.service.http.reads import JSON
from manyclass.service.http.request_body import read_body, require_json
from manyclass.service.http.routes.contract import TheEngine, needs, router_of
from manyclass.service.http.schemas.advice import (
    DEFAULT_EVENTS,
    DEFAULT_SECONDS,
    AdviceRequest,
    AdviceStatus,
)

router = router_of("learners")

_decoder = msgspec.json.Decoder(AdviceRequest)


class StartAdvice(ChangeCall):
    """Begins a comparison of learners."""

    path = "/advice"
    title = "start_advice"
    tag = "learners"
    scope = Scope.ADMIN
    statuses = (404, 409)
    reads: ClassVar = {"application/json": ["AdviceRequest"]}
    writes: ClassVar = {"application/json": ["AdviceStatus"]}
    needs_body: ClassVar = False

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        keys: ApiKeys,
        budget: MemoryBudget,
        advisor: Advisor,
    ) -> None:
        super().__init__(settings, engine, keys, budget)
        self._advisor = advisor

    async def answer(self, request: CallRequest) -> bytes:
        """Begin to compare other learners with the present one on the newest events.

        The candidates are presets and options of `svm`, `path` if the classes have a taxonomy, the
        `learners` of the request, and other analyses of the texts. A child process of low priority
        ranks each event before it learns it, in their order, with each candidate; nothing of the
        service changes. `GET /advice` shows the progress and the figures, `DELETE /advice` ends the
        work. `POST /learners` with `history` makes an advised learner a shadow, and `POST /rebuild`
        with `text` changes the analysis of texts.

        The answer comes at once. It is 404 for a text that is not a learner, 409 while a comparison
        is in progress in this process, 503 if memory is short.
        """
        history, model = self._engine.history, self._engine.model
        body = await read_body(
            request.headers, request.receive, self._settings.max_body_bytes, request.reservation
        )
        if body:
            require_json(request.headers)
        form = decode(_decoder, body) if body else AdviceRequest()
        learners = []
        for at, each in enumerate(form.learners or ()):
            try:
                learners.append(check_learner(each, model.options))
            except OptionError as error:
                fault = Fault(str(error), pointer(("learners", at)))
                raise Problem(404, str(error), [fault]) from error
        question = AdviceQuestion(
            int(form.last or DEFAULT_EVENTS), form.seconds or DEFAULT_SECONDS, tuple(learners)
        )
        self._advisor.start(history, model, question)
        return msgspec.json.encode(self._advisor.state)


async def _advisor(request: Request) -> Advisor:
    advisor: Advisor = request.app.state.advisor
    return advisor


TheAdvisor = Annotated[Advisor, Depends(_advisor)]


@router.get("/advice", response_model=AdviceStatus, **needs(Scope.LEARN, 404))
async def advice_status(engine: TheEngine, advisor: TheAdvisor) -> Response:
    """Return the progress of the comparison in this process, or the figures of the last one."""
    _ = engine.history  # raises HistoryOff, NotReady
    return Response(msgspec.json.encode(advisor.state), media_type=JSON)


@router.delete("/advice", response_model=AdviceStatus, **needs(Scope.ADMIN, 404, 413))
async def stop_advice(engine: TheEngine, advisor: TheAdvisor) -> Response:
    """End the comparison in progress in this process; the figures so far stay."""
    _ = engine.history  # raises HistoryOff, NotReady
    await advisor.stop()
    return Response(msgspec.json.encode(advisor.state), media_type=JSON)

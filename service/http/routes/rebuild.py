"""Rebuilds: replay the amended history."""

from typing import ClassVar

import msgspec
from fastapi import Request

from manyclass.core.errors import OptionError
from manyclass.core.learners.options import Options
from manyclass.core.text import TextAnalysis
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.history.peer_rebuild import PeerRebuild
from manyclass.service.history.rebuild import RebuildStatus
from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.call import CallRequest, ChangeCall
from manyclass.service.http.decoding import decode
from manyclass.service.http.memory_budget import MemoryBudget
from manyclass.service.http.problems import Problem, invalid
from manyclass.service.http.request_body import read_body, require_json
from manyclass.service.http.routes.contract import TheEngine, needs, router_of
from manyclass.service.http.schemas.rebuild import RebuildRequest

router = router_of("events")

_decoder = msgspec.json.Decoder(RebuildRequest)


class RebuildState(ChangeCall):
    """Rebuilds the state."""

    path = "/rebuild"
    title = "rebuild"
    tag = "events"
    scope = Scope.ADMIN
    statuses = (404, 409)
    reads: ClassVar = {"application/json": ["RebuildRequest"]}
    writes: ClassVar = {"application/json": ["RebuildReport"]}
    needs_body: ClassVar = False

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        keys: ApiKeys,
        budget: MemoryBudget,
        rebuilds: PeerRebuild,
    ) -> None:
        super().__init__(settings, engine, keys, budget)
        self._rebuilds = rebuilds

    async def answer(self, request: CallRequest) -> bytes:
        """Replay the amended history and switch to the resulting state.

        With `learner`, a shadow with this specification learns the whole history too, as if it had
        been there from the first event on, and can be promoted afterwards. If there is no such
        shadow, it is added.

        With `text`, the new state is the one of a service that started with this analysis of texts
        and learned the same events. Until then the service ranks and learns with the former
        analysis. Texts that wait for a label are analysed again when they are labelled. Events that
        were sent as `features` do not change.

        The answer comes when the new state is durable. By then no trace of deleted events is left
        in the log, the history, the snapshots and the free pages of the store. Ranking and learning
        continue meanwhile. With several processes, the leader rebuilds, and any process accepts the
        request. The answer is 409 if a rebuild is in progress, the history does not reach back to a
        snapshot, the learner is the primary one, or another analysis cannot read all events because
        their texts were not kept or they have left the history; 404 if there is no such learner.
        """
        _ = self._engine.rebuild  # raises HistoryOff, NotReady
        body = await read_body(
            request.headers, request.receive, self._settings.max_body_bytes, request.reservation
        )
        if body:
            require_json(request.headers)
        form = decode(_decoder, body) if body else RebuildRequest()
        if form.learner is not None:
            try:
                Options.parse(form.learner)
            except OptionError as error:
                raise Problem(404, str(error)) from error
        text = None if form.text is None else _analysis(form.text)
        report = await self._rebuilds.run(self._engine.rebuild_state, form.learner, text)
        return msgspec.json.encode(report)


def _analysis(named: str) -> TextAnalysis:
    """Return the analysis of this name. Raises Problem 422."""
    try:
        return TextAnalysis.parse(named)
    except ValueError as error:
        raise invalid(f"`text`: {error}.", "text") from error


@router.get("/rebuild", **needs(Scope.LEARN, 404))
async def rebuild_status(request: Request, engine: TheEngine) -> RebuildStatus:
    """Return whether a rebuild is in progress, how many amended events wait for one, and whether
    classes were merged since the last one.

    With several processes, the leader's status is returned by any process.
    """
    _ = engine.rebuild  # raises HistoryOff, NotReady
    rebuilds: PeerRebuild = request.app.state.rebuilds
    return await rebuilds.status(engine.rebuild_status)

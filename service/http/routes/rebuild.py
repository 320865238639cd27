"""Rebuilds: learn the amended history again."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from manyclass.core.errors import OptionError
from manyclass.core.instance import LONGEST_NAME
from manyclass.core.learners.options import Options
from manyclass.service.history.rebuild import RebuildReport, RebuildStatus
from manyclass.service.http.auth import Scope
from manyclass.service.http.problems import Problem
from manyclass.service.http.routes.contract import TheEngine, needs
from manyclass.service.ingest.peer_rebuild import PeerRebuild

router = APIRouter(tags=["events"])

_A_SHADOW = "a shadow that learns the whole history: svm(replay=4)"
ALearner = Annotated[
    str | None, Query(min_length=1, max_length=LONGEST_NAME, description=_A_SHADOW)
]


@router.post("/rebuild", **needs(Scope.ADMIN, 404, 409, 413, 422))
async def rebuild(request: Request, engine: TheEngine, learner: ALearner = None) -> RebuildReport:
    """Learn the history again as it was amended, and go over to the state that results.

    With `learner`, a shadow of this name learns the whole history too, as if it had been there from
    the first event on. It joins the shadows if there is none such, unless `MANYCLASS_SHADOWS` names
    them, and can be promoted afterwards.

    The answer comes when that state is durable. Then no trace of deleted events is left in the log,
    the history, the snapshots and the free pages of the store. Ranking and learning go on
    meanwhile. Of several processes the leader rebuilds, whichever is asked. 409 if a rebuild is
    under way, the history does not reach back to a snapshot, or the learner is the primary one; 404
    if there is no such learner.
    """
    _ = engine.rebuild  # raises HistoryOff, NotReady
    rebuilds: PeerRebuild = request.app.state.rebuilds
    if learner is not None:
        try:
            Options.parse(learner)
        except OptionError as error:
            raise Problem(404, str(error)) from error
    return await rebuilds.run(engine.rebuild_state, learner)


@router.get("/rebuild", **needs(Scope.LEARN, 404))
async def rebuild_status(request: Request, engine: TheEngine) -> RebuildStatus:
    """Return whether a rebuild runs, and how many amended events wait for one.

    Of several processes the leader answers, whichever is asked.
    """
    _ = engine.rebuild  # raises HistoryOff, NotReady
    rebuilds: PeerRebuild = request.app.state.rebuilds
    return await rebuilds.status(engine.rebuild_status)

"""Rebuilds: learn the amended history again."""

from fastapi import APIRouter, Request

from manyclass.service.http.auth import Scope
from manyclass.service.http.routes.contract import TheEngine, needs
from manyclass.service.http.schemas.events import RebuildReport, RebuildStatus
from manyclass.service.ingest.peer_rebuild import PeerRebuild

router = APIRouter(tags=["events"])


@router.post("/rebuild", **needs(Scope.ADMIN, 404, 409, 413))
async def rebuild(request: Request, engine: TheEngine) -> RebuildReport:
    """Learn the history again as it was amended, and go over to the state that results.

    The answer comes when that state is durable. Then no trace of deleted events is left in the log,
    the history, the snapshots and the free pages of the store. Ranking and learning go on
    meanwhile. Of several processes the leader rebuilds, whichever is asked. 409 if a rebuild is
    under way, or the history does not reach back to a snapshot.
    """
    _ = engine.rebuild  # raises HistoryOff, NotReady
    rebuilds: PeerRebuild = request.app.state.rebuilds
    return RebuildReport.model_validate(await rebuilds.run(engine.rebuild_state))


@router.get("/rebuild", **needs(Scope.LEARN, 404))
async def rebuild_status(engine: TheEngine) -> RebuildStatus:
    """Return whether a rebuild runs, and how many amended events wait for one."""
    rebuild, waiting = engine.rebuild, len(engine.history.amendments)
    last = None if rebuild.last is None else RebuildReport.model_validate(rebuild.last)
    return RebuildStatus(
        running=rebuild.is_running, learned=rebuild.learned, waiting=waiting, last=last
    )

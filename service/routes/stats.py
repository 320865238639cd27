"""GET /stats: what the service holds, how well it does, and how it is set."""

from fastapi import APIRouter, Request

from service.keys import Scope
from service.late import LateLabels
from service.routes.contract import TheEngine, needs
from service.routes.health import report
from service.routes.snapshots import snapshot
from service.schemas import Accuracy, LateLabelStats, Stats

router = APIRouter(tags=["stats"])


@router.get("/stats", **needs(Scope.RANK))
async def stats(engine: TheEngine, request: Request) -> Stats:
    """Sizes, memory, outdegrees, accuracy over windows, settings in force, the newest snapshot."""
    late: LateLabels = request.app.state.late
    model = engine.model
    index = model.index
    newest = engine.newest_snapshot
    outdegrees = index.outdegrees().tolist()
    while outdegrees and not outdegrees[-1]:
        outdegrees.pop()
    return Stats(
        seq=model.seq,
        log_seq=model.seq + engine.figures().log_lag,
        features=index.features,
        classes=index.classes,
        edges=index.edges,
        learned=index.learned,
        bytes=index.bytes,
        resident_bytes=index.resident_bytes,
        evicted_features=index.evicted_features,
        evicted_classes=index.evicted_classes,
        outdegrees=outdegrees,
        accuracy={
            str(window): Accuracy.model_validate(figures)
            for window, figures in model.progress.windows().items()
        },
        late_labels=LateLabelStats(waiting=len(late), bytes=late.bytes),
        newest_snapshot=None if newest is None else snapshot(newest),
        recovery=report(engine.recovery),
        durability=engine.store.durability,
        settings=engine.settings.shown(),
    )

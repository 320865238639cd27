"""GET /stats: what the service holds, how well it does, and how it is set."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request

from service.keys import Scope
from service.late import LateLabels
from service.routes.contract import TheEngine, needs, require
from service.routes.health import report
from service.routes.snapshots import snapshot
from service.schemas import Accuracy, LateLabelStats, ProcessStats, Stats
from service.store.protocol import Beat

router = APIRouter(tags=["stats"])


@router.get("/stats", **needs(Scope.RANK, 422))
async def stats(
    engine: TheEngine,
    request: Request,
    digest: Annotated[
        Literal["yes", "no"],
        Query(description="Whether to hash the whole state: takes a copy of it, and an admin key."),
    ] = "no",
) -> Stats:
    """Sizes, memory, outdegrees, accuracy over windows, settings in force, the newest snapshot.

    Two processes on one store that have the same `seq` have the same `digest`.
    """
    late: LateLabels = request.app.state.late
    seq, hashed = engine.model.seq, None
    if digest == "yes":
        require(Scope.ADMIN, request)
        seq, hashed = await engine.digest()
    model = engine.model
    figures = engine.figures()
    index = model.index
    newest = engine.newest_snapshot
    outdegrees = index.outdegrees().tolist()
    while outdegrees and not outdegrees[-1]:
        outdegrees.pop()
    shared = engine.shared
    return Stats(
        seq=seq,
        digest=hashed,
        process=None if shared is None else shared.name,
        leads=None if shared is None else figures.leads,
        processes=None if shared is None else _processes(engine.beat),
        log_seq=model.seq + figures.log_lag,
        store_away_seconds=figures.store_away_seconds,
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
        settings=engine.settings.shown(model.options),
    )


def _processes(beat: Beat | None) -> list[ProcessStats]:
    """All that use the store, as they were when it last answered."""
    if beat is None:
        return []
    return [
        ProcessStats(name=process.name, seq=process.seq, leads=process.leads)
        for process in beat.processes
    ]

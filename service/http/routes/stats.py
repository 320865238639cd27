"""GET /stats: contents, accuracy and settings of the service."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request

from manyclass.service.http.auth import Scope
from manyclass.service.http.routes.contract import TheEngine, needs, require
from manyclass.service.http.routes.health import report
from manyclass.service.http.routes.learners import TheMetrics, accuracy_of, learners_of
from manyclass.service.http.routes.snapshots import snapshot
from manyclass.service.http.schemas.stats import LateLabelStats, ProcessStats, Stats
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.store.protocol import Heartbeat

router = APIRouter(tags=["stats"])


@router.get("/stats", **needs(Scope.RANK, 422))
async def stats(
    engine: TheEngine,
    metrics: TheMetrics,
    request: Request,
    digest: Annotated[
        Literal["yes", "no"],
        Query(description="Hash the whole state: needs memory for a copy, and an admin key."),
    ] = "no",
) -> Stats:
    """Return sizes, memory, outdegrees, accuracy, settings in force and the newest snapshot.

    Two processes on one store that have the same `seq` have the same `digest`.
    """
    pending: PendingLabels = request.app.state.pending
    seq, hashed = engine.model.seq, None
    if digest == "yes":
        require(Scope.ADMIN, request)
        seq, hashed = await engine.digest()
    model = engine.model
    figures = engine.stats()
    learner = model.learner
    newest = engine.newest_snapshot
    outdegrees = learner.outdegrees().tolist()
    while outdegrees and not outdegrees[-1]:
        outdegrees.pop()
    shared = engine.cluster.shared
    return Stats(
        seq=seq,
        digest=hashed,
        process=None if shared is None else shared.name,
        leads=None if shared is None else figures.is_leader,
        processes=None if shared is None else _processes(engine.cluster.heartbeat),
        log_seq=model.seq + figures.log_lag,
        store_unreachable_seconds=figures.store_unreachable_seconds,
        store_away_seconds=figures.store_unreachable_seconds,
        features=learner.features,
        classes=learner.classes,
        edges=learner.edges,
        learned=learner.learned,
        bytes=learner.bytes,
        resident_bytes=learner.resident_bytes,
        evicted_features=learner.evicted_features,
        evicted_classes=learner.evicted_classes,
        outdegrees=outdegrees,
        accuracy=accuracy_of(model.progress),
        learners=learners_of(model, metrics),
        late_labels=LateLabelStats(waiting=len(pending), bytes=pending.bytes),
        newest_snapshot=None if newest is None else snapshot(newest),
        recovery=report(engine.recovery),
        durability=engine.store.durability,
        settings=engine.settings.shown(model.model_set),
    )


def _processes(heartbeat: Heartbeat | None) -> list[ProcessStats]:
    """Return the processes on the store, as of the last heartbeat."""
    if heartbeat is None:
        return []
    return [
        ProcessStats(name=process.name, seq=process.seq, leads=process.is_leader)
        for process in heartbeat.processes
    ]

"""GET /stats: contents, accuracy and settings of the service."""

import asyncio
from typing import Annotated, Literal

from fastapi import Query, Request

from manyclass.core.model import Model
from manyclass.service.engine_stats import EngineStats
from manyclass.service.http.auth import Scope
from manyclass.service.http.routes.contract import TheEngine, needs, require, router_of
from manyclass.service.http.routes.learners import TheMetrics, learners_of
from manyclass.service.http.schemas.learners import LearnerStats
from manyclass.service.http.schemas.snapshots import RecoveryReport, Snapshot
from manyclass.service.http.schemas.stats import (
    DiskStats,
    HealthStats,
    HistoryStats,
    LateLabelStats,
    ProcessStats,
    ReviewStats,
    ServedStats,
    Stats,
    VectorStats,
)
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.ingest.review_queue import ReviewQueue
from manyclass.service.observability.instruments import ServedScore
from manyclass.service.store.protocol import Heartbeat
from manyclass.service.store.room import Room, room_of

router = router_of("stats")

# Sizes and accuracy; the classes are those of the model.
_OF_PRIMARY = (Stats.model_fields.keys() & LearnerStats.model_fields.keys()) - {"classes"}


@router.get("/stats", **needs(Scope.RANK, 422))
async def stats(
    engine: TheEngine,
    metrics: TheMetrics,
    request: Request,
    digest: Annotated[
        Literal["yes", "no"],
        Query(description="Hash the whole state; this needs memory for a copy and an admin key."),
    ] = "no",
) -> Stats:
    """Return sizes, memory, outdegrees, accuracy, settings in force and the newest snapshot.

    Processes on one store with the same `seq` have the same `digest`.
    """
    pending: PendingLabels = request.app.state.pending
    queue: ReviewQueue = request.app.state.queue
    seq, hashed = engine.model.seq, None
    if digest == "yes":
        require(Scope.ADMIN, request)
        seq, hashed = await engine.digest()
    room = await asyncio.to_thread(room_of, engine.settings.store)
    model = engine.model
    figures = engine.stats()
    learners = learners_of(model, metrics)
    newest, kept = engine.newest_snapshot, figures.history
    outdegrees = model.learner.outdegrees().tolist()
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
        **learners[0].model_dump(include=_OF_PRIMARY),
        classes=len(model.classes),
        taxonomy=len(model.taxonomy),
        described=len(model.descriptions),
        taxonomy_bytes=model.taxonomy.resident_bytes,
        vectors=_vectors(model),
        outdegrees=outdegrees,
        learners=learners,
        late_labels=LateLabelStats(waiting=len(pending), bytes=pending.bytes),
        health=_health(figures, room, queue.is_stored),
        review=ReviewStats.model_validate(queue),
        history=None if kept is None else HistoryStats.model_validate(kept),
        served=_served(metrics.served),
        newest_snapshot=None if newest is None else Snapshot.model_validate(newest),
        recovery=RecoveryReport.model_validate(engine.recovery),
        durability=engine.store.durability,
        settings=engine.settings.shown(model),
    )


def _vectors(model: Model) -> VectorStats:
    sizes = model.evidence.sizes()
    return VectorStats(
        dimension=sizes["dimension"],
        events=sizes["events"],
        classes=sizes["classes"],
        bytes=sizes["bytes"],
        resident_bytes=model.evidence.resident_bytes,
    )


def _health(figures: EngineStats, room: Room | None, review_stored: bool | None) -> HealthStats:
    return HealthStats(
        disk=None if room is None else DiskStats.model_validate(room),
        store_full=figures.store_full,
        queued_events=figures.queued_events,
        refused_by_queue=figures.queue_full,
        failed_commits=figures.failed_commits,
        snapshot_failures=figures.snapshot_failures,
        review_stored=review_stored,
    )


def _served(score: ServedScore) -> ServedStats:
    labels = score.served
    return ServedStats(
        **score.by_result(),
        r1=score.first / labels if labels else None,
        r1_before_learning=score.first_before_learning / labels if labels else None,
    )


def _processes(heartbeat: Heartbeat | None) -> list[ProcessStats]:
    """Return the processes on the store, as of the last heartbeat."""
    if heartbeat is None:
        return []
    return [
        ProcessStats(name=process.name, seq=process.seq, leads=process.is_leader)
        for process in heartbeat.processes
    ]

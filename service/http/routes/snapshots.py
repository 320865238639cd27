"""Snapshots: take, list and restore."""

from typing import Annotated

from fastapi import Path

from manyclass.service.http.auth import Scope
from manyclass.service.http.routes.contract import TheEngine, needs, router_of
from manyclass.service.http.schemas.snapshots import Restored, Snapshot, SnapshotList

router = router_of("snapshots")


@router.post("/snapshots", status_code=201, **needs(Scope.ADMIN, 413))
async def take_snapshot(engine: TheEngine) -> Snapshot:
    """Take a snapshot now, while ranking goes on."""
    return Snapshot.model_validate(await engine.take_snapshot())


@router.get("/snapshots", **needs(Scope.ADMIN))
async def list_snapshots(engine: TheEngine) -> SnapshotList:
    """List the snapshots that can be restored, newest first."""
    return SnapshotList.model_validate({"snapshots": await engine.snapshots()})


@router.post("/snapshots/{seq}/restore", **needs(Scope.ADMIN, 400, 404, 409, 413, 422))
async def restore_snapshot(
    engine: TheEngine,
    seq: Annotated[int, Path(ge=0, le=2**63 - 1, description="The number of the snapshot.")],
) -> Restored:
    """Restore a snapshot without a restart. This is a durable event; the later events stay in the
    log.
    """
    return Restored(seq=await engine.restore(seq), restored=seq)

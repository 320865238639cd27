"""Snapshots: take one, list them, go back to one."""

from typing import Annotated

from fastapi import APIRouter, Path

from manyclass.service.http.auth import Scope
from manyclass.service.http.routes.contract import TheEngine, needs
from manyclass.service.http.schemas.snapshots import Restored, Snapshot, SnapshotList
from manyclass.service.store.protocol import SnapshotInfo

router = APIRouter(tags=["snapshots"])


def snapshot(info: SnapshotInfo) -> Snapshot:
    """What people see of a snapshot."""
    return Snapshot(seq=info.seq, bytes=info.bytes, taken_at=info.taken_at)


@router.post("/snapshots", status_code=201, **needs(Scope.ADMIN, 413))
async def take_snapshot(engine: TheEngine) -> Snapshot:
    """Take a snapshot now. Ranking goes on meanwhile."""
    return snapshot(await engine.take_snapshot())


@router.get("/snapshots", **needs(Scope.ADMIN))
async def list_snapshots(engine: TheEngine) -> SnapshotList:
    """The snapshots one can go back to, newest first."""
    return SnapshotList(snapshots=[snapshot(info) for info in await engine.snapshots()])


@router.post("/snapshots/{seq}/restore", **needs(Scope.ADMIN, 400, 404, 409, 413, 422))
async def restore_snapshot(
    engine: TheEngine, seq: Annotated[int, Path(ge=0, le=2**63 - 1)]
) -> Restored:
    """Go back to a snapshot without a restart. An event: what came after stays in the log."""
    return Restored(seq=await engine.restore(seq), restored=seq)

"""GET /state: everything the service knows, as one file."""

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from manyclass.service.keys import Scope
from manyclass.service.routes.contract import TheEngine, needs

MEDIA_TYPE = "application/octet-stream"
PIECE_BYTES = 2**18

router = APIRouter(tags=["snapshots"])

_route: dict[str, Any] = needs(Scope.ADMIN)
_route["responses"][200] = {
    "description": "A snapshot",
    "content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}},
}


@router.get("/state", response_class=StreamingResponse, **_route)
async def state(engine: TheEngine) -> StreamingResponse:
    """The state as it is now, as the bytes of a snapshot. The store is not asked, so what a process
    knows can be saved while its store is away or lost. `manyclass copy` makes a store of it.
    """
    seq, pieces = await engine.state()
    headers = {
        "Content-Length": str(sum(piece.nbytes for piece in pieces)),
        "Content-Disposition": f'attachment; filename="manyclass-{seq}.snapshot"',
    }
    return StreamingResponse(_cut(pieces), media_type=MEDIA_TYPE, headers=headers)


async def _cut(pieces: list[memoryview]) -> AsyncIterator[bytes]:
    for piece in pieces:
        for begin in range(0, len(piece), PIECE_BYTES):
            yield bytes(piece[begin : begin + PIECE_BYTES])

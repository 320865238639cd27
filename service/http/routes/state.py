"""GET /state: the whole state as one file."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from fastapi import Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Send
from starlette.types import Scope as Connection

from manyclass.service.engine import Engine
from manyclass.service.http.auth import Scope
from manyclass.service.http.problems import unavailable
from manyclass.service.http.routes.contract import needs, router_of

MEDIA_TYPE = "application/octet-stream"
PIECE_BYTES = 2**18
MOST_READERS = 8  # of one copy of the state at once

router = router_of("snapshots")

_route: dict[str, Any] = needs(Scope.ADMIN)
_route["responses"][200] = {
    "description": "A snapshot",
    "content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}},
}


class StateDownloads:
    """At most one copy of the state, kept until its last reader has closed it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._copy: asyncio.Future[tuple[int, list[memoryview]]] | None = None
        self._readers = 0

    async def open(self) -> tuple[int, list[memoryview]]:
        """Return the seq and the bytes of the current or a later state; call `close` afterwards.

        Raises NotReady, or Problem 503 while an older state is being read or with too many readers.
        """
        now = self._engine.model.seq
        if self._readers >= MOST_READERS:
            raise unavailable(f"The state is being read {MOST_READERS} times at once.")
        self._readers += 1
        try:
            if self._copy is None:
                self._copy = asyncio.ensure_future(self._engine.state())
            seq, pieces = await asyncio.shield(self._copy)
            if seq < now:
                raise unavailable("An older state is being read, and memory holds one copy.")
        except BaseException:
            self.close()
            raise
        return seq, pieces

    def close(self) -> None:
        """End one reading; the last one frees the copy."""
        self._readers -= 1
        if not self._readers:
            self._copy = None


@router.get("/state", response_class=StreamingResponse, **_route)
async def state(request: Request) -> StreamingResponse:
    """Return the current state as the bytes of a snapshot. This does not need the store, so a state
    can be saved while the store is unreachable or lost. `manyclass copy` makes a store from it.

    All readers share one copy of the state in memory; while an older copy is being read, the answer
    is 503. A client that reads nothing for 30 seconds is disconnected.
    """
    downloads: StateDownloads = request.app.state.downloads
    seq, pieces = await downloads.open()
    headers = {
        "Content-Length": str(sum(piece.nbytes for piece in pieces)),
        "Content-Disposition": f'attachment; filename="manyclass-{seq}.snapshot"',
    }
    return _Download(_cut(pieces), media_type=MEDIA_TYPE, headers=headers, downloads=downloads)


class _Download(StreamingResponse):
    """A response that closes the download when it ends, whether it succeeds or fails."""

    def __init__(self, *arguments: Any, downloads: StateDownloads, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._downloads = downloads

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._downloads.close()


async def _cut(pieces: list[memoryview]) -> AsyncIterator[bytes]:
    for piece in pieces:
        for begin in range(0, len(piece), PIECE_BYTES):
            yield bytes(piece[begin : begin + PIECE_BYTES])

"""Downloads of the whole state: one copy for all readers, and few readers."""

import asyncio

from manyclass.service.engine import Engine
from manyclass.service.http.problems import unavailable

MOST_READERS = 8  # of one copy of the state at once


class StateDownloads:
    """Holds one copy of the state at most, for as long as somebody reads it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._copy: asyncio.Future[tuple[int, list[memoryview]]] | None = None
        self._readers = 0

    async def open(self) -> tuple[int, list[memoryview]]:
        """Return the seq and the bytes of the state as it is now, or a moment later; then `close`.

        Raises NotReady, and Problem 503 while others read an older state or are too many.
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
        """End one reading; the copy goes with the last."""
        self._readers -= 1
        if not self._readers:
            self._copy = None

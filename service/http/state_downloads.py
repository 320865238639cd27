"""Downloads of the whole state: one copy for all readers, and few readers."""

import asyncio

from manyclass.service.engine import Engine
from manyclass.service.http.problems import unavailable

MOST_READERS = 8  # of one copy of the state at once


class StateDownloads:
    """Holds at most one copy of the state, until its last reader has closed it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._copy: asyncio.Future[tuple[int, list[memoryview]]] | None = None
        self._readers = 0

    async def open(self) -> tuple[int, list[memoryview]]:
        """Return the seq and the bytes of the current state, or of a later one; `close` it after.

        Raises NotReady, and Problem 503 while an older state is read, or with too many readers.
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

"""Copies of the whole state, for digests and downloads."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from manyclass.core.model_state import Frozen
from manyclass.service.log.apply_loop import ApplyLoop

T = TypeVar("T")


class StateCopy:
    """The part that copies the state, one copy at a time. It does not need the store."""

    def __init__(self, apply_loop: ApplyLoop) -> None:
        self._apply_loop = apply_loop
        self._copying = asyncio.Lock()

    async def digest(self) -> tuple[int, str]:
        """Return the seq and a hash of the whole state at that event."""
        return await self._of(Frozen.digest)

    async def pieces(self) -> tuple[int, list[memoryview]]:
        """Return the seq and the whole state at that event, as the bytes of a snapshot."""
        return await self._of(Frozen.pieces)

    async def _of(self, work: Callable[[Frozen], T]) -> tuple[int, T]:
        async with self._copying:
            async with self._apply_loop.quiet() as model:
                seq = model.seq
                frozen = await asyncio.to_thread(model.freeze)
            return seq, await asyncio.to_thread(work, frozen)

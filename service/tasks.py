"""Background tasks of the engine."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Tasks:
    """A set of tasks that run to their end even if their callers are cancelled."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._running)

    def start(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Start a task. It logs and counts its failures itself."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._done)
        return task

    async def finish(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of the work, which continues if the caller is cancelled."""
        return await asyncio.shield(self.start(work))

    async def join(self) -> None:
        """Wait until the present tasks have ended."""
        if self._running:
            await asyncio.wait(self._running)

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it as well

"""Turns: the time one request has the event loop for itself."""

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import ParamSpec, TypeVar

TURN_SECONDS = 0.005  # then the other requests have theirs
THREADS = 2

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="body")  # they start when they are needed


class Turn:
    """Divides the work of one request into slices, between which the event loop does other work."""

    def __init__(self) -> None:
        self._end = perf_counter() + TURN_SECONDS

    @property
    def is_over(self) -> bool:
        """Return whether the request has had the event loop long enough."""
        return perf_counter() >= self._end

    async def pass_on(self) -> None:
        """Let the others have their turns, then begin another."""
        await asyncio.sleep(0)
        self._end = perf_counter() + TURN_SECONDS

    async def run(self, steps: Generator[None, None, Result]) -> Result:
        """Return the result of a generator that yields after each step, in as many turns as needed.

        A turn ends before the first step: what came before it may have been long.
        """
        await self.pass_on()
        while True:
            try:
                next(steps)
            except StopIteration as end:
                result: Result = end.value
                return result
            if self.is_over:
                await self.pass_on()


async def in_thread(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Return the result of work in a thread; only for work that releases the GIL for most of it."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_threads, partial(work, *args, **kwargs))

"""Time slices: cooperative scheduling of long requests on the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import ParamSpec, TypeVar

SLICE_SECONDS = 0.005
THREADS = 2

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="body")  # started on first use


class TimeSlice:
    """The time slices of one request; the event loop does other work between two slices."""

    def __init__(self) -> None:
        self._end = perf_counter() + SLICE_SECONDS

    @property
    def is_over(self) -> bool:
        """Return whether the request has used up its slice."""
        return perf_counter() >= self._end

    async def renew(self) -> None:
        """Let other requests run, then begin another slice."""
        await asyncio.sleep(0)
        self._end = perf_counter() + SLICE_SECONDS


async def run_in_thread(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Return the result of work in a thread; only for work that mostly releases the GIL."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_threads, partial(work, *args, **kwargs))

"""GETs take turns on the event loop, and read in threads of their own.

A GET takes a millisecond or more of the loop in FastAPI. Concurrent GETs run one at a time, and the
loop polls between two of them, so rankings, events and health checks wait for one GET, not for all.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from time import thread_time
from types import coroutine
from typing import Annotated, Any, ParamSpec, TypeVar

import msgspec
from fastapi import Depends, Request, Response

from manyclass.service.http.asgi import Application, AsgiScope, Endpoint, Receive, Send
from manyclass.service.http.schemas.snapshots import Live
from manyclass.service.http.shedding import (
    LIVEZ,
    READS,
    READYZ,
    is_health_check,
    is_liveness_check,
)

log = logging.getLogger(__name__)

JSON = "application/json"
THREADS = 2  # more threads would take the interpreter from the event loop
PAUSES = 2  # length of the pause after a turn on the loop, in units of the turn
PAUSES_OF_THREADS = 4  # length of the pause after a turn in a thread
LONGEST_PAUSE_SECONDS = 0.25
READYZ_SECONDS = 0.01  # shortest time between the beginnings of two calls to /readyz

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="read")  # started on first use


class Turns:
    """A queue of turns, in order of request, `most` at once.

    While others wait, each turn is followed by a pause of `pauses` times its CPU time, so that
    turns take only this share of the interpreter and leave the rest to other calls. Time in which a
    turn waited for the store or for a core is not counted.
    """

    def __init__(self, most: int, pauses: float) -> None:
        self._most = most
        self._free = asyncio.Semaphore(most)
        self._pauses = pauses
        self._asked = 0

    async def begin(self) -> None:
        """Wait for a turn."""
        self._asked += 1
        try:
            await self._free.acquire()
        except BaseException:
            self._asked -= 1
            raise

    def end(self, seconds: float) -> None:
        """End a turn that took this much CPU time."""
        self._asked -= 1
        pause = 0.0
        if self._asked >= self._most:
            pause = min(self._pauses * seconds, LONGEST_PAUSE_SECONDS)
        # Even without a pause, the next turn begins in a later iteration of the event loop.
        asyncio.get_running_loop().call_later(pause, self._free.release)


class ReadingThreads:
    """Threads for long reads, in turns: GETs, and the search for an event to change."""

    def __init__(self) -> None:
        self._turns = Turns(THREADS, PAUSES_OF_THREADS)

    async def run(
        self,
        work: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Return the result of reading work, run in one of the threads."""
        seconds = 0.0

        def timed() -> Result:
            nonlocal seconds
            began = thread_time()
            try:
                return work(*args, **kwargs)
            finally:
                seconds = thread_time() - began

        await self._turns.begin()
        try:
            return await asyncio.get_running_loop().run_in_executor(_threads, timed)
        finally:
            self._turns.end(seconds)


class Reads:
    """An ASGI application that answers GETs in turn, and health checks first.

    The answer to /livez is prepared. One call to /readyz answers all requests that arrive
    meanwhile, and the next call begins at least READYZ_SECONDS later, so a flood of requests leaves
    the loop to others.
    """

    def __init__(self, application: Application, threads: ReadingThreads) -> None:
        self._application = application
        self._turns = Turns(1, PAUSES)
        self.in_thread = threads.run
        self._live = Live().model_dump_json()
        self._readiness: dict[bytes, asyncio.Task[list[Any]]] = {}  # query -> call in progress
        self._next_ready: dict[bytes, float] = {}  # query -> time when the next call may begin

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer a request, or forward a lifespan."""
        if scope.get("method") not in READS:
            await self._application(scope, receive, send)
        elif not is_health_check(scope):
            await self._turns.begin()
            began = thread_time()
            await _until_it_waits(
                self._application(scope, receive, send),
                lambda: self._turns.end(thread_time() - began),
            )
        elif is_liveness_check(scope):
            scope["route"] = Endpoint(LIVEZ)
            await Response(self._live, media_type=JSON)(scope, receive, send)
        else:
            await self._answer_ready(scope, send)

    async def page(self, work: Callable[[], object]) -> Response:
        """Return the result of the work as JSON; both are made in a thread for GETs."""
        body = await self.in_thread(lambda: msgspec.json.encode(work()))
        return Response(body, media_type=JSON)

    async def _answer_ready(self, scope: AsgiScope, send: Send) -> None:
        query = scope["query_string"]
        asked = self._readiness.get(query)
        if asked is None:
            asked = self._readiness[query] = asyncio.ensure_future(self._ask_ready(scope))
            asked.add_done_callback(lambda _: self._readiness.pop(query))
        scope["route"] = Endpoint(READYZ)
        for message in await asyncio.shield(asked):
            await send(message)

    async def _ask_ready(self, scope: AsgiScope) -> list[Any]:
        """Return the messages of the application's answer."""
        query, now = scope["query_string"], asyncio.get_running_loop().time
        await asyncio.sleep(self._next_ready.get(query, 0.0) - now())
        self._next_ready[query] = now() + READYZ_SECONDS
        messages: list[Any] = []

        async def keep(message: Any) -> None:
            messages.append(message)

        async def nothing() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        try:
            await self._application(dict(scope), nothing, keep)
        except Exception:  # Starlette has answered with a problem, then raised the error
            log.exception("GET %s failed", scope["path"])
        return messages


@coroutine
def _until_it_waits(work: Awaitable[None], end: Callable[[], None]) -> Generator[Any, Any, None]:
    """Run the work; call `end` when it first waits, or when it is done without waiting."""
    steps = work.__await__()
    try:
        try:
            awaited = steps.send(None)
        finally:
            end()
        while True:
            try:
                yield awaited
            except BaseException as error:
                awaited = steps.throw(error)
            else:
                awaited = steps.send(None)
    except StopIteration:
        return


async def _reads(request: Request) -> Reads:
    reads: Reads = request.app.state.reads
    return reads


TheReads = Annotated[Reads, Depends(_reads)]

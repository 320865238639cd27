"""The front of the service: answers the hot calls itself, and lets FastAPI answer the others.

FastAPI's way from a request to a route and back costs more than ranking does.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from time import perf_counter
from typing import Any

from manyclass.service.http.answer import pieces_of
from manyclass.service.http.csrf import Origins
from manyclass.service.http.headers import headers_of
from manyclass.service.http.memory_budget import Hold, MemoryBudget
from manyclass.service.http.problems import ClientGone, Problem, no_parameters, problem_of
from manyclass.service.http.request_body import Headers, Receive, Send, discard_body
from manyclass.service.observability.metrics import Metrics

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
HotCall = Callable[[Headers, Receive, Send, Hold], Awaitable[bytes | list[bytes] | None]]

STREAM = " (stream)"  # after the path of a call that answered in a stream of its own
UNKNOWN = "unknown"  # whatever path a client made up
CLIENT_GONE = 499  # as nginx has it: nobody was there to be answered

CHANGING = ("POST", "PUT", "PATCH", "DELETE")  # methods of calls that may change something

_JSON = (b"content-type", b"application/json")


class HotPath:
    """The ASGI application. A hot call returns the body of its answer, whole or in parts; None if
    it sent the answer itself.
    """

    def __init__(
        self,
        hot: Mapping[str, HotCall],
        application: Application,
        origins: Origins,
        metrics: Metrics,
        budget: MemoryBudget,
    ) -> None:
        self._hot = dict(hot)
        self._application = application
        self._origins = origins
        self._metrics = metrics
        self._budget = budget

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass a lifespan on."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        path = scope["path"]
        if path not in self._hot or scope["method"] != "POST":
            await self._pass_on(scope, receive, send)
            return
        began = perf_counter()
        status = 200
        hold = self._budget.hold()
        try:
            headers = headers_of(scope["headers"])
            self._origins.require("POST", headers)
            if scope.get("query_string"):
                raise no_parameters(scope["query_string"])
            body = await self._hot[path](headers, receive, send, hold)
        except ClientGone:
            self._metrics.request(path, CLIENT_GONE, perf_counter() - began)
            return
        except Exception as error:
            status = await self._answer_error(path, error, send)
        else:
            if body is None:
                self._metrics.request(path + STREAM, status, perf_counter() - began)
                return
            if isinstance(body, list):
                await _send_parts(body, send)
            else:
                head = [_JSON, (b"content-length", b"%d" % len(body))]
                await send({"type": "http.response.start", "status": 200, "headers": head})
                await send({"type": "http.response.body", "body": body})
        finally:
            hold.release()
        self._metrics.request(path, status, perf_counter() - began)

    async def _answer_error(self, path: str, error: Exception, send: Send) -> int:
        """Answer with the problem; return its status.

        The problem may be the error itself, which refers to the frames it was raised through. In a
        variable there it would keep them, and the body they hold, until the garbage is collected.
        """
        self._metrics.out_of_memory.note(error)
        problem = problem_of(error)
        if problem.status == 500:
            logger.error("POST %s failed", path, exc_info=error)
        return await _refuse(problem, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = perf_counter()
        status = 500

        async def watch(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            self._origins.require(scope["method"], headers_of(scope["headers"]))
            if scope["method"] in CHANGING:
                # No route acts on a request before it is known to be whole and well framed.
                await discard_body(receive)
                receive = _without_body(receive)
            await self._application(scope, receive, watch)
        except ClientGone:
            status = CLIENT_GONE
        except Problem as problem:  # the application's own never leave it
            await _refuse(problem, watch)
        except Exception:
            # Starlette has answered this with a problem before raising it.
            logger.exception("%s %s failed", scope["method"], _endpoint(scope))
        self._metrics.request(_endpoint(scope), status, perf_counter() - began)


async def _send_parts(parts: list[bytes], send: Send) -> None:
    """Send an answer made in parts. Others have their turns before each piece of a large one."""
    size = sum(map(len, parts))
    head = [_JSON, (b"content-length", b"%d" % size)]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    for piece in pieces_of(parts):
        size -= len(piece)
        await send({"type": "http.response.body", "body": piece, "more_body": size > 0})
        if size:
            await asyncio.sleep(0)


async def _refuse(problem: Problem, send: Send) -> int:
    status, headers, body = problem.answer()
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
    return status


def _without_body(receive: Receive) -> Receive:
    """Return a `receive` for a request whose body has been read."""
    read = False

    async def rest() -> Any:
        nonlocal read
        if read:
            return await receive()
        read = True
        return {"type": "http.request", "body": b"", "more_body": False}

    return rest


def _endpoint(scope: Scope) -> str:
    """The route's path with its parameters' names, so that the values stay few."""
    path = getattr(scope.get("route"), "path_format", None)
    return path if isinstance(path, str) else UNKNOWN

"""The hot path: answers the hot calls without FastAPI, and passes all other requests on to it."""

import logging
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from manyclass.service.http.answers import send_problem
from manyclass.service.http.asgi import Application, AsgiScope, Receive, Send, path_of
from manyclass.service.http.csrf import CsrfGuard
from manyclass.service.http.headers import headers_of
from manyclass.service.http.hot_call import HotCall
from manyclass.service.http.problems import ClientGone, Problem, problem_of
from manyclass.service.http.request_body import discard_body
from manyclass.service.http.shedding import is_liveness_check
from manyclass.service.observability.metrics import Metrics

logger = logging.getLogger(__name__)


STREAM = " (stream)"  # after the path of a call that was answered by a stream
UNKNOWN = "unknown"  # in place of a path that no route has
CLIENT_GONE = 499  # nginx's status for a client that left before the answer

CHANGING = ("POST", "PUT", "PATCH", "DELETE")  # methods of calls that may change something


class HotPath:
    """The ASGI application: checks each request against CSRF, counts it, and has it answered."""

    def __init__(
        self,
        calls: Mapping[tuple[str, str], HotCall],
        application: Application,
        csrf: CsrfGuard,
        metrics: Metrics,
    ) -> None:
        self._calls = {path: call for (_, path), call in calls.items() if not call.has_name}
        self._application = application
        self._csrf = csrf
        self._metrics = metrics

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass a lifespan on."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        path = path_of(scope)
        if path not in self._calls or scope["method"] != "POST":
            await self._pass_on_if_there_is_room(scope, receive, send)
            return
        began = perf_counter()
        status = 200
        call = self._calls[path]
        try:
            if self._metrics.out_of_memory.is_short:
                raise MemoryError
            headers = headers_of(scope["headers"])
            self._csrf.require("POST", headers)
            if not await call.respond(scope, headers, receive, send):
                path += STREAM
        except ClientGone:
            status = CLIENT_GONE
        except Exception as error:
            status = await self._answer_error(path, error, send)
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
        return await send_problem(problem, send)

    async def _pass_on_if_there_is_room(
        self, scope: AsgiScope, receive: Receive, send: Send
    ) -> None:
        """Pass a request on, or refuse it if FastAPI may not have the memory for it.

        /livez needs none: the process lives, so a supervisor has no reason to end it.
        """
        began = perf_counter()
        try:
            if not is_liveness_check(scope):
                self._metrics.out_of_memory.require_room()
        except MemoryError as error:
            status = await self._answer_error(path_of(scope), error, send)
            self._metrics.request(UNKNOWN, status, perf_counter() - began)
        else:
            await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        began = perf_counter()
        status = 500

        async def watch(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            self._csrf.require(scope["method"], headers_of(scope["headers"]))
            if scope["method"] in CHANGING and not _reads_body(scope):
                # No route acts on a request before it is known to be whole and well framed.
                await discard_body(receive)
                receive = _without_body(receive)
            await self._application(scope, receive, watch)
        except ClientGone:
            status = CLIENT_GONE
        except Problem as problem:  # raised above: the application answers its own
            await send_problem(problem, watch)
        except Exception:
            # Starlette has answered this with a problem before raising it.
            logger.exception("%s %s failed", scope["method"], _endpoint(scope))
        self._metrics.request(_endpoint(scope), status, perf_counter() - began)


def _reads_body(scope: AsgiScope) -> bool:
    """Return whether FastAPI routes the request to a hot call, which reads the body."""
    path = path_of(scope)
    if scope["method"] == "POST":
        return path.startswith("/classes/")
    return scope["method"] == "PUT" and path.startswith(("/classes/", "/events/"))


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


def _endpoint(scope: AsgiScope) -> str:
    """Return the route's path with its parameters' names, so that the values stay few."""
    path = getattr(scope.get("route"), "path_format", None)
    return path if isinstance(path, str) else UNKNOWN

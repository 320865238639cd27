"""The front of the Python tier: it counts every request and turns every error into a problem.

Front ─► Router ─┬─► Call                      /rank, /learn and other calls with large bodies
                 └─► ApiEntrance ─► Reads ─► FastAPI
"""

import logging
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from manyclass.service.http.answers import send_problem
from manyclass.service.http.asgi import Application, AsgiScope, Receive, Send
from manyclass.service.http.cors import Cors
from manyclass.service.http.head import as_get
from manyclass.service.http.problems import ClientGone, problem_of
from manyclass.service.observability.metrics import Metrics

logger = logging.getLogger(__name__)

UNKNOWN = "unknown"  # instead of a path that no route has
CLIENT_GONE = 499  # nginx's status for a client that left before the answer


class Front:
    """The ASGI application: answers and counts each request, and adds the CORS headers."""

    def __init__(self, application: Application, cors: Cors, metrics: Metrics) -> None:
        self._application = application
        self._cors = cors
        self._metrics = metrics

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer a request, or forward a lifespan."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        if scope["method"] == "HEAD":
            scope, send = as_get(scope, send)
        if self._cors.is_enabled:
            await self._cors.call(self._answer, scope, receive, send)
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        began = perf_counter()
        status = 0  # until the answer begins

        async def watch(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._application(scope, receive, watch)
        except ClientGone:
            status = CLIENT_GONE
        except Exception as error:
            if status:  # Starlette has answered with a problem, then raised the error
                logger.exception("%s %s failed", scope["method"], _endpoint(scope))
            else:
                await self._answer_error(scope, error, watch)
        self._metrics.request(_endpoint(scope), status, perf_counter() - began)

    async def _answer_error(self, scope: AsgiScope, error: Exception, send: Send) -> None:
        """Answer with the problem of an error.

        The problem may be the error itself, which refers to the frames that raised it. A variable
        in such a frame would keep them and the body alive until the garbage collection.
        """
        self._metrics.out_of_memory.note(error)
        problem = problem_of(error)
        if problem.status == 500:
            logger.error("%s %s failed", scope["method"], _endpoint(scope), exc_info=error)
        await send_problem(problem, send)


def _endpoint(scope: Mapping[str, Any]) -> str:
    """Return the path of the route with names of parameters, so that there are few values."""
    path = getattr(scope.get("route"), "path_format", None)
    return path if isinstance(path, str) else UNKNOWN

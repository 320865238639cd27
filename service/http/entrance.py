"""The checks of each request before it is answered: memory, Host and origin, a complete body."""

from typing import Any

from starlette.routing import BaseRoute, Match

from manyclass.service.http.asgi import Application, AsgiScope, Headers, Receive, Send
from manyclass.service.http.csrf import CsrfGuard
from manyclass.service.http.headers import headers_of
from manyclass.service.http.request_body import discard_body
from manyclass.service.http.shedding import is_liveness_check
from manyclass.service.observability.out_of_memory import OutOfMemory

CHANGING = ("POST", "PUT", "PATCH", "DELETE")  # methods of calls that may change something


class Entrance:
    """The checks of every request of the Python tier."""

    def __init__(self, csrf: CsrfGuard, out_of_memory: OutOfMemory) -> None:
        self._csrf = csrf
        self._out_of_memory = out_of_memory

    def headers(self, scope: AsgiScope) -> Headers:
        """Return the headers of a request to a call. Raises Problem 400 or 403 for invalid headers,
        and MemoryError while memory is short.
        """
        if self._out_of_memory.is_short:
            raise MemoryError
        headers = headers_of(scope["headers"])
        self._csrf.require(scope["method"], headers)
        return headers

    def check(self, scope: AsgiScope) -> None:
        """Check a request to FastAPI, whose routes need free memory.

        /livez is exempt: the process is alive, so a supervisor has no reason to end it.
        """
        if not is_liveness_check(scope):
            self._out_of_memory.require_room()
        self._csrf.require(scope["method"], headers_of(scope["headers"]))


class ApiEntrance(BaseRoute):
    """The route to FastAPI, for all requests that no call handles. FastAPI's routes read no body.

    This is not a Mount, because a Mount does not match paths with a line end.
    """

    def __init__(self, application: Application, entrance: Entrance) -> None:
        self._application = application
        self._entrance = entrance

    def matches(self, scope: AsgiScope) -> tuple[Match, AsgiScope]:
        """Match every request."""
        return Match.FULL, {}

    async def handle(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Check a request, read its body to the end, and pass it on."""
        self._entrance.check(scope)
        if scope["method"] in CHANGING:
            # No route acts on a request before it is known to be complete and well framed.
            await discard_body(receive)
            receive = _without_body(receive)
        await self._application(scope, receive, send)


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

"""Hot calls: routes that read and write their bodies themselves.

One declaration serves the OpenAPI document and the answer: HotPath answers the call without
FastAPI, whose way from a request to a route costs more than ranking does. A request that FastAPI
routes to the call is answered by the same handler.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass
from inspect import cleandoc
from typing import ClassVar

from fastapi import APIRouter, Request, Response

from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.http.answers import send_json
from manyclass.service.http.asgi import AsgiScope, Headers, Receive, Send
from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.headers import headers_of
from manyclass.service.http.memory_budget import MemoryBudget, Reservation
from manyclass.service.http.problems import ClientGone, no_parameters
from manyclass.service.http.request_body import read_body, require_json
from manyclass.service.http.routes.contract import (
    NAME_PARAMETER,
    described,
    name_in_path,
    one_of,
)


@dataclass(slots=True)
class HotRequest:
    """A request to a hot call. The bytes of its body count in `reservation`."""

    headers: Headers
    receive: Receive
    send: Send
    reservation: Reservation
    name: str  # at the end of the path, if the path of the call has one

    def json_body(self, most_bytes: int, *other_types: str) -> Awaitable[bytes]:
        """Return the whole body; see `require_json` and `read_body` for the refusals."""
        require_json(self.headers, *other_types)
        return read_body(self.headers, self.receive, most_bytes, self.reservation)


class HotCall(ABC):
    """A request to `path`, for keys of `scope`; the docstring of `answer` describes the operation.

    HotPath knows the calls without a name in their path; FastAPI routes to the others. `title` is
    the operation's name in the document, `tag` its group. `reads` and `writes` name the components
    of the bodies by media type, `statuses` the errors beyond those of every hot call.
    """

    method: ClassVar[str] = "POST"
    path: ClassVar[str]
    title: ClassVar[str]
    tag: ClassVar[str]
    scope: ClassVar[Scope]
    statuses: ClassVar[tuple[int, ...]]
    reads: ClassVar[dict[str, list[str]]]
    writes: ClassVar[dict[str, list[str]]]
    needs_body: ClassVar[bool] = True

    def __init__(self, keys: ApiKeys, budget: MemoryBudget) -> None:
        self._keys = keys
        self._budget = budget

    @property
    def has_name(self) -> bool:
        """Return whether the path ends with a name, so that FastAPI routes to the call."""
        return "{" in self.path

    @abstractmethod
    async def answer(self, request: HotRequest) -> bytes | list[bytes] | None:
        """Return the body of a JSON answer, whole or in parts, or None once an answer was sent.

        Raises any error that `problem_of` knows.
        """

    async def respond(
        self, scope: AsgiScope, headers: Headers, receive: Receive, send: Send
    ) -> bool:
        """Check the key and answer; return False if `answer` has sent a stream.

        Raises Problem for parameters in the URL, or without a key of the scope.
        """
        reservation = Reservation(self._budget)
        try:
            if query := scope.get("query_string"):
                raise no_parameters(query)
            self._keys.require(self.scope, headers.get(b"authorization"))
            name = name_in_path(scope) if self.has_name else ""
            body = await self.answer(HotRequest(headers, receive, send, reservation, name))
            if body is not None:
                await send_json(body, send)
            return body is not None
        finally:
            reservation.release()

    def router(self) -> APIRouter:
        """Return the route of the call, for FastAPI and the OpenAPI document."""
        route = described(self.scope, 413, 415, *self.statuses)
        if self.has_name:
            route["openapi_extra"]["parameters"] = [NAME_PARAMETER]
        content = {media: one_of(*names) for media, names in self.reads.items()}
        route["openapi_extra"]["requestBody"] = {
            "required": self.needs_body,
            "content": content,
        }
        content = {media: one_of(*names) for media, names in self.writes.items()}
        route["responses"][200] = {"description": "Successful Response", "content": content}
        router = APIRouter(tags=[self.tag])
        description = cleandoc(self.answer.__doc__ or "")
        router.add_api_route(
            self.path,
            _endpoint,
            methods=[self.method],
            name=self.title,
            description=description,
            **route,
        )
        return router


class ChangeCall(HotCall):
    """A call that changes the state by an event, described in a JSON body."""

    def __init__(
        self, settings: Settings, engine: Engine, keys: ApiKeys, budget: MemoryBudget
    ) -> None:
        super().__init__(keys, budget)
        self._settings = settings
        self._engine = engine

    async def body(self, request: HotRequest) -> bytes:
        """Return the body. Raises NotReady before there is a state to change."""
        _ = self._engine.model
        return await request.json_body(self._settings.max_body_bytes)


# FastAPI caches endpoints for ever, so this one does not refer to a call, nor to its engine.
async def _endpoint(request: Request) -> Response:
    calls: dict[tuple[str, str], HotCall] = request.app.state.hot_calls
    return _HotResponse(calls[request.method, request.scope["route"].path])


class _HotResponse(Response):
    """Answers a request that FastAPI has routed to a hot call."""

    def __init__(self, call: HotCall) -> None:
        super().__init__()
        self._call = call

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        with suppress(ClientGone):
            await self._call.respond(scope, headers_of(scope["headers"]), receive, send)

"""Calls: routes that read and write their bodies themselves.

One declaration serves both the OpenAPI document, made by FastAPI, and the answer, for which
Starlette's router calls it without FastAPI, whose routing takes as long as a small ranking.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from dataclasses import dataclass
from functools import partial
from inspect import cleandoc
from typing import ClassVar

from fastapi.routing import APIRoute

from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.http.answers import send_json
from manyclass.service.http.asgi import AsgiScope, Endpoint, Headers, Receive, Send
from manyclass.service.http.auth import ApiKeys, Scope, Signer
from manyclass.service.http.entrance import Entrance
from manyclass.service.http.memory_budget import MemoryBudget, Reservation
from manyclass.service.http.problems import no_parameters
from manyclass.service.http.request_body import read_body, require_json
from manyclass.service.http.routes.contract import (
    NAME_PARAMETER,
    described,
    name_in_path,
    one_of,
)

STREAM = " (stream)"  # suffix of the path of a call, if a stream answered it


@dataclass(slots=True)
class CallRequest:
    """A request to a call; the bytes of its body are counted in `reservation`."""

    headers: Headers
    receive: Receive
    send: Send
    reservation: Reservation
    name: str  # the name at the end of the path, or empty
    signer: Signer

    def json_body(self, most_bytes: int, *other_types: str) -> Awaitable[bytes]:
        """Return the whole body. `require_json` and `read_body` list the refusals."""
        require_json(self.headers, *other_types)
        return read_body(self.headers, self.receive, most_bytes, self.reservation)


class Call(ABC):
    """A request to `path`, for keys of `scope`; the docstring of `answer` describes the operation.

    `title` is the operation's name in the document, `tag` its group. `reads` and `writes` name the
    components of the bodies by media type, `statuses` the errors beyond those of every call.
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
        """Return whether the path ends with a name."""
        return "{" in self.path

    @abstractmethod
    async def answer(self, request: CallRequest) -> bytes | list[bytes] | None:
        """Return the body of a JSON answer, whole or in parts, or None if an answer was sent.

        Raises any error that `problem_of` knows.
        """

    async def respond(
        self, entrance: Entrance, scope: AsgiScope, receive: Receive, send: Send
    ) -> None:
        """Check the request and answer it.

        Raises Problem for parameters in the URL, or without a key of the scope.
        """
        headers = entrance.headers(scope)
        reservation = Reservation(self._budget)
        try:
            if query := scope.get("query_string"):
                raise no_parameters(query)
            signer = self._keys.require(self.scope, headers.get(b"authorization"))
            name = name_in_path(scope) if self.has_name else ""
            body = await self.answer(CallRequest(headers, receive, send, reservation, name, signer))
            if body is None:
                scope["route"] = Endpoint(self.path + STREAM)
            else:
                await send_json(body, send)
        finally:
            reservation.release()

    def route(self, entrance: Entrance) -> APIRoute:
        """Return the route of the call, behind this entrance."""
        description = described(self.scope, 413, 415, *self.statuses)
        if self.has_name:
            description["openapi_extra"]["parameters"] = [NAME_PARAMETER]
        content = {media: one_of(*names) for media, names in self.reads.items()}
        description["openapi_extra"]["requestBody"] = {
            "required": self.needs_body,
            "content": content,
        }
        content = {media: one_of(*names) for media, names in self.writes.items()}
        description["responses"][200] = {
            "description": "Successful Response",
            "content": content,
        }
        route = APIRoute(
            self.path,
            _endpoint,
            methods=[self.method],
            name=self.title,
            tags=[self.tag],
            description=cleandoc(self.answer.__doc__ or ""),
            generate_unique_id_function=lambda route: route.name,
            **description,
        )
        route.app = partial(self.respond, entrance)
        return route


# FastAPI caches endpoints for ever, so this one refers neither to a call nor to its engine.
def _endpoint() -> None:
    """Represent the call in FastAPI's document; the call answers the requests itself."""


class ChangeCall(Call):
    """A call with a JSON body about the state, which may change it by an event."""

    def __init__(
        self, settings: Settings, engine: Engine, keys: ApiKeys, budget: MemoryBudget
    ) -> None:
        super().__init__(keys, budget)
        self._settings = settings
        self._engine = engine

    async def body(self, request: CallRequest) -> bytes:
        """Return the body. Raises NotReady before there is a state."""
        _ = self._engine.model
        return await request.json_body(self._settings.max_body_bytes)

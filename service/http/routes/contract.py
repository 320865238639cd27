"""The arguments that routes share: keys, the engine, known parameters, and documented errors."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from manyclass.core.errors import did_you_mean
from manyclass.core.instance import LONGEST_NAME
from manyclass.service.engine import Engine
from manyclass.service.http.asgi import AsgiScope
from manyclass.service.http.auth import ApiKeys, Scope, Signer
from manyclass.service.http.problems import MEDIA_TYPE, Fault, Problem, no_parameters

NAME_DESCRIPTION = "The name, as percent-encoded UTF-8."
NAME_PARAMETER = {  # of a path, as the document has it
    "name": "name",
    "in": "path",
    "required": True,
    "description": NAME_DESCRIPTION,
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
}
REFERENCE = "#/components/schemas/{name}"

LONGEST_SHOWN = 100  # characters of an unknown name in an error
MOST_NAMED = 10  # unknown parameters in an error

REASONS = {
    400: "The request is not HTTP, its path is not UTF-8, a header that must occur only once is"
    " repeated, or the body is not valid JSON, UTF-8 or gzip.",
    401: "The request has no key, or an unknown one.",
    403: "The scope of the key is too low; the name in Host is not allowed; or, without keys, a web"
    " page of another origin sent the request.",
    404: "The name, id or number is unknown.",
    408: "The request came too slowly: less than 16 KiB in a minute, or a line of a stream took"
    " longer than a minute.",
    409: "The request contradicts the state.",
    410: "The instance with this id is no longer kept.",
    413: "The body is too large.",
    415: "The media type or the encoding of the body is not supported.",
    422: "The request is well formed but not valid; `errors` points to each fault.",
    431: "URL and headers are larger than 64 KiB, or there are more than 100 headers.",
    502: "The process has no state yet, and the request has the header `Prefer: not-ready=502`,"
    " with which a proxy asks for this status.",
    503: "Not available now: the service is recovering or stopping, its store does not work, its"
    " queue is full, too many rankings or GETs are in progress, memory is short, or another process"
    " did not answer or has not caught up.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the answers with these statuses, as FastAPI's `responses` takes them."""
    content = {MEDIA_TYPE: one_of("Problem")}
    return {
        status: {"description": REASONS[status], "content": content, "headers": _headers(status)}
        for status in statuses
    }


def _headers(status: int) -> dict[str, Any]:
    if status in (502, 503):
        return {"Retry-After": {"schema": {"type": "integer", "minimum": 1}}}
    if status == 401:
        return {"WWW-Authenticate": {"schema": {"type": "string"}}}
    return {}


def require(scope: Scope, request: Request) -> None:
    """Raise Problem 401 or 403 when the request has no key of this scope."""
    signer_of(request, scope)


def signer_of(request: Request, scope: Scope = Scope.RANK) -> Signer:
    """Return whose key a request has. Raise Problem 401 or 403 without a key of this scope."""
    keys: ApiKeys = request.app.state.keys
    authorization = request.headers.get("authorization")
    return keys.require(scope, None if authorization is None else authorization.encode("latin-1"))


def described(scope: Scope, *statuses: int) -> dict[str, Any]:
    """Return the arguments of a route that describe the scope it needs and its errors."""
    return {
        "openapi_extra": {"x-scope": scope.name.lower()},
        "responses": problems(400, 401, 403, *statuses, 408, 422, 431, 503),
    }


def name_in_path(scope: AsgiScope) -> str:
    """Return the name at the end of the path, or an empty one. Raises Problem 400 if the path is
    not UTF-8.

    The server replaces invalid bytes by a character, which could yield the name of something else.
    """
    name: str = scope.get("path_params", {}).get("name", "")
    try:
        unquote_to_bytes(scope.get("raw_path", b"")).decode()
    except UnicodeDecodeError as error:
        raise Problem(400, "The path is not percent-encoded UTF-8.") from error
    return name


def needs(scope: Scope, *statuses: int) -> dict[str, Any]:
    """Return the arguments of a route that needs a key of this scope and a ready engine."""

    async def check(request: Request) -> None:
        require(scope, request)
        _ = request.app.state.engine.model  # raises NotReady before the state is restored

    return {"dependencies": [Depends(check)], **described(scope, *statuses)}


def one_of(*names: str) -> dict[str, Any]:
    """Return the content of a body that is one of the named components; without names, bytes."""
    if not names:
        return {"schema": {"type": "string", "format": "binary"}}
    references = [{"$ref": REFERENCE.format(name=name)} for name in names]
    return {"schema": references[0] if len(references) == 1 else {"oneOf": references}}


async def require_known_parameters(request: Request) -> None:
    """Raise Problem 422 for a parameter of the URL that the call does not read.

    A misspelt `limit` would otherwise be ignored.
    """
    if not request.query_params:
        return
    route: APIRoute = request.scope["route"]
    if not route.include_in_schema:  # a page, as /docs
        return
    if route.body_field or "requestBody" in (route.openapi_extra or {}):
        raise no_parameters(request.scope["query_string"])
    known = [*_query_parameters(route.dependant)]
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise unknown_parameter(unknown[:MOST_NAMED], known)


def router_of(tag: str) -> APIRouter:
    """Return a router of calls that the document shows under this tag.

    The application takes its routes as they are: FastAPI's `include_router` would declare each of
    them anew in every application, at the first request.
    """
    return APIRouter(
        tags=[tag],
        dependencies=[Depends(require_known_parameters)],
        generate_unique_id_function=lambda route: route.name,
    )


def unknown_parameter(names: Sequence[str], known: Sequence[str]) -> Problem:
    """Return the problem of parameters that a call does not read; it lists the known ones."""
    all_known = f"known are {', '.join(known)}" if known else "this call takes none"
    faults = [
        Fault(
            f"There is no parameter {name[:LONGEST_SHOWN]!r};"
            f" {did_you_mean(name, known) or all_known}",
            parameter=name[:LONGEST_SHOWN],
        )
        for name in names
    ]
    return Problem(422, faults[0].detail, faults)


def _query_parameters(dependant: Dependant) -> Iterator[str]:
    """Yield the names of the parameters that a call and its dependencies read."""
    yield from (each.alias for each in dependant.query_params)
    for dependency in dependant.dependencies:
        yield from _query_parameters(dependency)


async def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


TheEngine = Annotated[Engine, Depends(_engine)]

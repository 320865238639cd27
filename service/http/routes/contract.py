"""What the OpenAPI document says of a route beside its parameters: errors, and who may use it."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Depends, Request

from manyclass.core.errors import did_you_mean
from manyclass.service.engine import Engine
from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.problems import MEDIA_TYPE, Fault, Problem

REFERENCE = "#/components/schemas/{name}"

LONGEST_SHOWN = 100  # characters of a name the client made up
MOST_NAMED = 10  # unknown parameters of a request

REASONS = {
    400: "Not HTTP, a path that is not UTF-8, a header twice that may come once, or a body that is"
    " not what it is said to be: not JSON, not UTF-8, not gzip.",
    401: "A key is needed.",
    403: "The key has a lesser scope; without keys: it comes from a web page of elsewhere.",
    404: "Nothing has this name, id or number.",
    408: "The request came too slowly: less than 16 KiB in a minute, or a line of a stream took"
    " longer than that.",
    409: "It contradicts what is there.",
    410: "The instance of this id is no longer kept.",
    413: "The body is too large.",
    415: "The body is of another type or encoding.",
    422: "It was understood and does not make sense; `errors` says where.",
    431: "URL and headers are larger than 64 KiB, or there are more than 100 headers.",
    502: "The process has no state yet, and the request has the header `Prefer: not-ready=502`, by"
    " which a proxy asks for this status.",
    503: "Not now: the service recovers or stops, its store does not work, its queue is full, too"
    " many rankings are in work, memory is short, or another process did not answer or has not"
    " taught this one yet.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The answers with these statuses, as FastAPI's `responses` takes them."""
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
    """Raise Problem 401 or 403 when the request comes without a key for this."""
    keys: ApiKeys = request.app.state.keys
    authorization = request.headers.get("authorization")
    keys.require(scope, None if authorization is None else authorization.encode("latin-1"))


def needs(scope: Scope, *statuses: int) -> dict[str, Any]:
    """A route's arguments: who may use it, that the engine must be ready, and these errors."""

    async def check(request: Request) -> None:
        require(scope, request)
        _ = request.app.state.engine.model  # NotReady before there is one

    return {
        "dependencies": [Depends(check)],
        "openapi_extra": {"x-scope": scope.name.lower()},
        "responses": problems(400, 401, 403, *statuses, 408, 422, 431, 503),
    }


def hot(
    scope: Scope, *statuses: int, reads: dict[str, Any], writes: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a route that only tells of a call the front answers: its bodies by type."""
    route = needs(scope, 413, 415, 422, *statuses)
    route["openapi_extra"]["requestBody"] = {"required": True, "content": reads}
    route["responses"][200] = {"description": "Successful Response", "content": writes}
    return route


def one_of(*names: str) -> dict[str, Any]:
    """A body of one of the named components."""
    references = [{"$ref": REFERENCE.format(name=name)} for name in names]
    return {"schema": references[0] if len(references) == 1 else {"oneOf": references}}


async def require_known_parameters(request: Request) -> None:
    """Raise Problem 422 for a parameter of the URL that the call does not read.

    A misspelt `limit` would otherwise be no limit.
    """
    if not request.query_params:
        return
    path = request.scope["route"].path_format
    operation = request.app.openapi()["paths"].get(path, {}).get(request.method.lower())
    if operation is None:  # a page, as /docs
        return
    known = _parameters(operation)
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise unknown_parameter(unknown[:MOST_NAMED], operation)


def unknown_parameter(names: Sequence[str], operation: dict[str, Any]) -> Problem:
    """Return the problem of parameters that this operation of the document does not have."""
    known = _parameters(operation)
    told = f"known are {', '.join(known)}" if known else "this call takes none"
    faults = [
        Fault(
            f"There is no parameter {name[:LONGEST_SHOWN]!r}; {did_you_mean(name, known) or told}",
            parameter=name[:LONGEST_SHOWN],
        )
        for name in names
    ]
    return Problem(422, faults[0].detail, faults)


def _parameters(operation: dict[str, Any]) -> list[str]:
    return [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]


async def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


TheEngine = Annotated[Engine, Depends(_engine)]

"""Adds examples to the OpenAPI document: the example calls, and a problem for each error status."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from manyclass.service.config.settings import Settings
from manyclass.service.errors import HistoryOff, NotReady
from manyclass.service.http.auth import ApiKeys, Scope
from manyclass.service.http.csrf import CsrfGuard
from manyclass.service.http.headers import headers_of
from manyclass.service.http.openapi.example_call import Json
from manyclass.service.http.openapi.example_calls import CALLS
from manyclass.service.http.problems import MEDIA_TYPE, Fault, Problem, no_parameters, problem_of
from manyclass.service.http.request_body import needless_body, require_json
from manyclass.service.http.routes.contract import unknown_parameter
from manyclass.service.store.errors import SnapshotDamaged

UNKNOWN: Final = "verbose"  # a parameter that no call has


def general_problems(settings: Settings, open_to_all: bool) -> dict[int, Problem]:
    """Return an example problem for each error status, by status.

    Most are raised by the code that refuses such a request, so the examples are its words.
    """
    keys = ApiKeys(["rank-key"], [], ["admin-key"])
    other = {b"host": b"localhost", b"origin": b"https://elsewhere.example"}
    forbidden = (
        _raised(CsrfGuard("localhost", open_to_all=True).require, "POST", other)
        if open_to_all
        else _raised(keys.require, Scope.ADMIN, b"Bearer rank-key")
    )
    not_ready = problem_of(NotReady("recovering"))
    too_late = "The instance with the id 'q-1' is no longer kept."
    return {
        400: _raised(headers_of, [(b"authorization", b"")] * 2),
        401: _raised(keys.require, Scope.ADMIN, None),
        403: forbidden,
        404: problem_of(HistoryOff()),
        408: Problem(408, "Nothing more of this request came in 60 s."),
        409: problem_of(SnapshotDamaged(5, "manifest", "its checksum does not match")),
        410: Problem(410, too_late, [Fault(too_late, "#/id")]),
        413: Problem(413, f"A body has at most {settings.max_body_bytes} bytes, unpacked."),
        415: _raised(require_json, {b"content-type": b"text/plain"}),
        431: Problem(431, "A URL and headers have at most 65536 bytes together."),
        502: Problem(502, not_ready.detail),  # by a Prefer header, see routes/rank.py
        503: not_ready,
    }


def _raised(check: Callable[..., object], *arguments: object) -> Problem:
    """Return the problem that a check raises. Raises ValueError if it passes."""
    try:
        check(*arguments)
    except Problem as problem:
        return problem
    raise ValueError(f"{check} accepts {arguments}: no example of its problem")


def add_examples(operation: dict[str, Any], problems: Mapping[int, Problem]) -> None:
    """Add to an operation of the document the examples of its parameters, body and answers.

    `problems` are those of `general_problems`, for statuses that no call of CALLS ends with.
    """
    calls = [call for call in CALLS if call.operation == operation["operationId"]]
    for parameter in operation.get("parameters", ()):
        for call in calls:
            if parameter["name"] in call.parameters and call.status < 400:
                parameter["example"] = call.parameters[parameter["name"]]
    for call in calls:
        if call.body is not None and call.status != 422:  # the schema does not allow such a body
            _add(operation["requestBody"]["content"][call.media], call.summary, call.body)
        content = operation["responses"][str(call.status)]["content"]
        _add(content[call.answer_media], call.summary, call.answer)
    for status, response in operation["responses"].items():
        content = response["content"].get(MEDIA_TYPE)
        if status == "422":
            _add_problem(content, _unknown_parameter(operation))
        elif status == "413" and "requestBody" not in operation:
            _add_problem(content, needless_body())
        elif content is not None and "examples" not in content:
            _add_problem(content, problems[int(status)])


def _unknown_parameter(operation: dict[str, Any]) -> Problem:
    if "requestBody" in operation:
        return no_parameters(f"{UNKNOWN}=yes".encode())
    given = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
    return unknown_parameter([UNKNOWN], given)


def _add_problem(content: dict[str, Any], problem: Problem) -> None:
    _add(content, problem.detail, msgspec.to_builtins(problem.document()))


def _add(content: dict[str, Any], summary: str, value: Json) -> None:
    examples = content.setdefault("examples", {})
    examples[f"example-{len(examples) + 1}"] = {"summary": summary, "value": value}

"""The examples of the document: a live service gives these answers, and the schemas allow them."""

import json
from urllib.parse import quote

import jsonschema_rs
import pytest

from manyclass.service.http.openapi.example_call import NDJSON, SHADOW
from manyclass.service.http.openapi.example_calls import CALLS
from manyclass.service.http.openapi.examples import UNKNOWN
from manyclass.service.http.problems import MEDIA_TYPE
from tests.service.http.openapi.test_document import document
from tests.service.serving import KEYS, calling
from tests.training.tables.workbooks import workbook

# Measured anew by each process, or another in each version; the schema says what they are.
VARYING = {
    *(
        "bytes",
        "resident_bytes",
        "taxonomy_bytes",
        "edges",
        "outdegrees",
        "taken_at",
        "time",
        "seconds",
        "finished_at",
        "age",
        "learn_seconds",
        "begin",
        "began_at",
        "end",
        "items",  # of the queue of review, which a thread fills
    ),
    "durability",
}
BINARY = "application/octet-stream"  # without an example


def operations(made):
    """Return method, path and operation by operation id."""
    return {
        operation["operationId"]: (method.upper(), path, operation)
        for path, methods in made["paths"].items()
        for method, operation in methods.items()
    }


def examples(content):
    return [each["value"] for each in content.get("examples", {}).values()]


def is_shown(example, answer):
    """Return true if the answer has every part of the example."""
    if isinstance(example, dict):
        return isinstance(answer, dict) and all(
            name in answer and (name in VARYING or is_shown(value, answer[name]))
            for name, value in example.items()
        )
    if isinstance(example, list):
        same_length = isinstance(answer, list) and len(example) == len(answer)
        return same_length and all(map(is_shown, example, answer))
    if isinstance(example, float):
        return answer == pytest.approx(example, abs=0.0006)
    return example == answer and type(example) is type(answer)


def address(path, operation, given):
    """Return the path and the query of a call with these parameters."""
    query = []
    for parameter in operation.get("parameters", ()):
        name = parameter["name"]
        if parameter["in"] == "path":
            path = path.replace("{" + name + "}", quote(str(given[name]), safe=""))
        elif name in given:
            query.append(f"{name}={given[name]}")
    return path + ("?" + "&".join(query) if query else "")


async def made(call, operation_id, example):
    method, path, operation = operations(document())[operation_id]
    body, headers = example.body, {}
    if example.media == NDJSON:
        body, headers = example.body.encode(), {"content-type": NDJSON}
    if operation_id == "read_workbook":  # the document shows no bytes
        rows = {"Tickets": [["text", "topic"], ["The lamp is out", 2136]]}
        body, headers = workbook(**rows), {"content-type": BINARY}
    where = address(path, operation, example.parameters)
    return await call(method, where, body, headers=headers)


async def test_a_live_service_gives_the_answers():
    async with calling(shadows=(SHADOW,)) as call:
        for example in CALLS:
            response = await made(call, example.operation, example)
            assert response.status_code == example.status, (example, response.text)
            assert response.headers["content-type"].startswith(example.answer_media)
            if example.media == NDJSON:
                shown = [json.loads(line) for line in example.answer.splitlines()]
                given = [json.loads(line) for line in response.text.splitlines()]
            elif example.media == "text/plain":
                assert example.answer in response.text
                continue
            else:
                shown, given = example.answer, response.json()
            assert is_shown(shown, given), (example.operation, shown, given)


def test_an_answer_that_differs_would_be_found():
    assert is_shown({"a": [1.0], "seconds": 5}, {"a": [1.0001], "seconds": 7, "more": 1})
    for other in ({"a": [1.1]}, {"a": []}, {"b": [1.0]}, {"a": ["1.0"]}, {"a": None}):
        assert not is_shown({"a": [1.0]}, other)


@pytest.mark.parametrize("operation_id", operations(document()))
async def test_a_parameter_no_call_has_is_refused_as_shown(call, operation_id):
    method, path, operation = operations(document())[operation_id]
    given = {each["name"]: each.get("example") for each in operation.get("parameters", ())}
    where = address(path, operation, given)
    where += ("&" if "?" in where else "?") + f"{UNKNOWN}=yes"
    response = await call(method, where)
    assert response.status_code == 422
    shown = examples(operation["responses"]["422"]["content"][MEDIA_TYPE])
    assert response.json() in shown


@pytest.mark.parametrize("keys", [{}, KEYS], ids=["open", "keys"])
def test_every_operation_has_examples_its_schemas_allow(keys):
    whole = document(**keys)
    for name, (_, _, operation) in operations(whole).items():
        for parameter in operation.get("parameters", ()):
            assert jsonschema_rs.is_valid(parameter["schema"], parameter["example"]), name
        answers = operation["responses"].values()
        for part in [*answers, operation.get("requestBody", {"content": {}})]:
            for media, content in part["content"].items():
                if media == BINARY:
                    continue
                check = jsonschema_rs.Draft202012Validator(
                    content["schema"] | {"components": whole["components"]}
                )
                shown = examples(content)
                assert shown, (name, media)
                for value in shown:
                    assert check.is_valid(value), (name, value)


def test_the_lines_of_the_streams_are_allowed_one_by_one():
    whole = document()
    _, _, learn = operations(whole)["learn"]
    refused = 0
    for content, component in (
        (learn["requestBody"]["content"][NDJSON], "LearnLines"),
        (learn["responses"]["200"]["content"][NDJSON], "LearnStreamLines"),
    ):
        line_schema = whole["components"]["schemas"][component]["contentSchema"]["items"]
        check = jsonschema_rs.Draft202012Validator(
            line_schema | {"components": whole["components"]}
        )
        for value in examples(content):
            lines = [json.loads(line) for line in value.splitlines()]
            refused += sum(not check.is_valid(line) for line in lines)
    assert refused == 1  # the example of a bad line


ELSEWHERE = [("origin", "https://elsewhere.example"), ("host", "localhost")]
JSON = [("content-type", "application/json")]
PROVOKED = [  # status, settings, method, path, headers, body
    (400, {}, "GET", "/stats", [("authorization", "a"), ("authorization", "b")], None),
    (401, KEYS, "POST", "/snapshots", [], None),
    (403, KEYS, "POST", "/snapshots", [("authorization", "Bearer r")], None),
    (403, {}, "POST", "/snapshots", ELSEWHERE, None),
    (410, {"late_label_seconds": 0}, "POST", "/learn", JSON, b'{"id": "q-1", "classes": ["x"]}'),
    (413, {"max_body_bytes": 1024}, "POST", "/rank", JSON, b" " * 1025),
    (413, {}, "POST", "/snapshots", [], b" " * 65_537),
    (415, {}, "POST", "/rank", [("content-type", "text/plain")], b"{}"),
    (502, {"ready": False}, "POST", "/rank", [*JSON, ("prefer", "not-ready=502")], b"{}"),
    (503, {"ready": False}, "GET", "/stats", [], None),
]


@pytest.mark.parametrize(("status", "settings", "method", "path", "headers", "body"), PROVOKED)
async def test_the_general_problems_are_those_of_the_service(
    status, settings, method, path, headers, body
):
    async with calling(**settings) as call:
        if status == 410:
            await call("POST", "/rank", {"text": "a puck", "id": "q-1"})
            call.clock.now += 1
        response = await call.client.request(method, path, headers=headers, content=body)
        assert response.status_code == status
        made = call.app.api.openapi()["paths"][path][method.lower()]
        assert response.json() in examples(made["responses"][str(status)]["content"][MEDIA_TYPE])

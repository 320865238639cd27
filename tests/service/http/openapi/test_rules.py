"""The OpenAPI document is valid, and keeps rules for readers and generators of clients."""

import json
import re
from collections import Counter

import jsonschema_rs
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from manyclass.service.http.openapi.document import served_below
from tests.service.http.openapi.test_document import document, nested

ID = re.compile(r"[A-Za-z]\w*")
TEMPLATE = re.compile(r"\{(\w+)\}")
ACTIVE = re.compile(r"<script|\beval\(", re.IGNORECASE)


def served(**settings):
    return json.loads(served_below(document(**settings), ""))


def operations(made):
    for path, methods in made["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", path, operation


def parts(made):
    """Yield every object of the document."""
    if isinstance(made, dict):
        yield made
        made = made.values()
    if not isinstance(made, str | int | float | None):
        for each in made:
            yield from parts(each)


def repeated(names):
    return [name for name, count in Counter(names).items() if count > 1]


def faults(made):
    """Yield what is wrong with the document, one line a fault."""
    yield from faults_of_head(made)
    for name, path, operation in operations(made):
        yield from (f"{name}: {fault}" for fault in faults_of(path, operation, made))
    for name, schema in made["components"]["schemas"].items():
        yield from (f"{name}: {fault}" for fault in faults_of_schema(name, schema, made))
    texts = [value for part in parts(made) for value in part.values() if isinstance(value, str)]
    yield from (f"active content: {text}" for text in texts if ACTIVE.search(text))


def faults_of_head(made):
    info, tags = made["info"], [each["name"] for each in made["tags"]]
    for field in ("title", "summary", "description", "contact", "license", "version"):
        if not info.get(field):
            yield f"info has no {field}"
    if not made["servers"] or any("example.com" in each["url"] for each in made["servers"]):
        yield "no server"
    if repeated(tags) or any(not each.get("description") for each in made["tags"]):
        yield "tags are repeated or without a description"
    if {tag for *_, each in operations(made) for tag in each["tags"]} != {*tags}:
        yield "tags are not those of the operations"
    yield from (f"{each} is repeated" for each in repeated(ids(made)))
    for path in made["paths"]:
        if path.endswith("/") or "?" in path:
            yield f"path {path}"


def ids(made):
    return [operation.get("operationId") for *_, operation in operations(made)]


def faults_of(path, operation, made):
    for field in ("operationId", "summary", "description"):
        if not operation.get(field):
            yield f"no {field}"
    if not ID.fullmatch(operation.get("operationId", "")):
        yield "the operationId is no name"
    if len(operation["tags"]) != 1:
        yield "not one tag"
    if not any(status.startswith(("2", "3")) for status in operation["responses"]):
        yield "no success"
    known = made["components"].get("securitySchemes", {})
    if any(name not in known for each in operation.get("security", ()) for name in each):
        yield "an unknown scheme of security"
    given = [(each["in"], each["name"]) for each in operation.get("parameters", ())]
    if {name for where, name in given if where == "path"} != {*TEMPLATE.findall(path)}:
        yield "its parameters are not those of the path"
    yield from (f"parameter {each} is repeated" for each in repeated(given))


def faults_of_schema(name, schema, made):
    if f'"#/components/schemas/{name}"' not in json.dumps(made):
        yield "unused"
    check = jsonschema_rs.Draft202012Validator
    for part in nested(schema):
        if part.get("type") == "array" and not {"items", "prefixItems"} & part.keys():
            yield "an array without items"
        if repeated(map(repr, part.get("enum", ()))):
            yield "a value of an enum is repeated"
        typed = {"components": made["components"], **part}
        for value in [*part.get("enum", ()), *part.get("examples", ())]:
            if not check(typed).is_valid(value):
                yield f"{value!r} is not of its type"


OPEN_OR_KEYS = pytest.mark.parametrize("keys", [{}, {"rank_keys": ("r",)}], ids=["open", "keys"])


@OPEN_OR_KEYS
def test_the_document_is_valid(keys):
    assert list(OpenAPIV31SpecValidator(served(**keys)).iter_errors()) == []


def test_an_unknown_field_is_not_valid():
    made = served()
    rank(made)["sumary"] = "a"

    assert list(OpenAPIV31SpecValidator(made).iter_errors())


@OPEN_OR_KEYS
def test_the_document_has_no_fault(keys):
    assert list(faults(served(**keys))) == []


def rank(made):
    return made["paths"]["/rank"]["post"]


def renamed(made, path):
    made["paths"][path] = made["paths"].pop("/rank")


def problem(made):
    return made["components"]["schemas"]["Problem"]


WRONG = {
    "info has no description": lambda made: made["info"].pop("description"),
    "no server": lambda made: made.update(servers=[]),
    "tags are repeated or": lambda made: made["tags"].append(made["tags"][0]),
    "tags are not those": lambda made: made["tags"].pop(),
    "stats is repeated": lambda made: rank(made).update(operationId="stats"),
    "path /rank/": lambda made: renamed(made, "/rank/"),
    "POST /rank: no description": lambda made: rank(made).pop("description"),
    "the operationId is no name": lambda made: rank(made).update(operationId="a b"),
    "not one tag": lambda made: rank(made).update(tags=["rank", "learn"]),
    "no success": lambda made: rank(made)["responses"].pop("200"),
    "an unknown scheme": lambda made: rank(made).update(security=[{"other": []}]),
    "its parameters are not": lambda made: renamed(made, "/rank/{seq}"),
    "('query', 'a') is repeated": lambda made: rank(made).update(
        parameters=[{"name": "a", "in": "query", "description": "a", "schema": {}}] * 2
    ),
    "Other: unused": lambda made: made["components"]["schemas"].update(Other={"type": "string"}),
    "an array without items": lambda made: problem(made).update(type="array"),
    "a value of an enum is repeated": lambda made: problem(made).update(enum=[{}, {}]),
    "5 is not of its type": lambda made: problem(made).update(examples=[5]),
    "active content": lambda made: rank(made).update(description="<script>"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_fault_would_be_found(fault):
    made = served()
    WRONG[fault](made)

    assert any(fault in each for each in faults(made))

"""The OpenAPI document is true and complete, as far as a test can check."""

import os
import subprocess
import sys
from functools import cache

import jsonschema_rs
import msgspec
import pytest

from manyclass.service.config.settings import Settings
from manyclass.service.http.app import create_app
from manyclass.service.http.schemas.learn import LearnEvent, LearnRequest
from manyclass.service.http.schemas.rank import RankInstance, RankRequest
from tests.service.serving import KEYS, calling, serving

READERS = {
    "RankRequest": RankRequest,
    "RankInstance": RankInstance,
    "LearnRequest": LearnRequest,
    "LearnEvent": LearnEvent,
}


# A ranking that has to have seen an event which never comes is rightly refused for now, and what is
# too large is refused before it is read. No schema can say that a class which is true and wrong in
# one event is refused, that `abstained` chooses no suspects, that bytes are a workbook, or that the
# numbers of a vector in base64 are finite, and not all 0.
# test_examples.py sends the examples.
CONFIGURATION = """
[phases.examples]
enabled = false

[checks]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 409, 413, 415, 422, 431, 503]

[[operations]]
include-name = "POST /rank"
[operations.checks]
positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 409, 422, 429, 503]
not_a_server_error.expected-statuses = ["2xx", "4xx", 503]

[[operations]]
include-name = "POST /learn"
[operations.checks]
positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 409, 422, 429]

[[operations]]
include-name-regex = "^(DELETE /events|(GET|POST) /review.*|POST /sheets|(PUT|POST) /classes.*)$"
[operations.checks]
positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 409, 422, 429]
"""


@cache
def document(**settings):
    """Return the cached document of a service with these settings; callers must not change it."""
    app = create_app(Settings(store="memory:", **settings))
    app.engine.store.close()
    return app.api.openapi()


def validator(name, **settings):
    made = document(**settings)
    return jsonschema_rs.Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": made["components"]}
    )


@pytest.mark.slow
@pytest.mark.parametrize("keys", [{}, KEYS])
def test_schemathesis_finds_nothing(keys, tmp_path):
    (tmp_path / "schemathesis.toml").write_text(CONFIGURATION)
    with serving(snapshot_keep=10_000, rank_wait_seconds=0.01, **keys) as served:
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "run", served.url + "/openapi.json"),
            *("--checks", "all", "--max-examples", "15", "--seed", "1", "--no-color"),
            *("--generation-database", "none"),
        ]
        if keys:
            command += ["--header", "Authorization: Bearer a"]
        found = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env=os.environ, check=False
        )
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_document_has_permissions_only_with_keys():
    free, closed = document(), document(rank_keys=("r",))
    assert "securitySchemes" not in free["components"]
    for path, operations in closed["paths"].items():
        for method, operation in operations.items():
            scoped = "x-scope" in operation
            assert scoped == (path not in ("/livez", "/readyz", "/metrics"))
            assert ("security" in operation) == scoped
            assert ("401" in operation["responses"]) == scoped
            assert "401" not in free["paths"][path][method]["responses"]
            assert "security" not in free["paths"][path][method]


def nested(schema):
    """Yield a schema and its nested schemas without following references."""
    yield schema
    for key in ("items", "additionalProperties", "propertyNames"):
        if isinstance(schema.get(key), dict):
            yield from nested(schema[key])
    for key in ("oneOf", "anyOf", "allOf"):
        for part in schema.get(key, ()):
            yield from nested(part)
    for part in schema.get("properties", {}).values():
        yield from nested(part)


def test_every_component_has_a_title_of_its_own_and_nothing_else_has_one():
    for name, schema in document()["components"]["schemas"].items():
        whole, *parts = nested(schema)
        assert whole["title"] == name
        assert [part["title"] for part in parts if "title" in part] == []


def test_objects_are_components_so_that_generated_clients_name_them():
    made = document()
    for schema in made["components"]["schemas"].values():
        _, *parts = nested(schema)
        assert [part for part in parts if part.get("type") == "object"] == []
    for operations in made["paths"].values():
        for operation in operations.values():
            contents = [*operation["responses"].values(), operation.get("requestBody", {})]
            for content in contents:
                for media in content.get("content", {}).values():
                    assert "$ref" in str(media["schema"]) or media["schema"]["type"] == "string"


def descriptions(made):
    """Yield every description in a part of the document."""
    if isinstance(made, dict):
        if isinstance(text := made.get("description"), str):
            yield text
        made = made.values()
    elif not isinstance(made, list):
        return
    for part in made:
        yield from descriptions(part)


def test_every_parameter_has_a_description():
    for path, operations in document()["paths"].items():
        for method, operation in operations.items():
            for parameter in operation.get("parameters", ()):
                about = parameter.get("description", "")
                assert len(about.split()) >= 3, (method, path, parameter["name"])


def test_no_description_is_indented_as_in_the_source():
    found = [*descriptions(document())]
    assert len(found) > 50
    assert [text for text in found if "\n  " in text] == []


@pytest.mark.parametrize("name", READERS)
def test_the_forms_of_a_body_are_the_fields_of_its_type(name):
    schemas = document()["components"]["schemas"]
    forms = [schemas[form["$ref"].rpartition("/")[2]] for form in schemas[name]["oneOf"]]
    said = {field for form in forms for field in form["properties"]}
    assert said == {field.encode_name for field in msgspec.structs.fields(READERS[name])}


INSTANCES = [
    {"features": {"a": 1}},
    {"features": {"a": -5.5, "b": 0}},
    {"features": ["a", 5, "a"]},
    {"text": "a b"},
    {"text": "a b", "vector": [0.5, -1e-300]},
    {"features": ["a"], "vector": "AACAPwAAAEA="},
    {"vector": {"int8": "AQI="}, "text": None, "features": None},
]
GOOD = {
    "RankRequest": [
        *INSTANCES,
        {"text": "a", "id": "i", "k": 1000, "threshold": -1},
        {"text": "a", "k": 1000, "explain": False},
        {"text": "a", "k": 50, "explain": True},
        {"text": "a", "min_seq": 0},
        {"instances": INSTANCES, "min_seq": 0.0},
        {"text": "a", "among": ["x", 5]},
        {"instances": INSTANCES, "among": None, "min_confidence": 0.5},
        {"instances": INSTANCES, "k": 1, "threshold": 0.5, "explain": False},
    ],
    "LearnRequest": [
        *(each | {"classes": ["x", 5]} for each in INSTANCES),
        {"text": "a", "classes": ["x"], "event_id": "e", "source": "anna"},
        {"events": [each | {"classes": ["x"]} for each in INSTANCES]},
        {"text": "a", "not": ["x"], "weight": 0.001},
        {"events": [{"text": "a", "classes": ["x"], "not": ["y", 5], "weight": 1000}]},
    ],
}
BAD = {
    "RankRequest": [
        {},
        {"features": {"": 1}},
        {"features": {"a": 1e31}},
        {"features": ["a"], "text": "a"},
        {"vector": [1]},
        {"vector": [1] * 4097},
        {"text": "a", "vector": [1, "2"]},
        {"text": "a", "vector": "AA"},
        {"text": "a", "vector": "AACAPw=="},
        {"text": "a", "vector": "AAAAAAAA"},
        {"text": "a", "vector": {"int8": "AQ=="}},
        {"text": "a", "vector": {"int8": "A==="}},
        {"text": "a", "vector": {"int16": "AQI="}},
        {"text": "a", "k": 0},
        {"text": "a", "k": 1.5},
        {"text": "a", "k": 51, "explain": True},
        {"text": "a", "min_seq": -1},
        {"text": "a", "min_seq": 0.5},
        {"text": "a", "min_seq": 2**63},
        {"instances": [{"text": "a", "min_seq": 0}]},
        {"instances": [{"text": "a"}], "k": 51, "explain": True},
        {"text": "a", "classes": ["x"]},
        {"text": "a", "among": []},
        {"text": "a", "among": [""]},
        {"text": "a", "among": ["x"] * 1001},
        {"text": "a", "among": ["x"], "min_confidence": 0.5},
        {"features": {str(n): 1 for n in range(8)}},
        {"features": ["a"] * 8},
        {"instances": [{"text": "a"}], "id": "i"},
        {"instances": [{"text": "a", "k": 3}]},
        {"instances": []},
        {"instances": [{"text": "a"}] * 8},
    ],
    "LearnRequest": [
        {"text": "a"},
        {"classes": ["x"]},
        {"text": "a", "classes": []},
        {"text": "a", "not": []},
        {"text": "a", "not": [""]},
        {"text": "a", "not": ["x"] * 1001},
        {"text": "a", "classes": ["x"], "weight": 0},
        {"text": "a", "weight": 2},
        {"text": "a", "classes": [""]},
        {"text": "a", "classes": ["x"] * 1001},
        {"text": "a", "classes": ["x"], "id": "i"},
        {"vector": [1, 2], "classes": ["x"], "id": "i"},
        {"id": "", "classes": ["x"]},
        {"text": "a", "classes": ["x"], "source": ""},
        {"text": "a", "classes": ["x"], "source": 5},
        {"events": []},
        {"events": [{"text": "a", "classes": ["x"]}], "event_id": "e"},
        {"events": [{"text": "a", "classes": ["x"]}] * 8},
    ],
}
LIMITS = {"max_batch": 7, "max_features_per_instance": 7}


@pytest.mark.parametrize("name", GOOD)
async def test_the_document_and_the_service_accept_the_same(name):
    path = {"RankRequest": "/rank", "LearnRequest": "/learn"}[name]
    check = validator(name, **LIMITS)
    async with calling(**LIMITS) as call:
        for body in GOOD[name]:
            assert check.is_valid(body), body
            response = await call("POST", path, body)
            assert response.status_code == 200, body
            written = name.replace("Request", "")
            answers = [f"{written}Answer", f"{written}ManyAnswer"]
            assert sum(validator(each).is_valid(response.json()) for each in answers) == 1
        for body in BAD[name]:
            assert not check.is_valid(body), body
            response = await call("POST", path, body)
            assert response.status_code == 422, body
            assert validator("Problem").is_valid(response.json())


async def test_the_lines_of_a_stream_are_as_documented(call):
    fault, summary = await call.stream({"text": "a", "classes": ["x"]}, b"bad\n")
    assert validator("StreamFault").is_valid(fault)
    assert validator("Summary").is_valid(summary)


async def test_the_document_is_served(call):
    assert (await call("GET", "/openapi.json")).json()["openapi"].startswith("3.1")

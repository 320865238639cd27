"""A null of an optional member of a body counts as absent, one of a required member is refused."""

import json

import pytest

from tests.service.http.openapi.test_document import document
from tests.service.serving import NDJSON, assert_problem, calling

SCHEMAS = document()["components"]["schemas"]
NULL = {"type": "null"}
TEXT = {"text": "a"}
VECTOR = {"vector": [1, 2]}
EVENT = {"text": "b", "classes": ["x"]}
# A call by each form of a body of the document: method, path and the least body.
FORMS = {
    "RankFeatures": ("POST", "/rank", {"features": {"a": 1}}),
    "RankText": ("POST", "/rank", TEXT),
    "RankVector": ("POST", "/rank", VECTOR),
    "RankMany": ("POST", "/rank", {"instances": [TEXT, TEXT]}),
    "FeaturesEvent": ("POST", "/learn", {"features": ["a"], "classes": ["x"]}),
    "TextEvent": ("POST", "/learn", EVENT),
    "VectorEvent": ("POST", "/learn", {**VECTOR, "classes": ["x"]}),
    "LateLabel": ("POST", "/learn", {"id": "i", "classes": ["x"]}),
    "LearnMany": ("POST", "/learn", {"events": [EVENT]}),
    "PutClassRequest": ("PUT", "/classes/x", {"parent": "top"}),
    "PutClassesRequest": ("POST", "/classes", {"parents": {"x": "top"}}),
    "TitlesRequest": ("POST", "/titles", {"classes": ["x"]}),
    "RenameRequest": ("POST", "/classes/x", {"rename": "y"}),
    "RebuildRequest": ("POST", "/rebuild", {}),
    "AddLearnerRequest": ("POST", "/learners", {"learner": "ff"}),
    "CorrectRequest": ("PUT", "/events/e", {"classes": ["y"]}),
    "GiveRequest": ("POST", "/review", {"instances": [{"text": "a", "id": "r"}]}),
    "LeaseRequest": ("POST", "/review/leases", {"reviewer": "anna"}),
    "UndoRequest": ("POST", "/review/undo", {"id": "l"}),
    "AdviceRequest": ("POST", "/advice", {}),
}
INSTANCES = {
    "FeaturesInstance": {"features": ["a"]},
    "TextInstance": TEXT,
    "VectorInstance": VECTOR,
}
REMOVING = {"PutClassRequest"}  # a null removes what describes the class, or its parent
PARTS = {"DescribedClass"}  # of a body
BODIES = {
    name: schema
    for name, schema in SCHEMAS.items()
    if schema.get("additionalProperties") is False and "properties" in schema
    if name != "VectorInt8"  # a value of a member
}


def optional(name):
    """Return the members of a form that may be left out."""
    schema = SCHEMAS[name]
    return sorted(schema["properties"].keys() - set(schema["required"]))


ALTERNATIVES = (
    "features",
    "text",
    "vector",
    "id",
    "instances",
    "events",
)  # a body has one of these
OPTIONAL = [
    (name, field)
    for name in FORMS
    if name not in REMOVING
    for field in (optional(name) if "required" in SCHEMAS[name] else SCHEMAS[name]["properties"])
    if field not in FORMS[name][2]
]
# Typed clients of one type for all forms send every other member as null.
EVERY = {
    "/rank": [
        *{
            field
            for name in ("RankFeatures", "RankText", "RankVector", "RankMany")
            for field in SCHEMAS[name]["properties"]
        }
    ],
    "/learn": [
        *{
            field
            for name in ("FeaturesEvent", "TextEvent", "VectorEvent", "LateLabel", "LearnMany")
            for field in SCHEMAS[name]["properties"]
        }
    ],
}


async def prepared(call):
    """Teach an event with an id, and rank an instance, so that each form has something to name."""
    await call("POST", "/learn", {"text": "a b", "classes": ["x"], "event_id": "e"})
    await call("POST", "/rank", {"text": "a", "id": "i"})
    await call("POST", "/rank", {"text": "a", "id": "l"})
    await call("POST", "/learn", {"id": "l", "classes": ["x"]})


async def answer(method, path, body, **headers):
    """Return the status and the document of the answer of a new service, without ids and times."""
    async with calling() as call:
        await prepared(call)
        answered = await call(method, path, body, **headers)
        lines = [json.loads(line) for line in answered.text.splitlines()]
        for each in lines:
            for one in (each, *each.get("results", [])):
                one.pop("id", None)
                one.pop("finished_at", None)
        return answered.status_code, lines, call.digest()


def test_the_forms_are_those_of_the_document():
    assert BODIES.keys() == FORMS.keys() | INSTANCES.keys() | PARTS


@pytest.mark.parametrize(("name", "field"), OPTIONAL)
async def test_null_of_an_optional_member_is_absent(name, field):
    assert NULL in SCHEMAS[name]["properties"][field]["anyOf"]
    method, path, body = FORMS[name]
    absent = await answer(method, path, body)
    assert absent[0] == 200, absent
    assert await answer(method, path, body | {field: None}) == absent


@pytest.mark.parametrize("name", [name for name in FORMS if FORMS[name][1] in EVERY])
async def test_all_other_members_may_be_null(name):
    method, path, body = FORMS[name]
    absent = await answer(method, path, body)
    assert await answer(method, path, dict.fromkeys(EVERY[path]) | body) == absent
    if path == "/learn" and name != "LearnMany":
        nulls = {key: None for key in EVERY[path] if key != "events"} | body
        many = await answer(method, path, {"events": [body]})
        assert await answer(method, path, {"events": [nulls]}) == many
        lines = [json.dumps(each).encode() + b"\n" for each in (body, nulls)]
        stream = [await answer(method, path, line, headers=NDJSON) for line in lines]
        assert stream[0] == stream[1]
        assert stream[0][1][-1]["accepted"] == 1


@pytest.mark.parametrize("name", INSTANCES)
async def test_all_other_members_of_an_instance_may_be_null(name):
    assert all(NULL in SCHEMAS[name]["properties"][key]["anyOf"] for key in optional(name))
    instance = INSTANCES[name]
    absent = await answer("POST", "/rank", {"instances": [instance, instance]})
    nulls = dict.fromkeys(("features", "text", "vector", "id", "source")) | instance
    assert await answer("POST", "/rank", {"instances": [nulls, nulls]}) == absent


@pytest.mark.parametrize("path", EVERY)
@pytest.mark.parametrize("size", [1, 70_000])
async def test_a_field_of_a_text_that_is_null_is_absent(path, size):
    place = ("events", "instances")[path == "/rank"]
    other = {"classes": ["x"]} if path == "/learn" else {}
    given = {"text": {"title": None, "body": "a" + " " * size}} | other
    absent = {"text": {"body": given["text"]["body"]}} | other
    assert await answer("POST", path, given) == await answer("POST", path, absent)
    assert await answer("POST", path, {place: [given]}) == await answer(
        "POST", path, {place: [absent]}
    )
    nothing = {"text": {"title": None}} | other
    async with calling() as call:
        refused = assert_problem(await call("POST", path, nothing), 422, "#/text")
        assert "1 to 16 fields" in refused["detail"]


async def test_the_history_has_no_field_that_was_null():
    async with calling() as call:
        event = {"text": {"title": None, "body": "a"}, "classes": ["x"]}
        await call("POST", "/learn", event)
        assert (await call("GET", "/events/seq:1")).json()["text"] == {"body": "a"}


@pytest.mark.parametrize("path", EVERY)
async def test_a_large_body_has_nulls_too(path):
    text = "a" + " " * 70_000
    body = {"text": text} | ({"classes": ["x"]} if path == "/learn" else {})
    place, nulls = ("events", "instances")[path == "/rank"], dict.fromkeys(EVERY[path]) | body
    for each in (nulls, {place: [{k: v for k, v in nulls.items() if k in INSTANCE[path]}]}):
        status, lines, _ = await answer("POST", path, each)
        assert status == 200, lines


INSTANCE = {
    "/rank": ("features", "text", "id", "source"),
    "/learn": [key for key in EVERY["/learn"] if key != "events"],
}


@pytest.mark.parametrize(
    ("name", "field"),
    [(name, field) for name in FORMS if name not in REMOVING for field in FORMS[name][2]],
)
async def test_null_of_a_required_member_is_refused_by_its_name(call, name, field):
    method, path, body = FORMS[name]
    await prepared(call)
    before = call.digest()
    answered = await call(method, path, body | {field: None})
    is_one_of_many = field in ALTERNATIVES and path in EVERY
    named = "needs `features`, `text` or `vector`" if is_one_of_many else f"`{field}`"
    assert named in assert_problem(answered, 422)["detail"]
    assert call.digest() == before

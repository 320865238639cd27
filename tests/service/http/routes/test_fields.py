"""Texts of fields: their features are apart, and every call gives the fields back."""

import json

import pytest

from tests.service.serving import calling

FIELDS = {"title": "Ice hockey", "body": "The goalie\tsaved it 👍🏽"}


@pytest.fixture
async def call():
    async with calling() as calling_it:
        yield calling_it


async def test_a_word_of_a_field_is_another_feature(call):
    event = {"text": {"title": "goalie"}, "classes": ["hockey"]}
    assert (await call("POST", "/learn", event)).status_code == 200
    for text, known in (
        ({"title": "goalie"}, True),
        ({"body": "goalie"}, False),
        ("goalie", False),
    ):
        answer = await call("POST", "/rank", {"text": text, "explain": True})
        ranked = answer.json()["ranked"]
        assert bool(ranked) is known
        if known:
            voted = [each["feature"] for each in ranked[0]["features"]]
            assert [name for name in voted if "~" not in name] == ["title:goalie"]
            assert {name for name in voted if "~" in name} == {
                f"title:~{run}" for run in ("<goa", "goal", "oali", "alie", "lie>")
            }


async def test_the_history_and_the_review_give_the_fields_back(call):
    event = {"text": FIELDS, "classes": ["hockey"]}
    await call("POST", "/learn", event)
    await call("POST", "/learn", {"events": [event, event]})
    lines = json.dumps(event).encode()
    await call("POST", "/learn", lines, headers={"content-type": "application/x-ndjson"})
    await call("POST", "/rank", {"text": FIELDS, "id": "a"})
    waiting = (await call("GET", "/review")).json()["instances"]
    assert [each["text"] for each in waiting] == [FIELDS]
    await call("POST", "/learn", {"id": "a", "classes": ["hockey"]})
    events = (await call("GET", "/events")).json()["events"]
    assert [each["text"] for each in events] == [FIELDS] * 5
    assert [each["features"] for each in events] == [None] * 5


async def test_a_long_text_is_shown_up_to_a_limit(call):
    """The limit may cut a text within a character. A short field is shown whole."""
    title = "ä" * 2040
    for name in ("bödy" * 10, "t"):
        await call("POST", "/rank", {"text": {"tïtle": title, name: "ö" * 10}, "id": name})
    await call("POST", "/rank", {"text": {"tïtle": "ä" * 2030, "bödy": "ö" * 20}, "id": "3"})
    shown = {each["id"]: each for each in (await call("GET", "/review")).json()["instances"]}
    assert all(each["text_cut"] for each in shown.values())
    assert shown["bödy" * 10]["text"] == {"tïtle": "ä" * 2038, "bödy" * 10: "ö" * 10}
    assert shown["t"]["text"] == {"tïtle": "ä" * 2038, "t": "ö" * 10}
    assert shown["3"]["text"] == {"tïtle": "ä" * 2028, "bödy": "ö" * 20}


@pytest.mark.parametrize(
    ("text", "pointer", "said"),
    [
        ({}, "#/text", "a text has 1 to 16 fields, not 0"),
        ({"": "a"}, "#/text/", "a field name is empty"),
        ({"f" * 251: "a"}, f"#/text/{'f' * 251}", "a field name has 251 bytes; at most 250 are"),
        ({f"f{number}": "a" for number in range(17)}, "#/text", "1 to 16 fields, not 17"),
        (
            {"a": "b", "c": None, "title": 5, "d": []},
            "#/text/title",
            "The field `title` of `text` must be a string (got int)",
        ),
        ({"f" * 101: ["a"]}, "#/text", "A field of `text` must be a string (got array)"),
        ({"title": None, "body": None}, "#/text", "1 to 16 fields; all are null here"),
        (5, "#/text", "`text` must be a string, or an object of 1 to 16 strings"),
        (["a"], "#/text", "`text` must be a string, or an object of 1 to 16 strings"),
    ],
)
@pytest.mark.parametrize("path", ["/rank", "/learn"])
async def test_other_values_are_refused(call, path, text, pointer, said):
    body = {"text": text} | ({"classes": ["x"]} if path == "/learn" else {})
    answer = await call("POST", path, body)
    assert answer.status_code == 422
    [fault] = answer.json()["errors"]
    assert fault["pointer"] == pointer
    assert said in fault["detail"]
    place = "instances" if path == "/rank" else "events"
    answer = await call("POST", path, {place: [{**body, "text": "a"}, body]})
    [fault] = answer.json()["errors"]
    assert fault["pointer"] == pointer.replace("#", f"#/{place}/1", 1)
    assert said in fault["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"text": {"a": 5}, "text": "b"}',
        b'{"instances": [{"text": {"a": 5}}], "instances": []}',
        b'{"text": {"a": 5, "\xff": "b"}}',
        b'{"text": {"a": 5, "b": ' + b"[" * 2000 + b"]" * 2000 + b"}}",
        b'{"text": {"a": 5, "b": "c"',
        b'{"q` - at `$.foo.text[...]": 5}',
        b'{"text": {"a": 5, "a": "b"}}',
    ],
)
async def test_a_wrong_field_is_refused_in_a_body_with_other_faults(call, body):
    answer = await call("POST", "/rank", body)
    assert answer.status_code in (400, 422)
    assert answer.json()["detail"]

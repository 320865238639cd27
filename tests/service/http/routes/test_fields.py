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
            assert [each["feature"] for each in ranked[0]["features"]] == ["title:goalie"]


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
    """The limit may cut a text, or a name of a field, within a character."""
    fields = {"tïtle": "ä" * 2040, "bödy" * 10: "ö" * 10}
    await call("POST", "/rank", {"text": fields})
    [waiting] = (await call("GET", "/review")).json()["instances"]
    assert waiting["text_cut"]
    first, second = waiting["text"].items()
    assert first == ("tïtle", "ä" * 2040)
    assert ("bödy" * 10).startswith(second[0])
    assert second[1] == ""


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ({}, "#/text"),
        ({"": "a"}, "#/text"),
        ({f"f{number}": "a" for number in range(17)}, "#/text"),
        ({"title": 5}, "#/text"),
        (5, "#/text"),
        (["a"], "#/text"),
    ],
)
@pytest.mark.parametrize("path", ["/rank", "/learn"])
async def test_other_values_are_refused(call, path, text, pointer):
    body = {"text": text} | ({"classes": ["x"]} if path == "/learn" else {})
    answer = await call("POST", path, body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)

"""Texts that are not instances as a whole: the rest is ranked and learned, with a warning."""

import json

import pytest

from manyclass.core.text import TextAnalysis
from tests.service.serving import calling

PAIRS = TextAnalysis.parse("words+pairs")
LONG_WORD = (
    "A word of the text is longer than a name may be (4096 bytes, with its field) and is left out."
)
LONG_WORDS = (
    "2 words of the text are longer than a name may be (4096 bytes, with its field) and are left"
    " out."
)


@pytest.fixture
async def call():
    async with calling(max_features_per_instance=4, text=PAIRS) as calling_it:
        await calling_it.learn(("goalie", "hockey"), ("batter", "baseball"))
        yield calling_it


def details(answer):
    assert answer.status_code == 200, answer.text
    return [(each["pointer"], each["detail"]) for each in answer.json().get("warnings", ())]


TRUNCATED = (
    "The text has more features than an instance may have; all after the first 4 are left out."
)
CASES = [
    ("goalie " + "x" * 4096, []),
    ("goalie " + "x" * 4097, [LONG_WORD]),
    ("goalie " + "x" * 4097 + " " + "y" * 4097, [LONG_WORDS]),
    ("goalie saves it", [TRUNCATED]),
    ({"title": "x" * 4097, "body": "goalie"}, [LONG_WORD]),
    ({"title": "goalie saves", "body": "goalie saves"}, [TRUNCATED]),
    ("x" * 4097, [LONG_WORD, "No other word remains."]),
]


@pytest.mark.parametrize(("text", "warned"), CASES, ids=range(len(CASES)))
async def test_the_rest_is_ranked_and_learned_with_a_warning(call, text, warned):
    ranked = await call("POST", "/rank", {"text": text})
    assert details(ranked) == [("#/text", each) for each in warned]
    many = await call("POST", "/rank", {"instances": [{"text": "goalie"}, {"text": text}]})
    assert details(many) == [("#/instances/1/text", each) for each in warned]
    event = {"text": text, "classes": ["hockey"]}
    assert details(await call("POST", "/learn", event)) == [("#/text", each) for each in warned]
    taught = await call("POST", "/learn", {"events": [event, {"text": "a", "classes": ["b"]}]})
    assert details(taught) == [("#/events/0/text", each) for each in warned]
    counts = await call.metrics()
    assert counts['instances_with_cut_texts_total{call="rank"}'] == 2 * bool(warned)
    assert counts['instances_with_cut_texts_total{call="learn"}'] == 2 * bool(warned)


async def test_a_stream_names_the_lines(call):
    lines = [{"text": text, "classes": ["hockey"]} for text, _ in CASES]
    body = b"\n".join(json.dumps(line).encode() for line in lines)
    answer = await call("POST", "/learn", body, headers={"content-type": "application/x-ndjson"})
    found = [json.loads(line) for line in answer.content.splitlines()]
    warnings = [(each["line"], each["detail"]) for each in found if each["kind"] == "warning"]
    assert warnings == [
        (line, each) for line, (_, warned) in enumerate(CASES, 1) for each in warned
    ]


async def test_features_that_a_client_names_are_refused_above_the_limit(call):
    answer = await call("POST", "/rank", {"features": list("abcde")})
    assert answer.status_code == 422

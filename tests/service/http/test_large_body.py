import asyncio
import gzip
import json

import msgspec
import pytest

from manyclass.core.instance import Instance
from manyclass.core.outline import Outline
from manyclass.service.http import decoding, event_builder, instances, large_body, time_slice
from manyclass.service.http.instances import LARGE_BYTES, LONG_TEXT, is_large
from manyclass.service.http.request_body import PIECE_BYTES
from manyclass.service.http.schemas.learn import MOST_PAIRS, LearnEvent
from manyclass.service.http.schemas.rank import RankInstance
from tests.service.serving import assert_problem, calling

LONG = "." * 200_000


def padded(body):
    """Return the body padded to a size that is decoded in slices."""
    return json.dumps(body).encode() + b" " * LARGE_BYTES


class Counted(time_slice.TimeSlice):
    """A time slice that ends after each step, and counts its renewals."""

    passed = 0
    is_over = True

    async def renew(self):
        Counted.passed += 1
        await asyncio.sleep(0)


@pytest.fixture
def turns(monkeypatch):
    """Return a function that counts the turns since its last call."""
    for module in (large_body, *large_body_users()):
        monkeypatch.setattr(module, "TimeSlice", Counted)

    def count():
        passed, Counted.passed = Counted.passed, 0
        return passed

    count()
    return count


def large_body_users():
    from manyclass.service.http import request_body
    from manyclass.service.http.routes import learn, learn_stream, rank

    return request_body, learn, learn_stream, rank


async def test_a_large_body_is_answered_as_a_small_one(call):
    rank = {"features": {"f": 1}, "id": "i"}
    learn = {"features": ["f"], "classes": ["a"]}
    bodies = [
        ("/rank", rank),
        ("/rank", {"instances": [rank, {"text": "f g", "id": "j"}], "k": 2}),
        ("/rank", {"instances": []}),
        ("/rank", {"instances": [{"nothing": 1}]}),
        ("/rank", {"instances": [rank, {"id": "x"}]}),
        ("/rank", {"instances": 1}),
        ("/rank", {"features": "f"}),
        ("/learn", {"events": [learn, {**learn, "classes": []}]}),
        ("/learn", {"events": [learn, 1]}),
        ("/learn", {"events": [learn], "id": "x"}),
        ("/learn", {"events": [{**learn, "classes": [1] * 1001}]}),
        ("/learn", {**learn, "classes": [1] * 1001}),
        ("/learn", {"events": [learn] * 1001}),
    ]
    await call.learn(("f", "a"))
    for path, body in bodies:
        small = await call("POST", path, body)
        large = await call("POST", path, padded(body))
        assert (large.status_code, large.json()) == (small.status_code, small.json())
    for path, body in [("/learn", learn), ("/learn", {"events": [learn, learn]})]:
        small, large = await call("POST", path, body), await call("POST", path, padded(body))
        assert large.json().keys() == small.json().keys()
        assert large.json()["seq"] > small.json()["seq"]


@pytest.mark.parametrize(
    ("path", "body", "pointers"),
    [
        ("/learn", b'{"classes":[' + b'"a",' * 100_000 + b'"a"]}', ["#/classes"]),
        ("/rank", b'{"among":[' + b'"a",' * 100_000 + b'"a"]}', ["#/among"]),
        ("/learn", b'{"events":[{"classes":[' + b'"a",' * 10**5, ["#/events/0/classes"]),
        ("/learn", b'{"events":[' + b"{}," * 10**5 + b"{}]}", ["#/events/1000"]),
        ("/rank", b'{"instances":[' + b"{}," * 10**5 + b"{}]}", ["#/instances/1000"]),
        ("/rank", b'{"instances":[],"instances":[' + b"{}," * 10**5, ["#/instances"]),
        ("/rank", b'{"\\u0069nstances":[' + b"{}," * 10**5 + b"{}]}", ["#"]),
        ("/rank", b'{"features":{' + b'"a":1,' * 10**5 + b'"a":1}}', ["#/features"]),
        ("/rank", b'{"features":[' + b'"a",' * 10**5 + b'"a"]}', ["#/features"]),
    ],
)
async def test_limits_come_before_objects(call, monkeypatch, path, body, pointers):
    decoded = []
    decode = decoding.decode

    def counted(decoder, data):
        decoded.append(len(memoryview(data)))
        return decode(decoder, data)

    monkeypatch.setattr(large_body, "decode", counted)
    monkeypatch.setattr(instances, "decode", counted)
    assert_problem(await call("POST", path, body), 422, *pointers)
    # the decoder skips `features` and builds no object of it
    assert decoded == ([len(body)] if pointers == ["#/features"] else [])


async def test_brackets_that_do_not_match_are_no_json(call):
    body = b'{"events":[{"classes":["a"]' + b" " * LARGE_BYTES
    assert "malformed at byte" in assert_problem(await call("POST", "/learn", body), 400)["detail"]
    broken = b'{"events":[{"classes":["a"]},{"classes":[}]]}' + b" " * LARGE_BYTES
    assert_problem(await call("POST", "/learn", broken), 400)


async def test_a_long_text_is_read_in_a_thread(call, monkeypatch):
    made = []

    async def in_thread(work, *args):
        made.append(getattr(work, "func", work).__name__)
        return await time_slice.run_in_thread(work, *args)

    monkeypatch.setattr(instances, "run_in_thread", in_thread)
    monkeypatch.setattr(event_builder, "run_in_thread", in_thread)
    assert (await call("POST", "/rank", {"text": LONG})).status_code == 200
    body = {"instances": [{"text": LONG}] * 2}
    assert (await call("POST", "/rank", body)).status_code == 200
    event = {"text": LONG + " word", "classes": ["a"]}
    assert (await call("POST", "/learn", event)).status_code == 200
    assert (await call("POST", "/learn", {"events": [event] * 2})).status_code == 200
    assert (await call.stream(event, event))[-1]["accepted"] == 2
    assert made == ["instance_of"] * 3 + ["_built"] * 5
    assert call.app.engine.model.learner.features == 4  # a word, and its runs of characters


async def test_elements_are_decoded_and_made_in_turns(call, turns):
    events = [{"features": ["f"], "classes": ["a"]}] * 50
    assert (await call("POST", "/learn", padded({"events": events}))).status_code == 200
    assert turns() >= 100
    instances = [{"features": ["\\f"]}] * 50  # a name with an escape is not plain
    assert (await call("POST", "/rank", padded({"instances": instances}))).status_code == 200
    assert turns() >= 100


async def test_gzip_is_unpacked_in_turns(call, turns):
    headers = {"content-encoding": "gzip"}
    body = gzip.compress(b'{"features":["a"]}' + b" " * (10 * PIECE_BYTES))
    assert (await call("POST", "/rank", body, headers=headers)).status_code == 200
    assert turns() >= 10
    line = gzip.compress(b"." * (10 * PIECE_BYTES))
    await call.stream(line, **headers)
    assert turns() >= 10


async def test_each_explained_class_has_a_turn_and_large_answers_come_in_pieces(turns, monkeypatch):
    sent = []
    async with calling(learner="svm") as call:
        names = [f"{number}" + "\\" * 4000 for number in range(40)]
        await call("POST", "/learn", {"features": ["a" * 4000, "b"], "classes": names})
        turns()

        async def send(message):
            sent.append(len(message.get("body", b"")))

        for body in (
            {"features": ["a" * 4000, "b"], "k": 40, "explain": True},
            {"instances": [{"features": ["b"]}] * 3, "k": 40},
        ):
            data = json.dumps(body).encode()

            async def receive(data=data):
                return {"type": "http.request", "body": data, "more_body": False}

            headers = [(b"content-type", b"application/json")]
            scope = {"type": "http", "method": "POST", "path": "/rank", "headers": headers}
            sent.clear()
            await call.app(scope, receive, send)
            assert len(sent) >= 3
            assert max(sent) < 2 * 2**18 + 3 * 10**5
            answer = (await call("POST", "/rank", body)).json()
            for each in answer.get("results", [answer]):
                assert {one["class"] for one in each["ranked"]} == set(names)
        assert turns() >= 2 * 40


async def test_features_times_classes_of_an_event_are_bounded(call):
    classes = [str(number) for number in range(1000)]
    most = MOST_PAIRS // len(classes)
    features = [str(number) for number in range(most + 1)]
    for body in ({"features": features[:most]}, {"features": features, "id": None}):
        event = {"features": body["features"], "classes": classes}
        answer = await call("POST", "/learn", event)
        if len(body["features"]) <= most:
            assert answer.status_code == 200
            continue
        assert_problem(answer, 422, "#/classes")
        answer = await call("POST", "/learn", {"events": [event]})
        assert_problem(answer, 422, "#/events/0/classes")
        await call("POST", "/rank", {"features": features, "id": "i"})
        answer = await call("POST", "/learn", {"id": "i", "classes": classes})
        assert_problem(answer, 422, "#/classes")
    assert call.app.engine.model.seq == 1


@pytest.mark.parametrize("words", [150, 4000])
async def test_a_text_with_many_classes_is_cut_to_what_can_be_learned(call, words):
    classes = [str(number) for number in range(1000)]
    text = " ".join(f"word{number}" for number in range(words))
    answer = (await call("POST", "/learn", {"text": text, "classes": classes})).json()
    assert "all after the first 200 are left out" in answer["warnings"][0]["detail"]
    assert call.app.engine.model.learner.features == MOST_PAIRS // len(classes)


def test_large_features_and_texts_are_distinguished_from_small_ones():
    assert not is_large(RankInstance(given_text="." * LONG_TEXT))
    assert is_large(RankInstance(given_text="." * (LONG_TEXT + 1)))
    assert not is_large(RankInstance())
    large = msgspec.Raw(b"[" + b" " * LARGE_BYTES + b"]")
    assert is_large(LearnEvent(classes=["a"], features=large))
    assert Instance.from_json(large) == Instance([])
    assert Outline(b"{}", b"x", 1, 1).fault is None

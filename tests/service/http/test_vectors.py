"""Vectors of instances: in each form, by each call, and in all that an instance goes through."""

import base64
import json
import struct

import pytest

from manyclass.core.errors import InstanceError
from manyclass.core.event import Event
from manyclass.core.instance import MOST_DIMENSION, Instance
from manyclass.core.model import Model
from manyclass.core.text import TextAnalysis
from tests.service.http.two_ways import learn, rank, two_ways
from tests.service.serving import assert_problem, calling, side_by_side

NUMBERS = [0.25, -0.5, 0.125, 1.0]
UNITS = Instance({}, NUMBERS).vector.tolist()


def float32(numbers):
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def int8(numbers):
    return {"int8": base64.b64encode(struct.pack(f"<{len(numbers)}b", *numbers)).decode()}


FORMS = {
    "list": NUMBERS,
    "whole": [2, -4, 1, 8],
    "float32": float32(NUMBERS),
    "int8": int8([2, -4, 1, 8]),
}
INSTANCES = {
    "features": {"features": ["a", "b"]},
    "text": {"text": "a b"},
    "alone": {},
}


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def vector(request):
    """Return the same vector in one of its forms."""
    return request.param


@pytest.fixture(params=INSTANCES.values(), ids=INSTANCES)
def instance(request, vector):
    """Return an instance with the vector."""
    return request.param | {"vector": vector}


def stored(call, instance_id):
    """Return the instance that waits for its label."""
    return call.app.api.state.pending.find(instance_id).instance


def logged(call, kind="learn", after=0):
    """Return the events of this kind in the log, behind event `after`."""
    events = [Event.from_bytes(payload) for _, payload in call.store.read(after)]
    return [event for event in events if event.kind == kind]


def units(instance):
    return instance.vector.tolist()


# --- ranking --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"among": ["x"]}, {"explain": True}, {"decode": "taxo"}, {"k": 2.0}]
)
async def test_a_ranked_instance_has_its_vector(call, instance, options):
    await call("POST", "/classes", {"parents": {"x": "top", "y": "top"}})
    await call.learn(("a", "x"), ("b", "y"))
    one = await call("POST", "/rank", {"id": "one", **instance, **options})
    assert one.status_code == 200, one.text
    assert "warnings" not in one.json()
    many = await call("POST", "/rank", {"instances": [{"id": "many", **instance}] * 2, **options})
    assert many.status_code == 200, many.text
    assert "warnings" not in many.json()
    for each in ("one", "many"):
        assert units(stored(call, each)) == UNITS
        assert (len(stored(call, each)) == 0) == (len(instance) == 1)


async def test_native_code_answers_as_python_does(instance):
    async with two_ways() as both:
        await both.learn([{"features": ["a"], "classes": ["x"]}] * 3)
        body = json.dumps(instance | {"id": "q"}).encode()
        answer, natively = await both.talk(rank(body))
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert natively == 1
        for way in (both.native, both.python):
            assert units(stored(way.call, "q")) == UNITS
        both.assert_equal_counts()


# --- learning -------------------------------------------------------------------------------------


async def test_a_learned_event_has_its_vector(call, instance):
    event = instance | {"classes": ["x"]}
    assert (await call("POST", "/learn", event)).status_code == 200
    answer = await call("POST", "/learn", {"events": [event, event | {"weight": 2}]})
    assert answer.status_code == 200, answer.text
    [summary] = await call.stream(event, event)
    assert summary["accepted"] == 2
    assert [units(each.instance) for each in logged(call)] == [UNITS] * 5


@pytest.mark.parametrize("more", [{}, {"event_id": "e"}, {"weight": 2, "source": "s"}])
async def test_native_code_learns_as_python_does(instance, more):
    async with two_ways() as both:
        body = json.dumps(instance | {"classes": ["x", "y"]} | more).encode()
        answer, natively = await both.talk(learn(body))
        assert answer.startswith(b"HTTP/1.1 200 "), answer
        assert natively == 1
        for way in (both.native, both.python):
            assert [units(each.instance) for each in logged(way.call)] == [UNITS]
        both.assert_equal_counts()


@pytest.mark.parametrize("first", ["python", "native"])
async def test_the_same_vector_is_a_retry_and_another_one_a_conflict(instance, first):
    async with calling(native=first == "native") as call:
        event = instance | {"classes": ["x"], "event_id": "e"}
        assert (await call("POST", "/learn", event)).json()["duplicates"] == 0
        for same in FORMS.values():
            retry = await call("POST", "/learn", event | {"vector": same})
            assert retry.json()["duplicates"] == 1
        for other in ([1, 2, 3, 4], None):
            if other is None and len(instance) == 1:
                continue
            refused = await call("POST", "/learn", event | {"vector": other})
            assert_problem(refused, 409, "#/event_id")


async def test_native_code_and_python_make_the_same_fingerprint(instance):
    async with two_ways() as both:
        body = json.dumps(instance | {"classes": ["x"], "event_id": "e"}).encode()
        await both.talk(learn(body))
        native, python = (logged(way.call) for way in (both.native, both.python))
        assert native[0].fingerprint == python[0].fingerprint


async def test_a_late_label_learns_the_vector(call, instance):
    await call("POST", "/rank", {"id": "q", **instance})
    assert (await call("POST", "/learn", {"id": "q", "classes": ["x"]})).status_code == 200
    [event] = logged(call)
    assert units(event.instance) == UNITS
    answer = await call("POST", "/learn", {"id": "q", "classes": ["y"], "replace": True})
    assert answer.status_code == 200, answer.text
    [amendment] = logged(call, "amend")
    assert units(amendment.instance) == UNITS


async def test_an_event_has_an_id_or_a_vector(call, vector):
    await call.ranked_id(id="q")
    body = {"id": "q", "vector": vector, "classes": ["x"]}
    assert_problem(await call("POST", "/learn", body), 422, "#/id")


async def test_a_label_on_another_process_learns_the_vector(vector):
    async with side_by_side() as (one, two):
        await one("POST", "/rank", {"id": "q", "text": "a b", "vector": vector})
        answer = await two("POST", "/learn", {"id": "q", "classes": ["x"]})
        assert answer.status_code == 200, answer.text
        [event] = logged(two)
        assert units(event.instance) == UNITS


async def test_a_text_that_is_read_again_keeps_the_vector(vector):
    async with calling(text=TextAnalysis.parse("words")) as call:
        await call.learn(("a", "x"))
        for each in ("late", "waiting"):
            await call("POST", "/rank", {"id": each, "text": "good goals", "vector": vector})
        answer = await call("POST", "/rebuild", {"text": "words+characters"})
        assert answer.status_code == 200, answer.text
        assert (await call("POST", "/learn", {"id": "late", "classes": ["x"]})).status_code == 200
        event = logged(call, after=call.app.engine.model.seq - 1)[-1]
        assert len(event.instance) > 2
        assert units(event.instance) == UNITS
        [shown] = (await call("GET", "/review")).json()["instances"]
        assert (shown["id"], shown["dimension"]) == ("waiting", 4)
        assert len(shown["features"]) > 2


# --- review and history ---------------------------------------------------------------------------


async def test_instances_that_wait_for_review_have_their_vectors(call, instance):
    given = await call("POST", "/review", {"instances": [{"id": "given", **instance}]})
    assert given.status_code == 200, given.text
    await call("POST", "/rank", {"id": "ranked", **instance})
    for expected in ({"given": 4, "ranked": 4}, {"given": 4, "ranked": 4, "later": None}):
        listed = (await call("GET", "/review")).json()["instances"]
        assert {each["id"]: each["dimension"] for each in listed} == expected
        await call.ranked_id(id="later")
    assert (await call("POST", "/learn", {"id": "given", "classes": ["x"]})).status_code == 200
    assert units(logged(call)[-1].instance) == UNITS


async def test_an_instance_of_nothing_takes_the_place_of_one_with_a_vector(call):
    await call("POST", "/rank", {"id": "q", "vector": NUMBERS})
    assert len((await call("GET", "/review")).json()["instances"]) == 1
    await call("POST", "/rank", {"id": "q", "features": []})
    assert (await call("GET", "/review")).json()["instances"] == []


async def test_corrections_and_deletions_have_the_vector(call, instance):
    await call("POST", "/learn", instance | {"classes": ["x"], "event_id": "e"})
    corrected = await call("PUT", "/events/e", {"classes": ["y"]})
    assert corrected.status_code == 200, corrected.text
    assert (await call("DELETE", "/events/e")).status_code == 200
    assert [units(each.instance) for each in logged(call, "amend")] == [UNITS] * 2


async def test_events_show_the_dimension_and_on_request_the_numbers(call, instance):
    await call("POST", "/learn", instance | {"classes": ["x"], "event_id": "e"})
    await call.learn(("a", "x"))
    [plain, event] = (await call("GET", "/events")).json()["events"]
    assert (plain["dimension"], plain["vector"]) == (None, None)
    assert (event["dimension"], event["vector"]) == (4, None)
    assert (await call("GET", "/events/e")).json() == event
    [plain, event] = (await call("GET", "/events?vectors=true")).json()["events"]
    assert (plain["dimension"], plain["vector"]) == (None, None)
    assert event["vector"] == [each / 4096 for each in UNITS]
    assert (await call("GET", "/events/e?vectors=true")).json() == event
    again = await call("POST", "/learn", {"vector": event["vector"], "classes": ["x"]})
    assert again.status_code == 200
    assert units(logged(call)[-1].instance) == UNITS


async def test_a_rebuilt_history_has_the_vectors(call, instance):
    for each in range(3):
        await call("POST", "/learn", instance | {"classes": [f"c{each}"], "event_id": f"e{each}"})
    await call("DELETE", "/events/e1")
    assert (await call("POST", "/rebuild", {})).status_code == 200
    events = (await call("GET", "/events?vectors=true")).json()["events"]
    assert [each["event_id"] for each in events] == ["e2", "e0"]
    assert all(each["vector"] for each in events)


# --- limits and faults ----------------------------------------------------------------------------


async def test_the_largest_vector_of_long_numbers_passes(call):
    longest = [-1.234567890123456e-05 - each * 1e-13 for each in range(MOST_DIMENSION)]
    text = json.dumps(longest)
    assert len(text) > 70_000
    body = b'{"text": "a b", "vector": %s' % text.encode()
    wanted = units(Instance({}, longest))
    for each, end in (("/rank", b', "id": "q"}'), ("/learn", b', "classes": ["x"]}')):
        answer = await call("POST", each, body + end)
        assert answer.status_code == 200, answer.text
    for path, key, end in (
        ("/rank", b"instances", b"}"),
        ("/learn", b"events", b',"classes":["x"]}'),
    ):
        many = b", ".join([body + end] * 3)
        answer = await call("POST", path, b'{"%s": [%s]}' % (key, many))
        assert answer.status_code == 200, answer.text
    answer = await call("POST", "/review", b'{"instances": [%s, %s]}' % (body + b"}", body + b"}"))
    assert answer.status_code == 200, answer.text
    [summary] = await call.stream(body + b',"classes":["x"]}\n')
    assert summary["accepted"] == 1
    assert units(stored(call, "q")) == wanted
    assert [units(event.instance) for event in logged(call)] == [wanted] * 5


MALFORMED = [
    ([], "#/vector"),
    ([1], "#/vector"),
    ([0, 0], "#/vector"),
    ([1, "2"], "#/vector/1"),
    ([1, None, 2], "#/vector/1"),
    ([0.5] * (MOST_DIMENSION + 1), "#/vector"),
    ("abc", "#/vector"),
    (float32([1, float("nan")]), "#/vector"),
    (5, "#/vector"),
    ({"int8": [1, 2]}, "#/vector"),
    ({"float64": "AAAA"}, "#/vector"),
]


@pytest.mark.parametrize(("wrong", "place"), MALFORMED)
async def test_a_malformed_vector_is_refused_with_its_place(call, wrong, place):
    inside = place.removeprefix("#")
    good = {"text": "a", "vector": NUMBERS}
    for given in INSTANCES.values():
        bad = given | {"vector": wrong}
        for path, more, key in (
            ("/rank", {}, "instances"),
            ("/learn", {"classes": ["x"]}, "events"),
            ("/review", None, "instances"),
        ):
            if more is not None:
                assert_problem(await call("POST", path, bad | more), 422, place)
            many = {key: [good | (more or {}), bad | (more or {})]}
            assert_problem(await call("POST", path, many), 422, f"#/{key}/1{inside}")
        [fault, summary] = await call.stream(bad | {"classes": ["x"]})
        assert [each["pointer"] for each in fault["errors"]] == [place]
        assert summary["rejected"] == 1
    assert call.app.engine.model.seq == 0


@pytest.mark.parametrize("wrong", [each for each, _ in MALFORMED])
async def test_native_code_leaves_malformed_vectors_to_python(wrong):
    async with two_ways() as both:
        await both.learn([{"features": ["a"], "classes": ["x"]}])
        for request in (
            rank(json.dumps({"text": "a", "vector": wrong}).encode()),
            learn(json.dumps({"text": "a", "vector": wrong, "classes": ["x"]}).encode()),
        ):
            answer, natively = await both.talk(request)
            assert answer.startswith(b"HTTP/1.1 422 ")
            assert natively == 0
        both.assert_equal_counts()


async def test_a_vector_that_is_null_is_absent(call):
    assert (await call("POST", "/rank", {"text": "a", "vector": None})).status_code == 200
    refused = assert_problem(await call("POST", "/rank", {"vector": None}), 422)
    assert refused["detail"] == "An instance needs `features`, `text` or `vector`."


async def test_a_vector_of_another_dimension_is_refused_with_its_place(call, monkeypatch):
    def check(_, instance):
        if instance.dimension not in (0, 4):
            raise InstanceError("another dimension", ("vector",))

    monkeypatch.setattr(Model, "check_vector", check)
    good, bad = {"text": "a", "vector": NUMBERS}, {"text": "a", "vector": [1, 2]}
    assert (await call("POST", "/rank", good)).status_code == 200
    assert (await call("POST", "/rank", {"instances": [good, {"text": "a"}]})).status_code == 200
    assert_problem(await call("POST", "/rank", bad), 422, "#/vector")
    for options in ({}, {"among": ["x"]}):
        for instances in ([good, bad], [{"text": "a"}, bad]):
            answer = await call("POST", "/rank", {"instances": instances, **options})
            assert_problem(answer, 422, "#/instances/1/vector")
    answer = await call("POST", "/review", {"instances": [good, bad]})
    assert_problem(answer, 422, "#/instances/1/vector")


async def test_of_the_first_vectors_the_one_of_another_dimension_is_named(call):
    vectors = [[1, 2], None, [1, 2, 3], [3, 4]]
    events = [{"text": "a", "classes": ["x"], "vector": each} for each in vectors]
    refused = await call("POST", "/learn", {"events": events})
    assert_problem(refused, 422, "#/events/2/vector")
    assert call.app.engine.model.seq == 0
    fault, summary = await call.stream(*events)
    assert (fault["line"], fault["status"]) == (3, 422)
    assert "has 3 numbers; another one of the request has 2" in fault["detail"]
    assert (summary["accepted"], summary["rejected"]) == (3, 1)


async def test_a_label_of_an_instance_with_a_vector_that_came_too_early_points_to_the_id(call):
    await call("POST", "/rank", {"id": "q", "text": "a", "vector": [1, 2]})
    await call("POST", "/learn", {"text": "a", "classes": ["x"], "vector": [1, 2, 3]})
    refused = await call("POST", "/learn", {"id": "q", "classes": ["x"]})
    assert_problem(refused, 422, "#/id")
    assert (
        "the vector has 2 numbers; all before have 3: send vectors of one model"
        in refused.json()["detail"]
    )
    assert (await call("POST", "/learn", {"text": "a", "classes": ["x"]})).status_code == 200


async def test_native_code_leaves_no_refused_vector_in_a_batch(monkeypatch):
    check = Model.check_all

    def check_all(model, events):
        if any(event.kind == "learn" and event.instance.dimension == 2 for event in events):
            raise InstanceError("another dimension", ("vector",))
        check(model, events)

    monkeypatch.setattr(Model, "check_all", check_all)
    good, bad = (
        learn(json.dumps({"text": "a", "vector": vector, "classes": ["x"]}).encode())
        for vector in (NUMBERS, [1, 2])
    )
    async with two_ways() as both:
        for request, status in ((good, b"200"), (bad, b"422"), (good, b"200")):
            answer, natively = await both.talk(request)
            assert answer.startswith(b"HTTP/1.1 %s " % status)
            assert natively == 1
            assert status == b"200" or b'"#/vector"' in answer
        for way in (both.native, both.python):
            assert [event.instance.dimension for event in logged(way.call)] == [4, 4]
        both.assert_equal_counts()


async def test_a_class_of_vectors_alone_is_listed_and_found(call):
    for name, words in (("b", {}), ("a", {}), ("a", {}), ("c", {"features": {"f": 1}})):
        body = {"vector": [1, 2, 3], "classes": [name]} | words
        assert (await call("POST", "/learn", body)).status_code == 200
    for order, names in (("name", "abc"), ("events", "cab")):
        page = (await call("GET", f"/classes?order={order}")).json()["classes"]
        assert [each["class"] for each in page] == list(names)
        assert {each["class"]: each["learned"] for each in page} == {"a": 2, "b": 1, "c": 1}
    found = (await call("GET", "/classes?search=A")).json()["classes"]
    assert [(each["class"], each["learned"]) for each in found] == [("a", 2)]
    page = (await call("GET", "/classes?limit=1&after=a")).json()
    assert [each["class"] for each in page["classes"]] == ["b"]
    found = (await call("GET", "/classes/a")).json()
    assert (found["learned"], found["features"]) == (2, [])
    assert_problem(await call("GET", "/classes/d"), 404)
    ranked = await call("POST", "/rank", {"vector": [1, 2, 3], "among": ["a", "d"]})
    assert "'d'" in ranked.json()["warnings"][0]["detail"]
    assert (await call("DELETE", "/classes/a")).status_code == 200
    assert_problem(await call("GET", "/classes/a"), 404)


async def test_a_class_that_no_ranking_can_have_is_warned_of(call):
    await call("POST", "/classes", {"parents": {"placed": "top"}})
    await call("PUT", "/classes/described", {"title": "Described"})
    await call("POST", "/learn", {"vector": [1, 2, 3], "classes": ["a"]})
    among = ["a", "described", "placed"]
    ranked = (await call("POST", "/rank", {"vector": [1, 2, 3], "among": among})).json()
    assert ranked["warnings"] == [{"detail": "No class is named 'placed'.", "pointer": "#/among"}]

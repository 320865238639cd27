"""Titles and vectors end to end: rankings without labels, explanations, erasure, replicas."""

import pytest

from manyclass.core.event import Event
from tests.service.http.two_ways import learn, two_ways
from tests.service.serving import assert_problem, side_by_side

NEAR_HOCKEY, NEAR_OPERA = [1.0, 0.1, 0.0], [0.0, 0.2, 1.0]


async def taught(call):
    """Describe two classes, and learn events with vectors."""
    for name, title in (("h", "Ice hockey"), ("o", "Opera house")):
        answer = await call("PUT", f"/classes/{name}", {"title": title})
        assert answer.status_code == 200, answer.text
    for number in range(4):
        for name, vector in (("h", NEAR_HOCKEY), ("o", NEAR_OPERA)):
            event = {
                "text": f"{name} number {number}",
                "vector": [each + 0.02 * number for each in vector],
                "classes": [name],
            }
            assert (await call("POST", "/learn", event)).status_code == 200


async def ranked(call, **instance):
    answer = await call("POST", "/rank", instance)
    assert answer.status_code == 200, answer.text
    return answer.json()["ranked"]


async def test_a_described_class_is_ranked_before_its_first_label(call):
    await call("PUT", "/classes/h", {"title": "Ice hockey", "vector": NEAR_HOCKEY})
    await call("PUT", "/classes/o", {"title": "Opera house", "vector": NEAR_OPERA})
    assert [each["class"] for each in await ranked(call, text="the house")] == ["o"]
    assert (await ranked(call, vector=[0.9, 0.0, 0.1]))[0]["class"] == "h"
    learned = await call("POST", "/learn", {"text": "a new house", "classes": ["o"]})
    assert learned.json()["rank_before"] == 1
    await call("PUT", "/classes/o", {"title": None, "vector": None})
    assert "o" not in [each["class"] for each in await ranked(call, text="unknown hockey")]


async def test_an_explanation_has_parts_descriptions_and_the_nearest_events(call):
    await taught(call)
    first, second = await ranked(call, text="ice number", vector=NEAR_HOCKEY, explain=True)
    assert first["class"] == "h"
    for each in (first, second):
        assert sum(each["parts"].values()) == pytest.approx(each["score"])
    assert "ice" in [vote["feature"] for vote in first["description"]]
    assert "description" not in second
    # the events 3, 5, 7 and 9 are of this class, each farther than the one before
    assert [near["seq"] for near in first["nearest"]] == [3, 5, 7]
    assert 0.99 < first["nearest"][0]["similarity"] <= 1
    await call("DELETE", "/events/seq:3")
    [first, _] = await ranked(call, text="ice", vector=NEAR_HOCKEY, explain=True)
    assert [near["seq"] for near in first["nearest"]] == [5, 7, 9]


async def test_without_vectors_and_descriptions_an_explanation_has_no_parts(call):
    await call.learn(("a", "x"), ("b", "y"))
    [first, *_] = await ranked(call, features=["a"], explain=True)
    assert not {"parts", "description", "nearest"} & first.keys()


async def test_the_weights_and_sizes_are_shown(call):
    await taught(call)
    [learner] = (await call("GET", "/learners")).json()["learners"]
    assert learner["mixture"]["words"] == 1
    assert learner["mixture"]["vectors"] > 1
    assert 0 < learner["mixture"]["descriptions"] <= 1.5
    stats = (await call("GET", "/stats")).json()
    assert stats["described"] == 2
    assert {key: stats["vectors"][key] for key in ("dimension", "events", "classes")} == {
        "dimension": 3,
        "events": 8,
        "classes": 2,
    }


async def test_metrics_have_the_weights_and_sizes(call):
    fresh = await call.metrics()
    assert [fresh[name] for name in ("vector_dimension", "described_classes")] == [0, 0]
    parts = 'mixture_weight{learner="svm",part="%s",role="primary"}'
    assert fresh[parts % "words"] == 1
    assert parts % "vectors" not in fresh
    await taught(call)
    several = {"features": ["a"], "classes": ["north", "south"], "vector": [1, 1, 0], "weight": 2}
    await call("POST", "/learn", several)
    seen = await call.metrics()
    [learner] = (await call("GET", "/learners")).json()["learners"]
    for part, weight in learner["mixture"].items():
        assert seen[parts % part] == weight
    stats = (await call("GET", "/stats")).json()
    assert seen["described_classes"] == stats["described"] == 2
    assert seen["vector_dimension"] == 3
    assert seen["vector_events"] == stats["vectors"]["events"] == 12
    assert seen["vector_classes"] == stats["vectors"]["classes"]
    assert seen["evidence_bytes"] == stats["vectors"]["bytes"]


async def test_another_dimension_is_refused_by_every_call(call):
    await taught(call)
    for body in (
        {"text": "a", "vector": [1.0, 2.0]},
        {"instances": [{"text": "a", "vector": [1.0, 2.0]}]},
    ):
        assert "has 2 numbers" in assert_problem(await call("POST", "/rank", body), 422)["detail"]
    event = {"text": "a", "vector": [1.0, 2.0], "classes": ["h"]}
    for body in (event, {"events": [event]}):
        assert "has 2 numbers" in assert_problem(await call("POST", "/learn", body), 422)["detail"]
    answer = await call("PUT", "/classes/h", {"vector": [1.0, 2.0]})
    assert "has 2 numbers" in assert_problem(answer, 422)["detail"]


async def test_plain_calls_refuse_another_dimension_too():
    async with two_ways() as both:
        for way in (both.native, both.python):
            await taught(way.call)
        answer, _ = await both.talk(learn(b'{"text":"a","vector":[1,2],"classes":["h"]}'))
        assert answer.startswith(b"HTTP/1.1 422 ")
        assert b"has 2 numbers" in answer


TO_ERASE = {"text": "to erase", "vector": [0.5, 0.5, 0.5], "classes": ["h"]}


async def test_an_erased_event_leaves_the_sums_as_if_it_had_never_been(call):
    await taught(call)
    before = call.app.engine.model.evidence.dump()
    seq = (await call("POST", "/learn", TO_ERASE)).json()["seq"]
    assert (await call("DELETE", f"/events/seq:{seq}")).status_code == 200
    after = call.app.engine.model.evidence.dump()
    for name in ("vector_class_sums", "vector_products"):
        assert (after[name] == before[name]).all()


async def test_a_replica_has_the_same_digest_after_an_erasure():
    async with side_by_side() as (one, two):
        await taught(one)
        seq = (await one("POST", "/learn", TO_ERASE)).json()["seq"]
        event = Event.from_bytes(next(payload for at, payload in one.store.read(seq - 1)))
        await one.app.engine.submit([Event.amend(seq, event.instance, [], event.classes)])
        last = one.app.engine.model.seq
        assert (await two("POST", "/rank", {"text": "a", "min_seq": last})).status_code == 200
        assert one.digest() == two.digest()

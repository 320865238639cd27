import asyncio
import json

import pytest

from manyclass.service.store.errors import StoreFull
from tests.service.faulty import FaultyStore
from tests.service.serving import assert_problem, calling


async def learn(call, **event):
    return await call("POST", "/learn", event)


async def test_learns_one_and_says_where_its_class_stood(call):
    first = await learn(call, features=["a", "b"], classes=["x"])
    assert first.json() == {
        "seq": 1,
        "accepted": 1,
        "duplicates": 0,
        "rank_before": None,
        "updated": True,
    }
    await learn(call, features=["a"], classes=["y"])
    await learn(call, features=["a"], classes=["y"])
    third = (await learn(call, features=["a"], classes=["x", "z"])).json()
    assert (third["seq"], third["rank_before"]) == (4, 2)
    best = (await call("POST", "/rank", {"features": ["b"]})).json()
    assert best["seq"] == 4
    assert best["ranked"][0]["class"] == "x"


async def test_an_update_happens_only_when_the_margin_asks_for_it():
    async with calling(learner="ff(margin_threshold=0.5,rating=0)") as call:
        await learn(call, features=["a"], classes=["x"])
        again = (await learn(call, features=["a"], classes=["x"])).json()
        assert (again["rank_before"], again["updated"]) == (1, False)


async def test_learns_every_form_of_instance_and_class(call):
    await learn(call, text="The Goalie", classes=["one"])
    await learn(call, features={"goalie": 2.5}, classes=[2])
    await learn(call, features=[7, 7.0], classes=[3.0])
    page = (await call("GET", "/classes")).json()["classes"]
    assert [each["class"] for each in page] == ["2", "3", "one"]
    assert (await call("GET", "/features/7")).json()["times_seen"] == 1
    assert (await call("GET", "/features/goalie")).json()["times_seen"] == 2


# --- weights and rejected classes -----------------------------------------------------------------


async def scores(call, feature="a"):
    ranked = (await call("POST", "/rank", {"features": [feature]})).json()["ranked"]
    return {each["class"]: each["score"] for each in ranked}


async def test_a_wrong_class_loses_score_and_nothing_is_said_of_others(call):
    await call.learn(*[("a", "x"), ("a b", "y")] * 5)
    before = await scores(call)
    answer = (await learn(call, features=["a"], **{"not": ["x", "unknown"]})).json()
    assert answer == {
        "seq": 11,
        "accepted": 1,
        "duplicates": 0,
        "rank_before": None,
        "updated": True,
    }
    after = await scores(call)
    assert after["x"] < before["x"]
    assert [each["class"] for each in (await call("GET", "/classes")).json()["classes"]] == [*"xy"]
    stats = (await call("GET", "/stats")).json()
    assert (stats["learned"], stats["accuracy"]["100"]["examples"]) == (11, 10)


async def test_true_and_wrong_classes_in_one_event():
    async with calling(learner="pa") as call:
        await call.learn(*[("a", "x")] * 5)
        before = await scores(call)
        both = {"classes": ["y"], "not": ["x"], "weight": 5}
        many = {"events": [{"features": ["a"]} | both, {"features": ["a"], "not": ["x"]}]}
        answer = (await call("POST", "/learn", many)).json()
        assert answer["ranks_before"] == [None, None]
        after = await scores(call)
        assert after["x"] < before["x"]
        assert after["y"] > 0


async def test_a_weight_counts():
    once, heavy = [], []
    for found, weight in ((once, {}), (heavy, {"weight": 5})):
        async with calling(learner="pa") as call:
            await learn(call, features=["a"], classes=["x"])
            await learn(call, features=["a", "b"], classes=["y"], **weight)
            found.append((await scores(call, "b"))["y"])
    assert heavy > once


async def test_a_delayed_label_may_be_of_a_wrong_class(call):
    await call.learn(("a", "x"))
    ranked = await call.ranked_id()
    before = await scores(call)
    assert (await learn(call, id=ranked, **{"not": ["x"], "weight": 3})).status_code == 200
    assert (await scores(call))["x"] < before["x"]


async def test_a_stream_takes_them_and_its_recall_is_of_true_classes(call):
    lines = [
        {"features": ["a"], "classes": ["x"], "weight": 2},
        {"features": ["a"], "not": ["x"]},
        {"features": ["a"], "classes": ["x"]},
        {"features": ["a"]},
        {"features": ["a"], "classes": ["x"], "not": ["x"]},
    ]
    *faults, summary = await call.stream(*lines)
    assert [fault["line"] for fault in faults if fault["kind"] == "fault"] == [4, 5]
    assert (summary["accepted"], summary["rejected"], summary["r1"]) == (3, 2, 0.5)


@pytest.mark.parametrize(
    ("event", "pointer"),
    [
        ({}, "#"),
        ({"weight": 2}, "#"),
        ({"not": []}, "#/not"),
        ({"not": "x"}, "#/not"),
        ({"not": ["x", ""]}, "#/not/1"),
        ({"not": ["x", 1.5]}, "#/not/1"),
        ({"not": ["x"] * 1001}, "#/not"),
        ({"classes": ["x", "y"], "not": ["z", "y"]}, "#/not/1"),
        ({"classes": [5], "not": ["5"]}, "#/not/0"),
        ({"classes": ["x"], "weight": 0}, "#/weight"),
        ({"classes": ["x"], "weight": -1}, "#/weight"),
        ({"classes": ["x"], "weight": 1001}, "#/weight"),
        ({"classes": ["x"], "weight": "2"}, "#/weight"),
    ],
)
async def test_a_label_that_makes_no_sense_is_refused(call, event, pointer):
    before = call.digest()
    assert_problem(await learn(call, features=["a"], **event), 422, pointer)
    many = {"events": [{"features": ["b"], "classes": ["x"]}, {"features": ["a"]} | event]}
    place = f"#/events/1{pointer[1:]}"
    assert_problem(await call("POST", "/learn", many), 422, place)
    assert call.digest() == before


@pytest.mark.parametrize(
    ("learner", "shadows", "event", "key", "able"),
    [
        ("ff", (), {"not": ["x"]}, "not", "pa, mmp, arow, svm, path, hieron"),
        ("oplt", (), {"not": ["x"]}, "not", "pa, mmp, arow, svm, path, hieron"),
        (
            "svm",
            ("frequency",),
            {"classes": ["x"], "weight": 2},
            "weight",
            "svm, path, hieron, iplt, oplt",
        ),
        ("committee(members=svm+ff)", (), {"not": ["x"]}, "not", "a committee of these alone"),
    ],
)
async def test_learners_that_cannot_learn_them_refuse(learner, shadows, event, key, able):
    async with calling(learner=learner, shadows=shadows) as call:
        await call.learn(("a", "x"))
        before = call.digest()
        response = await learn(call, features=["a"], **event)
        detail = assert_problem(response, 422, f"#/{key}")["detail"]
        assert f"cannot learn `{key}`" in detail
        assert able in detail
        many = {"events": [{"features": ["a"], "classes": ["x"]}, {"features": ["a"]} | event]}
        assert_problem(await call("POST", "/learn", many), 422, f"#/events/1/{key}")
        assert call.digest() == before


async def test_a_retry_is_of_the_same_labels(call):
    await call.learn(("a", "x"))
    event = {"features": ["a"], "not": ["x"], "weight": 2, "event_id": "e"}
    assert (await learn(call, **event)).json()["accepted"] == 1
    assert (await learn(call, **event)).json()["duplicates"] == 1
    for other in ({"weight": 3}, {"not": ["y"]}, {"classes": ["z"]}):
        assert_problem(await learn(call, **event | other), 409, "#/event_id")


async def test_learns_many_or_none(call):
    events = [{"features": ["a"], "classes": ["x"]}] * 3
    answer = (await call("POST", "/learn", {"events": events})).json()
    assert answer == {
        "seq": 3,
        "accepted": 3,
        "duplicates": 0,
        "ranks_before": [None, 1, 1],
    }
    before = call.digest()
    bad = [*events, {"features": ["a"], "classes": [""]}]
    assert_problem(await call("POST", "/learn", {"events": bad}), 422, "#/events/3/classes/0")
    assert call.digest() == before


# --- retries --------------------------------------------------------------------------------------


async def test_a_retry_is_harmless(call):
    event = {"features": {"a": 1, "b": 2}, "classes": ["x"], "event_id": "e"}
    first = (await learn(call, **event)).json()
    await learn(call, features=["c"], classes=["y"])
    before = call.digest()
    again = (await learn(call, **event)).json()
    assert again == first | {"accepted": 0, "duplicates": 1, "updated": False}
    both = {"events": [event, {"features": ["d"], "classes": ["z"]}]}
    many = (await call("POST", "/learn", {"events": [event, event]})).json()
    assert many == {
        "seq": 1,
        "accepted": 0,
        "duplicates": 2,
        "ranks_before": [None, None],
    }
    assert call.digest() == before
    answer = (await call("POST", "/learn", both)).json()
    assert answer == {
        "seq": 3,
        "accepted": 1,
        "duplicates": 1,
        "ranks_before": [None, None],
    }


@pytest.mark.parametrize(
    "other",
    [
        {"features": {"b": 2, "a": 1}},
        {"features": ["b", "a", "b"]},
        {"classes": [5, "x"]},
        {"classes": ["x", 5.0, "x"]},
    ],
)
async def test_a_retry_is_one_whatever_the_order(call, other):
    event = {"features": {"a": 1, "b": 2}, "classes": ["x", "5"], "event_id": "e"}
    await learn(call, **event)
    again = (await learn(call, **event | other)).json()
    assert (again["accepted"], again["duplicates"]) == (0, 1)


async def test_the_retry_of_a_late_label_is_one_whatever_the_order_of_its_classes(call):
    made = await call.ranked_id()
    await learn(call, id=made, classes=["x", "y"], event_id="e")
    again = (await learn(call, id=made, classes=["y", "x"], event_id="e")).json()
    assert again["duplicates"] == 1


@pytest.mark.parametrize(
    "other",
    [
        {"features": {"a": 1, "b": 2.5}, "classes": ["x"]},
        {"features": {"a": 2, "b": 1}, "classes": ["x"]},
        {"features": {"a": 1, "b": 2}, "classes": ["y"]},
        {"features": {"a": 1, "b": 2}, "classes": ["x", "y"]},
        {"text": "a", "classes": ["x"]},
    ],
)
async def test_an_event_id_with_other_content_is_a_conflict(call, other):
    await learn(call, features={"a": 1, "b": 2}, classes=["x"], event_id="e")
    before = call.digest()
    assert_problem(await learn(call, **other, event_id="e"), 409, "#/event_id")
    new = {"features": ["n"], "classes": ["n"]}
    many = {"events": [new, new, other | {"event_id": "e"}]}
    assert_problem(await call("POST", "/learn", many), 409, "#/events/2/event_id")
    assert call.digest() == before


async def test_borders_between_classes_tell_events_apart(call):
    await learn(call, features=["a"], classes=["xy", "z"], event_id="e")
    assert_problem(await learn(call, features=["a"], classes=["x", "yz"], event_id="e"), 409)


# --- late labels ----------------------------------------------------------------------------------


async def test_a_late_label_teaches_what_was_ranked():
    async with calling() as call, calling() as other:
        made = await call.ranked_id("a b b")
        await call.ranked_id("c", id="given")
        call.clock.now += 5
        await learn(call, id=made, classes=["x"])
        await call("POST", "/learn", {"events": [{"id": "given", "classes": ["y", "z"]}]})
        await learn(other, features={"a": 1, "b": 2}, classes=["x"])
        await learn(other, features=["c"], classes=["y", "z"])
        assert call.learned_digest() == other.learned_digest()
        seen = await call.metrics()
        assert (seen["label_delay_seconds_count"], seen["label_delay_seconds_sum"]) == (2, 10)


async def test_too_late_differs_from_never_seen():
    async with calling(late_label_seconds=60) as call:
        made = await call.ranked_id()
        call.clock.now += 61
        before = call.digest()
        assert_problem(await learn(call, id=made, classes=["x"]), 410, "#/id")
        assert_problem(await learn(call, id="never", classes=["x"]), 404, "#/id")
        many = {"events": [{"features": ["a"], "classes": ["x"]}, {"id": made, "classes": ["x"]}]}
        assert_problem(await call("POST", "/learn", many), 410, "#/events/1/id")
        assert call.digest() == before
        seen = await call.metrics()
        assert seen["delayed_labels_expired_total"] == 2
        assert seen['learn_events_total{result="rejected"}'] == 4


async def test_the_retry_of_a_late_label_is_known_when_its_instance_is_gone():
    async with calling(late_label_seconds=60) as call:
        made = await call.ranked_id()
        label = {"id": made, "classes": ["x"], "event_id": "e"}
        first = (await learn(call, **label)).json()
        call.clock.now += 61
        await learn(call, features=["b"], classes=["y"])
        before = call.digest()
        again = (await learn(call, **label)).json()
        assert again == first | {"accepted": 0, "duplicates": 1, "updated": False}
        assert_problem(await learn(call, **label | {"classes": ["y"]}), 409, "#/event_id")
        many = {"events": [label, {"features": ["c"], "classes": ["z"]}, label]}
        bad = {"events": [{"features": ["c"], "classes": ["z"]}, label | {"classes": ["y"]}]}
        assert_problem(await call("POST", "/learn", bad), 409, "#/events/1/event_id")
        other = {"features": ["other"], "classes": ["x"], "event_id": "e"}
        mixed = {"events": [label, {"features": ["c"], "classes": ["z"]}, other]}
        assert_problem(await call("POST", "/learn", mixed), 409, "#/events/2/event_id")
        assert call.digest() == before
        answer = (await call("POST", "/learn", many)).json()
        assert answer == {
            "seq": 3,
            "accepted": 1,
            "duplicates": 2,
            "ranks_before": [None] * 3,
        }
        seen = await call.metrics()
        assert seen['learn_events_total{result="duplicate"}'] == 3


# --- refusals -------------------------------------------------------------------------------------


REFUSED = [  # bodies, and the places of their faults
    ({"features": ["a"]}, ["#"]),
    ({"classes": ["x"]}, ["#"]),
    ({"features": ["a"], "classes": []}, ["#/classes"]),
    ({"features": ["a"], "classes": ["x"] * 1001}, ["#/classes"]),
    ({"features": ["a"], "classes": "x"}, ["#/classes"]),
    ({"features": ["a"], "classes": ["x", ""]}, ["#/classes/1"]),
    ({"features": ["a"], "classes": ["x", 1.5]}, ["#/classes/1"]),
    ({"features": ["a"], "classes": ["x", None]}, ["#/classes/1"]),
    ({"features": ["a"], "classes": ["x" * 4097]}, ["#/classes/0"]),
    ({"features": {"a": 1e31}, "classes": ["x"]}, ["#/features/a"]),
    ({"features": ["a"], "classes": ["x"], "id": "i"}, ["#/id"]),
    ({"text": "a", "classes": ["x"], "id": "i"}, ["#/id"]),
    ({"features": ["a"], "classes": ["x"], "event_id": ""}, ["#/event_id"]),
    ({"features": ["a"], "classes": ["x"], "event_id": "e" * 201}, ["#/event_id"]),
    ({"features": ["a"], "classes": ["x"], "event_id": 5}, ["#/event_id"]),
    ({"features": ["a"], "classes": ["x"], "k": 5}, ["#/k"]),
    ({"events": []}, ["#/events"]),
    ({"events": [{"features": ["a"]}]}, ["#/events/0"]),
    ({"events": [{"features": ["a"], "classes": ["x"]}, {"classes": ["x"]}]}, ["#/events/1"]),
    ({"events": [{"text": "a", "classes": ["x"]}], "classes": ["x"]}, ["#/classes"]),
    ({"events": [{"text": "a", "classes": ["x"]}], "id": "x"}, ["#/id"]),
    ({"events": {}}, ["#/events"]),
    ({"events": [{"features": ["a"], "classes": ["x"]}] * 1001}, ["#/events/1000"]),
]


async def test_refuses_what_makes_no_sense_and_says_where(call):
    before = call.digest()
    for body, pointers in REFUSED:
        response = await call("POST", "/learn", json.dumps(body).encode())
        assert response.status_code == 422, body
        assert_problem(response, 422, *pointers)
        assert call.digest() == before, body


async def test_a_store_that_is_full_refuses_learning_and_lets_rank(call):
    await call.learn(("a", "x"))
    call.store.append_error = StoreFull("no room")
    response = await learn(call, features=["a"], classes=["y"])
    assert "no room" in assert_problem(response, 503)["detail"]
    many = {"events": [{"features": ["a"], "classes": ["y"]}] * 2}
    assert_problem(await call("POST", "/learn", many), 503)
    assert (await call.metrics())['learn_events_total{result="rejected"}'] == 0
    assert int(response.headers["retry-after"]) >= 1
    ranked = (await call("POST", "/rank", {"features": ["a"]})).json()["ranked"]
    assert [each["class"] for each in ranked] == ["x"]
    call.store.append_error = None
    assert (await learn(call, features=["a"], classes=["y"])).status_code == 200


async def test_a_full_queue_asks_to_come_again():
    store = FaultyStore()
    async with calling(store=store, max_queue_events=2) as call:
        event = {"features": ["a"], "classes": ["x"]}
        with store.before_append.shut() as gate:
            first = asyncio.create_task(call("POST", "/learn", {"events": [event, event]}))
            await gate.reached()
            response = await learn(call, **event)
            assert_problem(response, 503)
            assert int(response.headers["retry-after"]) >= 1
        assert (await first).status_code == 200

"""An instance has one label: a second one is a retry, is refused, or replaces the first one."""

import asyncio
import json

import pytest

from manyclass.core.event_batch import EventBatch
from manyclass.service.history.reader import Reader
from tests.service.serving import assert_problem, bearer, calling, post, side_by_side


async def ranked(call, *ids):
    for each in ids or ["q-1"]:
        body = {"text": f"the card {each}", "id": each, "source": "inbox"}
        assert (await call("POST", "/rank", body)).status_code == 200


async def label(call, *classes, **body):
    return await call("POST", "/learn", {"id": "q-1", "classes": classes} | body)


async def events(call, query=""):
    return (await call("GET", f"/events?order=oldest{query}")).json()["events"]


async def test_an_equal_label_is_a_retry_and_another_one_is_refused_by_name():
    async with calling() as call:
        await ranked(call)
        assert (await label(call, "x", "y", reviewer="anna")).json()["accepted"] == 1
        again = (await label(call, "y", "x", "y", reviewer="ben", weight=2)).json()
        assert (again["seq"], again["duplicates"]) == (1, 1)
        problem = assert_problem(await label(call, "x", reviewer="ben"), 409, "#/id")
        [event] = await events(call)
        assert problem["label"] == {
            "key": "label:q-1",
            "seq": 1,
            "reviewer": "anna",
            "classes": ["x", "y"],
            "time": event["time"],
        }
        assert "'anna'" in problem["detail"]
        assert (event["id"], event["source"], event["text"]) == ("q-1", "inbox", "the card q-1")
        assert (await call("GET", "/events/label:q-1")).json() == event


async def test_a_label_that_replaces_another_one_corrects_its_event():
    async with calling() as call:
        await ranked(call)
        await label(call, "x", reviewer="anna")
        await label(call, "y", reviewer="ben", replace=True)
        [event] = await events(call)
        assert (event["seq"], event["classes"], event["reviewer"]) == (1, ["y"], "ben")
        assert event["corrected"]
        assert (await label(call, "y", reviewer="anna")).json()["duplicates"] == 1
        problem = assert_problem(await label(call, "x", reviewer="anna"), 409)
        assert (problem["label"]["reviewer"], problem["label"]["classes"]) == ("ben", ["y"])
        for rebuilt in (False, True):
            assert [each["seq"] for each in await events(call, "&reviewer=ben")] == [1], rebuilt
            assert await events(call, "&reviewer=anna") == []
            assert (await call("POST", "/rebuild")).status_code == 200
        assert (await label(call, "y")).json()["duplicates"] == 1
        assert_problem(await label(call, "x"), 409)
        assert (await call("DELETE", "/events?reviewer=ben")).json()["deleted"] == 1


@pytest.mark.parametrize("rebuilt", [False, True])
async def test_after_a_delete_an_instance_is_labelled_anew(rebuilt):
    async with calling() as call:
        await ranked(call)
        await label(call, "x", reviewer="anna")
        await call("DELETE", "/events?reviewer=anna")
        if rebuilt:
            await call("POST", "/rebuild")
        assert (await label(call, "x", reviewer="ben")).json()["accepted"] == 1
        assert (await label(call, "x", reviewer="cem")).json()["duplicates"] == 1
        problem = assert_problem(await label(call, "y"), 409)
        assert (problem["label"]["key"], problem["label"]["reviewer"]) == ("label2:q-1", "ben")


async def test_labels_that_were_taken_back_often_cost_little(monkeypatch):
    read, find = [], Reader.find

    def noting(self, seq):
        read.append(seq)
        return find(self, seq)

    monkeypatch.setattr(Reader, "find", noting)
    async with calling() as call:
        await ranked(call)
        for number in range(1, 40):
            assert (await label(call, "x", reviewer="anna")).json()["accepted"] == 1
            read.clear()
            problem = assert_problem(await label(call, "y"), 409)
            assert problem["label"]["key"] == f"label{number if number > 1 else ''}:q-1"
            assert len(read) == 1
            undo = {"id": "q-1", "reviewer": "anna"}
            assert (await call("POST", "/review/undo", undo)).status_code == 200
            assert_problem(await call("POST", "/review/undo", undo), 404)


async def test_wrong_classes_alone_are_no_label():
    async with calling() as call:
        await ranked(call)
        for _ in range(2):
            answer = await call("POST", "/learn", {"id": "q-1", "not": ["x"]})
            assert answer.json()["accepted"] == 1
        assert (await label(call, "y")).json()["accepted"] == 1


async def test_an_event_id_of_its_own_is_another_event():
    async with calling() as call:
        await ranked(call)
        await label(call, "x")
        assert (await label(call, "y", event_id="e-1")).json()["accepted"] == 1
        assert [each["event_id"] for each in await events(call)] == ["label:q-1", "e-1"]


async def test_the_event_id_of_a_label_may_be_given_for_its_own_instance_alone():
    async with calling() as call:
        await ranked(call, "q-1", "q-2")
        for wrong in ({"event_id": "label:q-2"}, {"event_id": "label:q-1", "not": ["x"]}):
            classes = ["x"] if "not" not in wrong else []
            body = {"id": "q-1", "classes": classes} | wrong
            if not classes:
                del body["classes"]
            assert_problem(await call("POST", "/learn", body), 422, "#/event_id")
        assert (await label(call, "x", event_id="label:q-1")).json()["accepted"] == 1
        assert (await label(call, "x")).json()["duplicates"] == 1
        assert (await label(call, "x", event_id="label:q-1")).json()["duplicates"] == 1
        assert_problem(await label(call, "y", event_id="label:q-1"), 409, "#/id")
        assert (await label(call, "y", replace=True, event_id="label:q-1")).json()["accepted"] == 1
        exported = {"text": "the card q-2", "classes": ["x"], "event_id": "label:q-2"}
        assert (await call("POST", "/learn", exported)).json()["accepted"] == 1
        answer = await call("POST", "/learn", {"id": "q-2", "classes": ["x"]})
        assert answer.json()["duplicates"] == 1
        found = [(each["event_id"], each["classes"]) for each in await events(call)]
        assert found == [("label:q-1", ["y"]), ("label:q-2", ["x"])]


async def test_a_retry_needs_no_instance():
    async with calling(late_label_seconds=60) as call:
        await ranked(call)
        await label(call, "x")
        call.clock.now += 61
        assert (await label(call, "x")).json()["duplicates"] == 1
        assert_problem(await label(call, "y"), 409)
        assert (await label(call, "y", replace=True)).json()["accepted"] == 1


async def test_a_renamed_class_is_the_same_label():
    async with calling() as call:
        await ranked(call)
        await label(call, "x")
        await call("POST", "/classes/x", {"rename": "z"})
        assert (await label(call, "z")).json()["duplicates"] == 1
        assert (await label(call, "x")).json()["duplicates"] == 1


async def test_labels_at_the_same_time():
    async with calling() as call:
        await ranked(call)
        answers = await asyncio.gather(*(label(call, name, reviewer=name) for name in "xyxy"))
        assert [answer.status_code for answer in answers] == [200, 409, 200, 409]
        assert answers[1].json()["label"]["reviewer"] == "x"
        assert len(await events(call)) == 1


async def test_labels_through_two_processes():
    async with side_by_side() as (one, two):
        await ranked(one)
        assert (await label(one, "x", reviewer="anna")).json()["accepted"] == 1
        answer = await label(two, "y", reviewer="ben")
        assert_problem(answer, 409)
        assert (await label(two, "x")).json()["duplicates"] == 1


async def test_many_labels_and_a_stream():
    async with calling() as call:
        await ranked(call, "q-1", "q-2")
        await label(call, "x", reviewer="anna")
        many = [{"id": "q-2", "classes": ["x"]}, {"id": "q-1", "classes": ["y"]}]
        problem = assert_problem(
            await call("POST", "/learn", {"events": many}), 409, "#/events/1/id"
        )
        assert problem["label"]["reviewer"] == "anna"
        assert len(await events(call)) == 1
        told = await call.stream(*many)
        assert [each["status"] for each in told if each["kind"] == "fault"] == [409]
        assert len(await events(call)) == 2
        both = [{"id": "q-2", "classes": ["y"], "replace": True}, many[0] | {"id": "q-1"}]
        answer = (await call("POST", "/learn", {"events": both})).json()
        assert (answer["accepted"], answer["duplicates"]) == (1, 1)
        assert [each["classes"] for each in await events(call)] == [["x"], ["y"]]


async def test_a_label_that_replaces_another_one_has_the_bounds_of_a_correction():
    async with calling() as call:
        features = [f"f{number}" for number in range(10_000)]
        await call("POST", "/rank", {"features": features, "id": "q-1"})
        assert (await label(call, "x")).status_code == 200
        many = [f"c{number}" for number in range(30)]
        assert_problem(await label(call, *many, replace=True), 422, "#/classes")
        assert (await label(call, *many[:10], replace=True)).json()["accepted"] == 1


@pytest.mark.parametrize(
    "body",
    [
        {"text": "a", "classes": ["x"], "replace": True},
        {"id": "q-1", "not": ["x"], "replace": True},
        {"id": "q-1", "classes": ["x"], "event_id": "e", "replace": True},
    ],
)
async def test_only_the_label_of_an_id_can_be_replaced(body):
    async with calling() as call:
        await ranked(call)
        assert_problem(await call("POST", "/learn", body), 422, "#/replace")


async def test_without_a_history_a_label_is_known_by_its_classes():
    async with calling(history=False) as call:
        await ranked(call)
        await label(call, "x", reviewer="anna")
        assert (await label(call, "x")).json()["duplicates"] == 1
        problem = assert_problem(await label(call, "y", replace=True), 409)
        assert problem["label"] == {
            "key": "label:q-1",
            "seq": 1,
            "reviewer": None,
            "classes": None,
            "time": None,
        }


async def test_the_reviewer_is_the_name_of_the_key():
    keys = {"learn_keys": ("anna:a-key", "l-key"), "admin_keys": ("boss:b-key",)}
    async with calling(native=True, **keys) as call:
        anna, unnamed, boss = (bearer(f"{each}-key") for each in "alb")
        body = {"text": "a", "classes": ["x"], "reviewer": "ben"}
        data = json.dumps(body).encode()
        own = {"text": "a", "classes": ["x"]}
        named = own | {"reviewer": "anna"}
        await call("POST", "/learn", own, headers=anna)
        for headers in (unnamed, boss):
            await call("POST", "/learn", body, headers=headers)
        await call("POST", "/learn", {"events": [own, named]}, headers=anna)
        await call("POST", "/learn", own, headers=boss)
        await call.stream(own, **anna)
        await call("PUT", "/events/seq:2", {"classes": ["y"]}, headers=anna)
        listed = (await call("GET", "/events?order=oldest", headers=boss)).json()["events"]
        names = [each["reviewer"] for each in listed]
        assert names == ["anna", "anna", "ben", "anna", "anna", "boss", "anna"]
        for method, path, wrong, place in (
            ("POST", "/learn", body, "#/reviewer"),
            ("POST", "/learn", {"events": [named, body]}, "#/events/1/reviewer"),
            ("PUT", "/events/seq:2", {"classes": ["z"], "reviewer": "ben"}, "#/reviewer"),
            ("POST", "/review/leases", {"renew": ["q"], "reviewer": "ben"}, "#/reviewer"),
        ):
            refused = assert_problem(await call(method, path, wrong, headers=anna), 403, place)
            assert "that of 'anna', and `reviewer` names 'ben'" in refused["detail"]
        [fault, summary] = await call.stream(body, own, **anna)
        assert (fault["line"], fault["errors"][0]["pointer"]) == (1, "#/reviewer")
        assert (summary["accepted"], summary["rejected"]) == (1, 1)
        plain = call.app.native.learning
        requests = [post("/learn", data, f"authorization: Bearer {key}-key") for key in "al"]
        taken = [plain._events.take(each, EventBatch()) for each in requests]
        assert taken == [False, True]

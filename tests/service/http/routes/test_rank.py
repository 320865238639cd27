import asyncio
import gzip
import json
from math import log, prod

import pytest

from manyclass.service.http import time_slice
from manyclass.service.http.routes import rank
from tests.service.faulty import PATIENCE, FaultyStore, many_turns
from tests.service.serving import Conversation, assert_problem, calling, side_by_side

JSON = {"content-type": "application/json"}

TAUGHT = [("goal ice", "hockey"), ("ice cold", "hockey"), ("bat ball", "baseball")]


async def test_ranks_one_best_first(call):
    await call.learn(*TAUGHT)
    answer = (await call("POST", "/rank", {"features": {"ice": 2, "bat": 0.5}})).json()
    assert answer["seq"] == 3
    assert [each["class"] for each in answer["ranked"]] == ["hockey", "baseball"]
    first, second = (each["score"] for each in answer["ranked"])
    assert first > second > 0
    assert set(answer) == {"id", "seq", "ranked", "confidence"}
    assert set(answer["ranked"][0]) == {"class", "score"}


async def test_the_same_instance_in_every_form_ranks_the_same(call):
    await call.learn(*TAUGHT, ("5", "five"))

    async def ranked(instance):
        one = (await call("POST", "/rank", instance)).json()["ranked"]
        many = (await call("POST", "/rank", {"instances": [instance]})).json()
        assert many["results"][0]["ranked"] == one
        assert one
        return one

    assert await ranked({"features": {"ice": 2, "bat": 1}}) == await ranked(
        {"features": ["ice", "bat", "ice"]}
    )
    assert await ranked({"text": "Ice!"}) == await ranked({"features": ["ice", "~<ice", "~ice>"]})
    assert await ranked({"features": [5]}) == await ranked({"features": ["5"]})
    assert await ranked({"features": [5.0]}) == await ranked({"features": {"5": 1}})


async def test_k_and_threshold(call):
    await call.learn(*((f"a f{n}", f"class {n}") for n in range(9)))

    async def classes(**more):
        answer = await call("POST", "/rank", {"features": {"a": 1, "f3": 5}} | more)
        return answer.json()["ranked"]

    everything = await classes(k=1000)
    assert len(everything) == 9
    assert await classes() == everything[:5]
    assert await classes(k=2) == everything[:2]
    assert await classes(k=2.0) == everything[:2]
    assert await classes(threshold=everything[1]["score"]) == everything[:1]
    assert await classes(threshold=1e9) == []


async def test_given_classes_alone_are_ranked(call):
    await call.learn(*((f"a f{n}", f"class {n}") for n in range(9)))
    form = {"features": {"a": 1, "f3": 5}}

    async def answer(**more):
        return (await call("POST", "/rank", form | more)).json()

    everything = (await answer(k=1000))["ranked"]
    some = ["class 8", "class 3", "class 5"]
    among = await answer(among=some)
    assert among["ranked"] == [each for each in everything if each["class"] in some]
    assert (among["confidence"], "warnings" in among) == (None, False)
    assert (await answer(among=some * 2, k=1))["ranked"] == among["ranked"][:1]
    assert (await answer(among=None, k=1000))["ranked"] == everything
    lowest = among["ranked"][-1]["score"]
    assert (await answer(among=some, threshold=lowest))["ranked"] == among["ranked"][:-1]
    [explained] = (await answer(among=["class 5"], explain=True))["ranked"]
    assert sum(vote["score"] for vote in explained["features"]) == pytest.approx(explained["score"])
    many = {"instances": [form, {"text": "nothing known"}], "among": some}
    results = (await call("POST", "/rank", many)).json()["results"]
    assert [each["ranked"] for each in results] == [among["ranked"], []]


async def test_decoded_classes_come_by_their_expected_loss(call):
    await call("POST", "/classes", {"parents": {f"class {n}": f"group {n % 3}" for n in range(9)}})
    await call.learn(*((f"a f{n}", f"class {n}") for n in range(9)))
    form = {"features": {"a": 1, "f3": 5}}

    async def answer(**more):
        return (await call("POST", "/rank", form | more)).json()

    plain = (await answer(k=50))["ranked"]
    decoded = await answer(decode="taxo", k=50)
    losses = [each.pop("expected_loss") for each in decoded["ranked"]]
    assert losses == sorted(losses)
    assert 0 < losses[0] < losses[-1] <= 2
    assert sorted(map(str, decoded["ranked"])) == sorted(map(str, plain))
    groups = [int(each["class"][-1]) % 3 for each in decoded["ranked"]]
    assert groups[:3] == [0, 0, 0]  # of class 3, as their scores are alike
    assert decoded["confidence"] is None
    assert (await answer(decode=None, k=50))["ranked"] == plain
    assert len((await answer(decode="taxo"))["ranked"]) == 5
    some = ["class 8", "class 3", "class 5"]
    among = (await answer(decode="taxo", among=some))["ranked"]
    assert sorted(each["class"] for each in among) == sorted(some)
    least = plain[0]["score"]
    assert (await answer(decode="taxo", threshold=least))["ranked"] == []
    [explained] = (await answer(decode="taxo", explain=True, k=1))["ranked"]
    assert [*explained] == ["class", "score", "expected_loss", "features"]
    assert sum(vote["score"] for vote in explained["features"]) == pytest.approx(explained["score"])
    many = {"instances": [form, {"text": "nothing known"}], "decode": "taxo", "k": 50}
    results = (await call("POST", "/rank", many)).json()["results"]
    assert [each["expected_loss"] for each in results[0]["ranked"]] == losses
    assert results[1]["ranked"] == []
    unsure = await answer(decode="taxo", min_confidence=0.5)
    assert (unsure["ranked"], unsure["abstained"]) == ([], True)


async def test_decoding_has_the_confidence_of_the_highest_score(call):
    await call("PUT", "/classes/x", {"parent": "z"})
    await call.learn(*(("a", "x"), ("b", "y")) * 60)
    form = {"features": ["a", "b"]}
    plain = (await call("POST", "/rank", form)).json()
    decoded = (await call("POST", "/rank", form | {"decode": "taxo"})).json()
    assert decoded["confidence"] == plain["confidence"] is not None


async def test_names_of_no_class_have_no_place_and_a_warning(call):
    await call.learn(*TAUGHT, ("one", "1"))

    async def answer(body):
        return (await call("POST", "/rank", body)).json()

    one = await answer({"text": "ice", "among": ["hockey", "Hockey", "golf"]})
    assert [each["class"] for each in one["ranked"]] == ["hockey"]
    warning = {
        "detail": "No class is named 'Hockey', nor 1 more of these names.",
        "pointer": "#/among",
    }
    assert one["warnings"] == [warning]
    instances = [{"text": "ice"}, {"text": ""}]
    many = await answer({"instances": instances, "among": [1, 2.0, "x" * 999]})
    assert [each["pointer"] for each in many["warnings"]] == ["#/instances/1/text", "#/among"]
    assert "named '2', nor 1 more" in many["warnings"][1]["detail"]
    alone = await answer({"text": "", "among": ["x" * 999]})
    assert [each["pointer"] for each in alone["warnings"]] == ["#/text", "#/among"]
    assert len(alone["warnings"][1]["detail"]) < 150


async def test_explains(call):
    await call.learn(*TAUGHT)
    body = {"features": {"ice": 2, "bat": 0.5, "other": 1}, "explain": True}
    hockey, baseball = (await call("POST", "/rank", body)).json()["ranked"]
    [vote] = hockey["features"]
    assert vote["feature"] == "ice"
    assert vote["score"] == pytest.approx(hockey["score"])
    assert [each["feature"] for each in baseball["features"]] == ["bat"]
    many = {"instances": [{"features": ["ice"]}], "explain": True}
    [result] = (await call("POST", "/rank", many)).json()["results"]
    assert result["ranked"][0]["features"][0]["feature"] == "ice"


async def test_explains_by_all_features_that_voted(call):
    features = [f"f{n}" for n in range(30)]
    await call.learn((" ".join(features), "x"))
    [x] = (await call("POST", "/rank", {"features": features, "explain": True})).json()["ranked"]
    assert {vote["feature"] for vote in x["features"]} == {*features}
    assert sum(vote["score"] for vote in x["features"]) == pytest.approx(x["score"])


async def test_explains_a_probability_by_the_path_to_it():
    lessons = [(f"f{n % 7} g{n % 3} always", f"c{n % 7}") for n in range(60)]
    body = {"features": {"f3": 1, "g1": 2, "unknown": 1}, "k": 7, "explain": True}
    async with calling(learner="oplt(arity=2,max_leaves=2)") as call:
        await call.learn(*lessons)
        ranked = (await call("POST", "/rank", body)).json()["ranked"]
        assert len(ranked) == 7
        for each in ranked:
            path = each["path"]
            assert prod(node["probability"] for node in path) == pytest.approx(each["score"])
            classes = [node["classes"] for node in path]
            assert len(classes) > 1
            assert classes == sorted(classes, reverse=True)
            assert classes[-1] == 1
            for node in path:
                if node["probability"] == 1:  # an only child has no classifier
                    assert (node["bias"], node["features"]) == (0, [])
                    continue
                moved = node["bias"] + sum(vote["score"] for vote in node["features"])
                odds = node["probability"] / (1 - node["probability"])
                assert moved == pytest.approx(log(odds), abs=1e-5)
                assert {vote["feature"] for vote in node["features"]} <= {"f3", "g1"}
        plain = (await call("POST", "/rank", body | {"explain": False})).json()["ranked"]
        assert all(each.keys() == {"class", "score"} for each in plain)
    async with calling(learner="svm") as call:
        await call.learn(*lessons)
        ranked = (await call("POST", "/rank", body)).json()["ranked"]
        assert ranked
        assert all(each.keys() == {"class", "score", "features"} for each in ranked)


async def test_others_have_their_turns_while_many_are_ranked(call, monkeypatch):
    monkeypatch.setattr(time_slice, "SLICE_SECONDS", 0)
    monkeypatch.setattr(rank, "BLOCK_SECONDS", 0)
    many = Conversation(call.app, "/rank", JSON)
    many.say(json.dumps({"instances": [{"features": ["a"]}] * 500}).encode(), more=False)
    await asyncio.sleep(0)  # it is at work
    one = Conversation(call.app, "/rank", JSON)
    one.say(b'{"features": ["a"]}', more=False)
    assert (await one.end())[0] == 200
    assert not many.task.done()
    assert (await many.end())[0] == 200


async def test_seq_is_of_an_event_that_every_ranking_has_seen(call, monkeypatch):
    class Busy(time_slice.TimeSlice):
        is_over = True

        async def renew(self):
            await call.learn(("a", "x"))

    monkeypatch.setattr(rank, "TimeSlice", Busy)
    monkeypatch.setattr(rank, "BLOCK_SECONDS", 0)
    body = {"instances": [{"features": ["a"]}] * 2}
    answer = (await call("POST", "/rank", body)).json()
    first, second = ([each["class"] for each in each["ranked"]] for each in answer["results"])
    assert (answer["seq"], first, second) == (0, ["x"], ["x"])
    assert call.app.engine.model.seq == 2


async def test_a_text_with_many_features_is_cut():
    async with calling(max_features_per_instance=3) as call:
        await call.learn(("d", "late"))
        answer = await call("POST", "/rank", {"text": "a b c d"})
        assert (answer.status_code, answer.json()["ranked"]) == (200, [])


async def test_ids_are_echoed_or_made(call):
    given = {"features": ["a"], "id": "mine / ünïque"}
    assert (await call("POST", "/rank", given)).json()["id"] == "mine / ünïque"
    instances = [given, {"features": ["a"]}, {"text": "a"}]
    results = (await call("POST", "/rank", {"instances": instances})).json()["results"]
    ids = [each["id"] for each in results]
    assert ids[0] == "mine / ünïque"
    assert len(set(ids)) == 3


async def test_many_are_answered_in_order():
    async with calling(max_batch=100) as call:
        await call.learn(*((f"f{n}", f"class {n}") for n in range(100)))
        instances = [{"features": [f"f{n}"]} for n in range(100)]
        answer = (await call("POST", "/rank", {"instances": instances, "k": 1})).json()
        assert answer["seq"] == 100
        best = [each["ranked"][0]["class"] for each in answer["results"]]
        assert best == [f"class {n}" for n in range(100)]


async def test_ranking_changes_nothing(call):
    await call.learn(*TAUGHT)
    before = call.digest()
    for body in ({"features": ["ice", "new"], "explain": True}, {"text": "ice and goal"}):
        await call("POST", "/rank", body)
    assert call.digest() == before


REFUSED = [  # bodies, and the places of their faults
    ({}, ["#"]),
    ({"features": ["a"], "text": "a"}, ["#/text"]),
    ({"features": {"a": 1}, "k": 0}, ["#/k"]),
    ({"features": {"a": 1}, "k": 1001}, ["#/k"]),
    ({"features": {"a": 1}, "k": 1.5}, ["#/k"]),
    ({"features": {"a": 1}, "k": True}, ["#/k"]),
    ({"text": "a", "k": 51, "explain": True}, ["#/k"]),
    ({"instances": [{"text": "a"}], "k": 51, "explain": True}, ["#/k"]),
    ({"text": "a", "k": 51, "decode": "taxo"}, ["#/k"]),
    ({"text": "a", "decode": "taxo"}, ["#/decode"]),
    ({"text": "a", "decode": "loss"}, ["#/decode"]),
    ({"text": "a", "decode": True}, ["#/decode"]),
    ({"instances": [{"text": "a"}], "decode": "taxo"}, ["#/decode"]),
    ({"instances": [{"text": "a", "decode": "taxo"}]}, ["#/instances/0/decode"]),
    ({"instances": [{"text": "a"}] * 21, "explain": True}, ["#/instances/20"]),
    ({"instances": [{"text": "a"}] * 21, "k": 1000}, ["#/instances/20"]),
    ({"instances": [{"text": "a"}] * 141, "k": 142.0}, ["#/instances/140"]),
    ({"instances": [{"text": "a"}] * 1001}, ["#/instances/1000"]),
    ({"features": {"a": "1"}}, ["#/features/a"]),
    ({"features": {"a": 1, "b/c": None, "d": 2}}, ["#/features/b~1c"]),
    ({"features": {"text": [1]}}, ["#/features/text"]),
    ({"features": {"x" * 101: "1"}}, ["#/features"]),
    ({"features": {"": 1}}, ["#/features/"]),
    ({"features": {"a/b": 1e31}}, ["#/features/a~1b"]),
    ({"features": ["a", 1.5]}, ["#/features/1"]),
    ({"features": ["a", ""]}, ["#/features/1"]),
    ({"features": ["a", None]}, ["#/features/1"]),
    ({"features": ["x" * 4097]}, ["#/features/0"]),
    ({"features": "a"}, ["#/features"]),
    ({"features": dict.fromkeys(map(str, range(21)), 1)}, ["#/features"]),
    ({"features": ["a"] * 21}, ["#/features"]),
    ({"text": 5}, ["#/text"]),
    ({"text": "a", "id": ""}, ["#/id"]),
    ({"text": "a", "id": "x" * 201}, ["#/id"]),
    ({"text": "a", "explain": 1}, ["#/explain"]),
    ({"text": "a", "threshold": "0"}, ["#/threshold"]),
    ({"text": "a", "unknown": 1}, ["#/unknown"]),
    ({"text": "a", "among": []}, ["#/among"]),
    ({"text": "a", "among": "hockey"}, ["#/among"]),
    ({"text": "a", "among": {"hockey": 1}}, ["#/among"]),
    ({"text": "a", "among": ["a", None]}, ["#/among/1"]),
    ({"text": "a", "among": ["a", ""]}, ["#/among/1"]),
    ({"text": "a", "among": ["a", 1.5]}, ["#/among/1"]),
    ({"text": "a", "among": ["x" * 4097]}, ["#/among/0"]),
    ({"text": "a", "among": ["a"] * 1001}, ["#/among"]),
    ({"text": "a", "among": ["a"], "min_confidence": 0.5}, ["#/min_confidence"]),
    ({"text": "a", "among": ["a"], "min_confidence": 0}, ["#/min_confidence"]),
    ({"text": "a", "decode": "taxo", "min_probability": 0.0}, ["#/min_probability"]),
    ({"instances": [{"text": "a", "among": ["a"]}]}, ["#/instances/0/among"]),
    (
        {"instances": [{"text": "a"}] * 21, "among": [*map(str, range(1000))]},
        ["#/instances/20"],
    ),
    ({"instances": []}, ["#/instances"]),
    ({"instances": [{"text": "a"}, {}]}, ["#/instances/1"]),
    ({"instances": [{"text": "a"}, {"text": "a", "k": 1}]}, ["#/instances/1/k"]),
    ({"instances": [{"text": "a"}, {"features": ["a", ""]}]}, ["#/instances/1/features/1"]),
    ({"instances": [{"features": {"a": "x"}}]}, ["#/instances/0/features/a"]),
    ({"instances": [{"text": "a"}], "text": "a"}, ["#/text"]),
    ({"instances": [{"text": "a"}], "features": []}, ["#/features"]),
    ({"instances": [{"text": "a"}], "id": "a"}, ["#/id"]),
    ([], ["#"]),
    ("text", ["#"]),
    (5, ["#"]),
]


async def test_refuses_what_makes_no_sense_and_says_where():
    async with calling(max_features_per_instance=20) as call:
        for body, pointers in REFUSED:
            response = await call("POST", "/rank", json.dumps(body).encode())
            assert response.status_code == 422, body
            assert_problem(response, 422, *pointers)


async def test_takes_as_much_as_it_says(call):
    for count, more in (
        (20, {"k": 1000}),
        (140, {"k": 142}),
        (1000, {"k": 20}),
        (20, {"k": 50, "explain": True}),
    ):
        body = {"instances": [{"text": "a"}] * count} | more
        assert (await call("POST", "/rank", body)).status_code == 200


async def test_reads_gzip_and_refuses_other_types(call):
    body = json.dumps({"text": "a"}).encode()
    packed = gzip.compress(body)
    zipped = {"content-encoding": "gzip"}
    assert (await call("POST", "/rank", packed, headers=zipped)).status_code == 200
    assert_problem(await call("POST", "/rank", packed[:-3], headers=zipped), 400)
    assert_problem(await call("POST", "/rank", body, headers={"content-encoding": "br"}), 415)
    for given in (
        "text/plain",
        "application/x-ndjson",
        "application/x-www-form-urlencoded",
        "",
    ):
        response = await call("POST", "/rank", body, headers={"content-type": given})
        assert_problem(response, 415)


# --- no older than an event -----------------------------------------------------------------------

FORMS = [{"features": ["a"]}, {"instances": [{"features": ["a"]}] * 2}]


@pytest.mark.parametrize("form", FORMS)
async def test_waits_for_the_event_it_has_to_have_seen(form):
    store = FaultyStore()
    async with calling(store=store, rank_wait_seconds=PATIENCE) as call:
        with store.before_append.shut() as gate:
            learning = asyncio.create_task(call.learn(("a", "x")))
            await gate.reached()
            ranking = Conversation(call.app, "/rank", JSON)
            ranking.say(json.dumps(form | {"min_seq": 1}).encode(), more=False)
            await many_turns()
            assert not ranking.task.done()
            assert (await call("POST", "/rank", form | {"min_seq": 0})).json()["seq"] == 0
        await learning
        status, _, body = await ranking.end()
        answer = json.loads(body)
        assert (status, answer["seq"]) == (200, 1)
        [first, *_] = answer.get("results", [answer])
        assert [each["class"] for each in first["ranked"]] == ["x"]


@pytest.mark.parametrize("form", FORMS)
async def test_an_event_that_does_not_come_is_waited_for_only_so_long(form):
    async with calling(rank_wait_seconds=0.01) as call:
        await call.learn(("a", "x"))
        for seen in (1, 1.0):
            assert (await call("POST", "/rank", form | {"min_seq": seen})).status_code == 200
        for unseen in (2, 2.0, 2**63 - 1):
            response = await call("POST", "/rank", form | {"min_seq": unseen})
            detail = assert_problem(response, 503)["detail"]
            assert (f"Event {int(unseen)} has not" in detail, "is 1." in detail) == (True, True)
            assert int(response.headers["retry-after"]) >= 1


@pytest.mark.parametrize("seconds", [0, 60])
async def test_an_event_already_learned_is_not_waited_for(seconds):
    async with calling(rank_wait_seconds=seconds) as call:
        await call.learn(("a", "x"))
        for seen in (0, 1):
            answer = await call("POST", "/rank", {"features": ["a"], "min_seq": seen})
            assert answer.status_code == 200


@pytest.mark.parametrize("wrong", [-1, -1.0, 0.5, 1.5, 2**63, 1e30, "1", True, [1]])
@pytest.mark.parametrize("form", FORMS)
async def test_the_number_of_an_event_is_one(form, wrong):
    async with calling(rank_wait_seconds=60) as call:
        response = await call("POST", "/rank", form | {"min_seq": wrong})
        assert_problem(response, 422, "#/min_seq")


async def test_a_request_that_makes_no_sense_is_not_kept_waiting():
    async with calling(rank_wait_seconds=60) as call:
        bad = {"features": [""], "min_seq": 5}
        assert_problem(await call("POST", "/rank", bad), 422, "#/features/0")
        many = {"instances": [{"features": ["a"]}, {"features": [""]}], "min_seq": 5}
        assert_problem(await call("POST", "/rank", many), 422, "#/instances/1/features/0")
        each = {"instances": [{"features": ["a"], "min_seq": 0}]}
        assert_problem(await call("POST", "/rank", each), 422, "#/instances/0/min_seq")


async def test_any_process_ranks_with_what_another_was_taught():
    async with side_by_side(rank_wait_seconds=PATIENCE) as (one, two):
        for number in range(20):
            seq = (await one.learn((f"f{number}", "x")))["seq"]
            body = {"features": [f"f{number}"], "min_seq": seq}
            answer = (await two("POST", "/rank", body)).json()
            assert answer["seq"] >= seq
            assert [each["class"] for each in answer["ranked"]] == ["x"]

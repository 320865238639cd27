"""The list of instances to label, and the accuracy of rankings as they were served."""

import asyncio
import json
from urllib.parse import quote

import pytest

from manyclass.core.instance import Instance
from manyclass.service.store.errors import StoreUnavailable
from tests.service.serving import KEYS, assert_problem, bearer, calling, post, serving, side_by_side

MANY = 200  # events, enough for a confidence


async def taught(call):
    """Teach two classes that are easy to tell apart, and one that is not."""
    pairs = [("a", "x"), ("b", "y"), ("a b", "x"), ("a b", "z"), ("a b", "y")]
    await call.learn(*(pairs * (MANY // len(pairs))))


async def review(call, limit=20):
    answer = await call("GET", f"/review?limit={limit}")
    assert answer.status_code == 200, answer.text
    return answer.json()["instances"]


async def ids(call):
    return [each["id"] for each in await review(call)]


async def served(call):
    return (await call("GET", "/stats")).json()["served"]


async def rank_alone(call, **body):
    return (await call("POST", "/rank", body)).json()


async def rank_in_batch(call, features, **options):
    own = {name: options.pop(name) for name in ("id", "source") if name in options}
    instance = {"features": features} | own
    [result] = (await call("POST", "/rank", {"instances": [instance]} | options)).json()["results"]
    return result


async def rank_plainly(call, **body):
    request = post("/rank", json.dumps(body, ensure_ascii=False).encode())
    answer = call.app.native.rankings.answer(request, [])
    return json.loads(answer.partition(b"\r\n\r\n")[2])


WAYS = {"alone": rank_alone, "in a batch": rank_in_batch, "plainly": rank_plainly}


@pytest.mark.parametrize("rank", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(
    "options", [{}, {"k": 1}, {"k": 7}, {"threshold": 0.5}, {"threshold": 100.0}]
)
async def test_shows_each_ranking_as_it_is_now(rank, options):
    async with calling(native=True) as call:
        await taught(call)
        await call.learn(*((f"a c{each}", f"class {each}") for each in range(6)))
        await rank(call, features=["a", "b"], id="one", **options)
        call.clock.now += 4
        await call.learn(*(("a b", "class 5") for _ in range(200)))
        [shown] = await review(call)
        now = call.app.engine.model.answer(Instance(["a", "b"]), 5, probabilities=True)
        assert now.ranked[0][0] == "class 5"
        assert shown == {
            "id": "one",
            "ranked": [name for name, _ in now.ranked],
            "probabilities": now.probabilities,
            "confidence": round(now.confidence, 6),
            "abstained": False,
            "age": 4,
            "source": None,
            "batch": None,
            "text": None,
            "text_cut": False,
            "event": None,
            "classes": [],
            "second": False,
            "features": {"a": 1.0, "b": 1.0},
            "omitted_features": 0,
            "dimension": None,
        }
        assert shown["probabilities"][0] == pytest.approx(shown["confidence"], abs=1e-6)


@pytest.mark.parametrize("rank", WAYS.values(), ids=WAYS)
async def test_the_list_of_a_source_has_its_instances_alone(rank):
    async with calling(native=True) as call:
        await taught(call)
        for name, source in {
            "one": "inbox",
            "two": "ä/ 日本",
            "three": None,
            "four": "inbox",
        }.items():
            await rank(call, features=["a"], id=name, **({"source": source} if source else {}))
        assert {each["id"]: each["source"] for each in await review(call)} == {
            "one": "inbox",
            "two": "ä/ 日本",
            "three": None,
            "four": "inbox",
        }
        for source, expected in {"inbox": ["one", "four"], "ä/ 日本": ["two"], "in": []}.items():
            for learner in ({}, {"learner": "svm"}):
                answer = await call("GET", "/review", params={"source": source} | learner)
                assert [each["id"] for each in answer.json()["instances"]] == expected
        limited = await call("GET", "/review?source=inbox&limit=1")
        assert [each["id"] for each in limited.json()["instances"]] == ["one"]


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("options", [{}, {"explain": True}])
async def test_an_instance_sent_as_a_text_shows_its_text(call, many, options):
    await taught(call)
    texts = {"short": "a b\n", "long": "a " + 3000 * "☃ "}
    instances = [{"id": name, "text": text, "source": "s"} for name, text in texts.items()]
    for body in [{"instances": instances}] if many else instances:
        assert (await call("POST", "/rank", body | options)).status_code == 200
    shown = {each["id"]: each for each in await review(call)}
    assert (shown["short"]["text"], shown["short"]["text_cut"]) == ("a b\n", False)
    assert (shown["long"]["text"], shown["long"]["text_cut"]) == ("a " + 1023 * "☃ ", True)
    assert {each["source"] for each in shown.values()} == {"s"}
    assert shown["short"]["features"] == {"a": 1.0, "a b": 1.0, "b": 1.0}


async def test_a_source_of_too_many_bytes_is_refused(call):
    long = 2049 * "é"
    problem = assert_problem(await call("POST", "/rank", {"text": "a", "source": long}), 422)
    assert problem["errors"][0]["pointer"] == "#/source"
    body = {"instances": [{"text": "a"}, {"text": "a", "source": long}]}
    problem = assert_problem(await call("POST", "/rank", body), 422)
    assert problem["errors"][0]["pointer"] == "#/instances/1/source"
    assert await review(call) == []


@pytest.mark.parametrize("rank", WAYS.values(), ids=WAYS)
async def test_an_abstention_shows_the_classes_that_its_answer_lacks(rank):
    async with calling(native=True) as call:
        await taught(call)
        answer = await rank(call, features=["a", "b"], min_confidence=1)
        assert (answer["abstained"], answer["ranked"]) == (True, [])
        [shown] = await review(call)
        assert shown["abstained"]
        assert set(shown["ranked"]) == {"x", "y", "z"}
        await call("POST", "/learn", {"id": answer["id"], "classes": [shown["ranked"][0]]})
        told = await served(call)
        assert (told["abstained"], told["first"], told["r1"]) == (1, 0, None)


async def test_other_rankings_are_shown_as_plain_ones():
    async with calling() as call:
        await taught(call)
        await call("POST", "/classes", {"parents": {"x": "top", "y": "top", "z": "top"}})
        decoded = await rank_alone(call, features=["a", "b"], decode="taxo", k=2)
        among = await rank_alone(call, features=["a"], among=["z", "x"])
        shown = {each["id"]: each for each in await review(call)}
        assert list(shown) == [among["id"], decoded["id"]]  # served without a confidence: first
        for answer, features in ((among, ["a"]), (decoded, ["a", "b"])):
            plain = await rank_alone(call, features=features)
            names = [each["class"] for each in plain["ranked"]]
            assert shown[answer["id"]]["ranked"] == names
            assert shown[answer["id"]]["confidence"] == round(plain["confidence"], 6)


async def test_an_instance_given_before_anything_was_taught_has_classes_later(call):
    body = {"instances": [{"features": ["a"], "id": "one"}]}
    assert (await call("POST", "/review", body)).status_code == 200
    [shown] = await review(call)
    assert (shown["ranked"], shown["probabilities"]) == ([], [])
    await call.learn(("a", "x"), ("b", "y"))
    [shown] = await review(call)
    assert (shown["ranked"], shown["probabilities"]) == (["x"], [None])


async def test_the_order_is_that_of_the_confidence_as_served(call):
    await taught(call)
    unsure = await rank_alone(call, features=["a", "b"])
    sure = await rank_alone(call, features=["b"])
    assert unsure["confidence"] < sure["confidence"]
    await call.learn(*(("b", each) for each in "xyz" * 40), *(("a b", "x") for _ in range(120)))
    first, second = await review(call)
    assert first["confidence"] > second["confidence"]
    assert [first["id"], second["id"]] == [unsure["id"], sure["id"]]


async def test_the_least_certain_come_first(call):
    await taught(call)
    sure = await rank_alone(call, features=["b"])
    unsure = await rank_alone(call, features=["a", "b"])
    unknown = await rank_alone(call, features=["c"])
    assert unsure["confidence"] < sure["confidence"]
    order = [each["id"] for each in (unknown, unsure, sure)]
    assert await ids(call) == order
    assert [each["id"] for each in await review(call, 2)] == order[:2]


async def test_a_label_takes_an_instance_off_the_list_and_a_refused_one_does_not(call):
    one, two, three = [await call.ranked_id("a") for _ in range(3)]
    await call("POST", "/learn", {"id": one, "classes": "x"})
    await call("POST", "/learn", {"id": one, "not": ["x"]})
    assert await ids(call) == [one, two, three]
    await call("POST", "/learn", {"id": two, "classes": ["x"]})
    assert await ids(call) == [one, three]
    await call.stream({"id": three, "classes": ["x"]})
    assert await ids(call) == [one]
    await call("POST", "/learn", {"events": [{"id": one, "classes": ["x"]}]})
    assert await ids(call) == []


async def test_what_cannot_be_labelled_any_more_is_not_listed():
    async with calling(late_label_seconds=60) as call:
        await call.ranked_id("a")
        await call.ranked_id("")
        call.clock.now += 60
        assert await ids(call) == []


async def test_very_many_features_are_cut(call):
    names = [f"f{each}" for each in range(700)]
    await call.ranked_id(" ".join(names))
    [shown] = await review(call)
    assert (list(shown["features"]), shown["omitted_features"]) == (names[:500], 200)


async def test_a_text_shows_as_its_words(call):
    await call("POST", "/rank", {"text": "a puck over"})
    [shown] = await review(call)
    expected = ["a", "puck", "over"]
    assert [name for name in shown["features"] if name.isalpha()] == expected


async def test_needs_a_key_that_may_learn():
    async with calling(**KEYS) as call:
        assert_problem(await call("GET", "/review", headers=bearer("r")), 403)
        assert (await call("GET", "/review", headers=bearer("l"))).status_code == 200


# --- by another learner -------------------------------------------------------------------------


async def test_another_learner_orders_by_its_own_confidence_now():
    shadow = "svm(replay=4)"
    async with calling(shadows=(shadow,), learner="pa") as call:
        await taught(call)
        made = [await rank_alone(call, features=each) for each in (["b"], ["c"], ["a", "b"], ["a"])]
        await call.learn(*(("b", each) for each in "xyz" * 20))  # now `b` is uncertain
        by_id = {each["id"]: each for each in await review(call)}
        other = call.app.engine.model.enrolled[1]
        expected = []
        for answer in made:
            told = by_id[answer["id"]]
            ranked, confidence, _ = other.answer(Instance(told["features"]), 5, None)
            assert (confidence is None) == (not ranked)
            told["ranked"] = [name for name, _ in ranked]
            told["confidence"] = None if confidence is None else round(confidence, 6)
            told["probabilities"] = other.calibration.probabilities([each for _, each in ranked])
            expected.append(told)
        expected.sort(key=lambda each: -1 if each["confidence"] is None else each["confidence"])
        assert [each["id"] for each in expected] != list(by_id)
        query = f"/review?learner={quote(shadow)}"
        assert (await call("GET", query)).json()["instances"] == expected
        assert (await call("GET", f"{query}&limit=2")).json()["instances"] == expected[:2]


async def test_each_class_has_its_present_probability(call):
    await call.learn(*(("a" if n % 4 else "a b", "xy"[n % 4 == 0]) for n in range(300)))
    answer = await rank_alone(call, features=["a"])
    [shown] = await review(call)
    model = call.app.engine.model
    found = model.answer(Instance(["a"]), 5, probabilities=True)
    assert shown["ranked"] == [name for name, _ in found.ranked] == ["x", "y"]
    assert shown["probabilities"] == found.probabilities
    assert shown["probabilities"][0] == answer["confidence"]
    await call.learn(*(("a", "z") for _ in range(300)))
    [later] = await review(call)
    now = model.answer(Instance(["a"]), 5, probabilities=True)
    assert now.ranked[0][0] == "z"
    assert later["ranked"] == [name for name, _ in now.ranked]
    assert later["probabilities"] == now.probabilities != shown["probabilities"]


async def test_equally_certain_instances_come_oldest_first(call):
    made = [await call.ranked_id("a") for _ in range(3)]
    call.clock.now += 1
    made.append(await call.ranked_id("b"))
    label = call.app.engine.model.answering.label
    answer = await call("GET", f"/review?learner={quote(label)}&limit=4")
    assert [each["id"] for each in answer.json()["instances"]] == made


async def test_an_abstention_stays_one_for_another_learner():
    async with calling(shadows=("pa",)) as call:
        await taught(call)
        await rank_alone(call, features=["a", "b"], min_confidence=1)
        [shown] = (await call("GET", "/review?learner=pa")).json()["instances"]
        assert shown["abstained"]
        assert set(shown["ranked"]) == {"x", "y", "z"}


async def test_a_learner_by_its_options_in_any_order_and_an_unknown_one():
    async with calling(shadows=("pa(replay=2,C=0.5)",)) as call:
        assert (await call("GET", "/review?learner=pa(C=0.5,replay=2)")).status_code == 200
        for name in ("ff", "pa(", "pa"):
            problem = assert_problem(await call("GET", f"/review?learner={name}"), 404)
            assert problem["detail"].startswith(f"no learner is named {name!r}; the learners are ")
        assert_problem(await call("GET", "/review?learner="), 422)


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "most=5"])
async def test_refuses_other_parameters(call, query):
    assert_problem(await call("GET", f"/review?{query}"), 422)


# --- accuracy as served ---------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["one", "many", "stream"])
async def test_a_label_scores_the_ranking_as_it_was_served(call, how):
    await call.learn(("a", "x"), ("b", "y"))
    answers = [await rank_alone(call, features=["a", "b"]) for _ in range(3)]
    first, second = (each["class"] for each in answers[0]["ranked"])
    labels = [[second, first], [second], ["never seen"]]
    pairs = zip(answers, labels, strict=True)
    events = [{"id": each["id"], "classes": label} for each, label in pairs]
    await call.learn(*[("a b", second)] * 20)  # the model has changed its mind since
    if how == "one":
        for event in events:
            await call("POST", "/learn", event)
    elif how == "many":
        await call("POST", "/learn", {"events": events})
    else:
        await call.stream(*events)
    assert await served(call) == {
        **{"first": 1, "later": 1, "missed": 1, "abstained": 0},
        **{"r1": pytest.approx(1 / 3), "r1_before_learning": pytest.approx(2 / 3)},
    }
    metrics = await call.metrics()
    counts = [metrics[f'served_labels_total{{result="{each}"}}'] for each in ("first", "later")]
    assert (counts, metrics["served_first_before_learning_total"]) == ([1, 1], 2)


@pytest.mark.parametrize("way", [*WAYS, "explained"])
@pytest.mark.parametrize("limit", ["min_probability", "min_precision"])
async def test_a_class_that_a_limit_of_probability_left_out_was_missed(way, limit):
    async with calling(native=True) as call:
        await call.learn(*(("a" if n % 4 else "a b", "xy"[n % 4 == 0]) for n in range(300)))
        more = {"explain": True} if way == "explained" else {}
        rank = WAYS.get(way, rank_alone)
        everything = await rank_alone(call, features=["a"], probabilities=True, keep=False)
        (first, second) = everything["ranked"]
        assert first["probability"] > second["probability"] > 0
        least = second["probability"] + 1e-6 if limit == "min_probability" else 0.7
        for number, (name, result) in enumerate(
            [(first["class"], "first"), (second["class"], "missed")], 1
        ):
            answer = await rank(call, features=["a"], id=f"q-{number}", **{limit: least}, **more)
            assert [each["class"] for each in answer["ranked"]] == [first["class"]]
            body = {"id": f"q-{number}", "classes": [name]}
            before = (await served(call))[result]
            assert (await call("POST", "/learn", body)).status_code == 200
            assert (await served(call))[result] == before + 1
        answer = await rank(call, features=["a"], id="q-3", min_probability=1)
        assert answer["abstained"]
        [waiting] = call.app.api.state.pending.least_certain(10)
        assert waiting.served.classes == (first["class"], second["class"])


async def test_each_ranking_counts_once(call):
    await call.learn(("a", "x"))
    made = await call.ranked_id("a")
    event = {"id": made, "classes": ["x"], "event_id": "e-1"}
    for _ in range(2):
        assert (await call("POST", "/learn", event)).status_code == 200
    await call("POST", "/learn", {"events": [event, event]})
    await call.stream(event, event)
    del event["event_id"]
    await call("POST", "/learn", event)  # another label
    assert (await served(call))["first"] == 1


async def test_a_retry_does_not_score_a_newer_ranking_of_its_id(call):
    await call.learn(("a", "x"))
    await call.ranked_id("a", id="user-7")
    event = {"id": "user-7", "classes": ["x"], "event_id": "e-1"}
    await call("POST", "/learn", event)
    await call.ranked_id("a", id="user-7")
    await call("POST", "/learn", event)
    assert (await served(call))["first"] == 1
    assert await ids(call) == ["user-7"]


async def test_an_event_with_its_own_instance_or_without_a_true_class_does_not_count(call):
    await call.learn(("a", "x"))
    made = await call.ranked_id("a")
    await call("POST", "/learn", {"id": made, "not": ["y"]})
    await call.learn(("a", "x"))
    told = await served(call)
    assert sum(told[each] for each in ("first", "later", "missed", "abstained")) == 0
    assert (told["r1"], told["r1_before_learning"]) == (None, None)


async def test_a_label_that_is_not_stored_does_not_count(call):
    await call.learn(("a", "x"))
    made = await call.ranked_id("a")
    call.store.append_error = StoreUnavailable("the disk is gone")
    response = await call("POST", "/learn", {"id": made, "classes": ["x"]})
    assert response.status_code == 503
    assert await ids(call) == [made]
    assert (await served(call))["first"] == 0


@pytest.mark.parametrize("how", ["one", "stream"])
async def test_a_label_that_comes_to_another_process(how):
    async with side_by_side() as (one, two):
        await two.learn(("a", "x"))
        made = await two.ranked_id("a")
        assert await ids(one) == []
        assert [each["id"] for each in await review(two)] == [made]
        assert (await two("GET", "/review")).json()["process"] == "two"
        event = {"id": made, "classes": ["x"]}
        await (one.stream(event) if how == "stream" else one("POST", "/learn", event))
        while not two.app.api.state.metrics.served.first:
            await asyncio.sleep(0)
        assert await ids(two) == []
        assert (await served(one))["first"] == 0


def test_rankings_of_workers_are_listed_and_scored():
    with serving(workers=2, native=True) as server:
        event = {"features": ["a"], "classes": ["x"]}
        server.talk(post("/learn", json.dumps(event).encode()))
        for name in ("one", "two"):
            body = json.dumps({"features": ["a"], "id": name}).encode()
            assert server.talk(post("/rank", body))[0] == 200
        counts = server.app.native.workers.counts()
        assert sum(sum(each.rank_request_durations) for each in counts) == 2
        server.talk(post("/learn", b'{"id": "one", "classes": ["x"]}'))
        waiting = server.app.api.state.pending.least_certain(10)
        assert [(each.id, each.served.classes) for each in waiting] == [("two", ("x",))]
        assert server.app.api.state.metrics.served.first == 1

"""Values below 0: learners with signed weights use them, and answers name the others."""

import json

import pytest

from manyclass.core.event import Event
from tests.service.http.two_ways import learn, rank, two_ways
from tests.service.serving import calling, post, serving

MIXED = {"f": 2.0, "g": -1.5}
BELOW = {"g": -1.5, "h": -2.0}
EVENT = {"features": MIXED, "classes": ["a"]}
COUNTS = ("without_features", "with_absent_values")


def warnings(answer):
    assert answer.status_code == 200, answer.text
    return [(each["pointer"], each["detail"]) for each in answer.json().get("warnings", [])]


async def counts(call):
    seen = await call.metrics()
    return {
        (name, of): seen[f'instances_{name}_total{{call="{of}"}}']
        for name in COUNTS
        for of in ("rank", "learn")
    }


async def test_a_learner_of_masses_says_that_values_below_0_are_absent():
    detail = "The value of feature 'g' is below 0 and ignored by ff."
    async with calling(learner="ff") as call:
        assert warnings(await call("POST", "/rank", {"features": MIXED})) == [
            ("#/features", detail)
        ]
        many = {"instances": [{"features": ["f"]}, {"features": MIXED}]}
        there = [("#/instances/1/features", detail)]
        assert warnings(await call("POST", "/rank", many)) == there
        assert warnings(await call("POST", "/rank", many | {"explain": True})) == there
        assert warnings(await call("POST", "/learn", EVENT)) == [("#/features", detail)]
        events = {"events": [EVENT, {"features": {"f": 1}, "classes": ["a"]}]}
        there = [("#/events/0/features", detail)]
        assert warnings(await call("POST", "/learn", events)) == there
        warning, *_ = await call.stream(EVENT)
        assert (warning["kind"], warning["line"], warning["detail"]) == ("warning", 1, detail)
        await call("POST", "/rank", {"features": MIXED, "id": "i"})
        by_id = {"id": "i", "classes": ["a"]}
        assert warnings(await call("POST", "/learn", by_id)) == [("#/id", detail)]
        assert await counts(call) == {
            **{("without_features", "rank"): 0, ("without_features", "learn"): 0},
            **{("with_absent_values", "rank"): 4, ("with_absent_values", "learn"): 4},
        }
        assert call.app.engine.model.learner.features == 1


async def test_an_instance_without_other_values_has_no_features_for_such_a_learner():
    detail = "No feature has a value above 0, and values below 0 are ignored by ff."
    async with calling(learner="ff") as call:
        await call("POST", "/learn", {"features": ["f"], "classes": ["a"]})
        answer = await call("POST", "/rank", {"features": BELOW})
        assert (warnings(answer), answer.json()["ranked"]) == ([("#/features", detail)], [])
        event = {"features": BELOW, "classes": ["lost"]}
        answer = await call("POST", "/learn", event)
        assert (warnings(answer), answer.json()["updated"]) == ([("#/features", detail)], False)
        assert await counts(call) == {
            **{("without_features", "rank"): 1, ("without_features", "learn"): 1},
            **{("with_absent_values", "rank"): 0, ("with_absent_values", "learn"): 0},
        }
        assert call.app.engine.model.learner.classes == 1


async def test_a_learner_with_signed_weights_needs_no_warning():
    async with calling() as call:
        for _ in range(5):
            for value, name in ((1.0, "a"), (-1.0, "b")):
                event = {"features": {"f": value}, "classes": [name]}
                assert warnings(await call("POST", "/learn", event)) == []
        answer = await call("POST", "/rank", {"features": {"f": -2.0}, "explain": True})
        assert warnings(answer) == []
        best = answer.json()["ranked"][0]
        assert (best["class"], best["features"][0]["feature"]) == ("b", "f")
        assert best["features"][0]["score"] > 0
        assert sum((await counts(call)).values()) == 0


async def test_the_shadows_learn_but_do_not_rank():
    detail = "The values of feature 'g' and of 1 more are below 0 and ignored by ff, oplt."
    event = {"features": BELOW, "classes": ["a"]}
    shadows = ("frequency", "committee(members=pa+ff)", "oplt")
    async with calling(learner="svm", shadows=shadows) as call:
        assert warnings(await call("POST", "/learn", event)) == [("#/features", detail)]
        assert warnings(await call("POST", "/rank", {"features": BELOW})) == []


async def test_a_value_of_0_or_nearly_0_is_absent_to_all():
    async with calling() as call:
        answer = await call("POST", "/rank", {"features": {"f": 0, "g": -1e-31}})
        assert warnings(answer) == [("#/features", "No feature has a value other than 0.")]


@pytest.mark.parametrize("value", ["-1e31", "-1e400"])
async def test_a_value_far_below_0_is_refused(call, value):
    answer = await call("POST", "/learn", b'{"features":{"f":%s},"classes":["a"]}' % value.encode())
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "#/features/f"


async def test_a_long_name_is_shortened():
    async with calling(learner="ff") as call:
        [(_, detail)] = warnings(
            await call("POST", "/rank", {"features": {"x" * 4000: -1, "f": 1}})
        )
        assert len(detail) < 300
        assert "…" in detail


async def test_a_retry_is_not_warned_of_again():
    async with calling(learner="ff") as call:
        await call("POST", "/rank", {"features": MIXED, "id": "i"})
        event = {"id": "i", "classes": ["a"], "event_id": "e"}
        assert len(warnings(await call("POST", "/learn", event))) == 1
        assert warnings(await call("POST", "/learn", event)) == []


async def test_the_log_keeps_values_below_0():
    """So a learner that uses them can be built from the same events."""
    async with calling(learner="ff") as call:
        await call("POST", "/learn", EVENT)
        *_, (_, payload) = call.store.read(0)
        assert Event.from_bytes(payload).instance.items() == [*MIXED.items()]


# --- the shorter ways -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "expected"),
    [
        ("svm", 1),
        ("ff", 0),
        ("frequency", 1),
        ("committee(members=svm+pa)", 1),
        ("committee(members=svm+ff)", 0),
    ],
)
async def test_a_plain_ranking_has_values_below_0_if_the_learner_takes_them(learner, expected):
    async with two_ways(learner=learner) as ways:
        await ways.talk(learn(b'{"features":["f"],"classes":["a"]}'))
        _, answered = await ways.talk(rank(b'{"features":{"f":2,"g":-1.5}}'))
        assert answered == expected
        ways.assert_equal_counts()


@pytest.mark.parametrize("learner", ["svm", "ff"])
async def test_no_plain_event_has_values_below_0(learner):
    async with two_ways(learner=learner) as ways:
        for body in (EVENT, EVENT | {"event_id": "e", "features": BELOW}):
            assert (await ways.talk(learn(json.dumps(body).encode())))[1] == 0
        ways.assert_equal_counts()


@pytest.mark.parametrize("learner", ["svm", "ff"])
def test_workers_answer_alike(learner):
    requests = [
        ("/learn", EVENT),
        ("/learn", {"features": {"f": 1, "h": -1}, "classes": ["b"]}),
        ("/rank", {"features": MIXED, "id": "i"}),
        ("/rank", {"features": BELOW, "id": "j"}),
    ]
    answers = []
    for workers in (0, 1):
        with serving(learner=learner, workers=workers, native=True) as server:
            for path, body in requests:
                status, _, content = server.talk(post(path, json.dumps(body).encode()))
                answers.append((status, json.loads(content)))
    assert answers[:4] == answers[4:]
    for status, answer in answers:
        assert (status, "warnings" in answer) == (200, learner == "ff")

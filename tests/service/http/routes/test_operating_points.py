"""GET /operating-points: the least limits for wanted accuracies, of all, by class and by source."""

import pytest

from manyclass.core.calibration import interval_of
from tests.service.http.routes.test_confidence import LESSONS
from tests.service.serving import KEYS, assert_problem, bearer, calling

SOURCES = ("desk", "web", None)
TARGETS = [0.8, 0.9, 0.95, 0.99]


async def teach(call, lessons=LESSONS, **more):
    """Teach events of which every third has no source; return whether each was right before."""
    right = []
    for number, (features, name) in enumerate(lessons):
        event = {"features": features.split(), "classes": [name], **more}
        if SOURCES[number % 3]:
            event["source"] = SOURCES[number % 3]
        answer = await call("POST", "/learn", event)
        right.append(answer.json()["rank_before"] == 1)
    return right


async def points(call, **parameters):
    answer = await call("GET", "/operating-points", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_without_outcomes_nothing_is_reached(call):
    found = await points(call)
    for window in ("newest", "all"):
        assert found[window] == {
            "outcomes": 0,
            "right": 0,
            "accuracy": None,
            "classes": 0,
            "targets": [{"target": target, "point": None} for target in TARGETS],
            "best": None,
            "curve": [],
        }
    assert (found["seq"], found["learner"], found["groups"]) == (0, "svm", None)


async def test_the_points_count_the_answers_that_the_service_would_have_given(call):
    confidences = []
    for features, name in LESSONS:
        instance = {"features": features.split()}
        answer = (await call("POST", "/rank", instance)).json()
        learned = await call("POST", "/learn", instance | {"classes": [name]})
        if answer["confidence"] is not None:
            confidences.append((answer["confidence"], learned.json()["rank_before"] == 1))
    found = await points(call, target=0.6)
    assert found["newest"] == found["all"]
    curve = found["all"]
    without = await points(call, target=0.6, curve=False)
    assert len(curve["curve"]) > 1
    for each in ("newest", "all", "probabilities"):
        assert without[each] == found[each] | {"curve": []}
    assert curve["outcomes"] == len(confidences)
    assert curve["right"] == sum(right for _, right in confidences)
    assert curve["classes"] == 7
    [target] = curve["targets"]
    point = target["point"]
    for each in (point, curve["best"], *curve["curve"]):
        above = [right for confidence, right in confidences if confidence >= each["limit"]]
        assert (each["answers"], each["right"]) == (len(above), sum(above))
        assert each["coverage"] == len(above) / len(confidences)
        assert each["accuracy"] == sum(above) / len(above)
        low, high = interval_of(sum(above), len(above))
        assert (each["accuracy_low"], each["accuracy_high"]) == (low, high)
        low, high = interval_of(len(above), len(confidences))
        assert (each["coverage_low"], each["coverage_high"]) == (low, high)
    assert point["accuracy_low"] >= 0.6
    assert curve["best"]["accuracy_low"] == max(each["accuracy_low"] for each in curve["curve"])
    assert curve["curve"][-1]["answers"] == len(confidences)
    assert curve["curve"][0]["answers"] >= 20


async def test_by_class_and_by_source(call):
    right = await teach(call)
    by_source = (await points(call, by="source"))["groups"]
    kept = len(LESSONS) - sum(each["outcomes"] for each in by_source["groups"])
    whole = (await points(call))["all"]
    expected = {
        source: [is_right for number, is_right in enumerate(right) if SOURCES[number % 3] == source]
        for source in ("desk", "web")
    }
    for each in by_source["groups"]:
        own = expected[each["name"]][-each["outcomes"] :]
        assert each["right"] == sum(own)
        assert each["accuracy"] == sum(own) / len(own)
        assert each["best"]["classes"] is None
    assert (by_source["by"], by_source["total"], by_source["next"], kept > 0) == (
        *("source", 2, None),
        True,
    )
    by_class = (await points(call, by="class", target=0.5, limit=3))["groups"]
    assert (by_class["total"], by_class["next"], len(by_class["groups"])) == (7, 3, 3)
    rest = (await points(call, by="class", target=0.5, limit=1000, offset=3))["groups"]
    everyone = by_class["groups"] + rest["groups"]
    assert (rest["next"], {each["name"] for each in everyone}) == (
        None,
        {f"c{n}" for n in range(7)},
    )
    assert sum(each["outcomes"] for each in everyone) == whole["outcomes"]
    assert sum(each["right"] for each in everyone) == whole["right"]
    reached = [each for each in everyone if each["targets"][0]["point"]]
    assert by_class["reached"] == [{"target": 0.5, "groups": len(reached)}]
    counts = [each["outcomes"] for each in everyone]
    assert counts == sorted(counts, reverse=True)
    newest = (await points(call, by="class", window="newest"))["groups"]
    assert newest["total"] == 7


async def test_a_shadow_has_points_of_its_own():
    async with calling(shadows=("ff",)) as call:
        await teach(call)
        primary, shadow = await points(call), await points(call, learner="ff")
        assert (primary["learner"], shadow["learner"]) == ("svm", "ff")
        assert shadow["all"]["outcomes"] > 0
        assert shadow["all"]["right"] != primary["all"]["right"]
        unknown = await call("GET", "/operating-points?learner=oplt")
    assert_problem(unknown, 404)


@pytest.mark.parametrize(
    "query", ["target=1", "target=0", "by=word", "window=old", "limit=0", "offset=-1", "limt=3"]
)
async def test_other_parameters_are_refused(call, query):
    assert_problem(await call("GET", f"/operating-points?{query}"), 422)


async def test_erased_events_leave_the_points_with_a_rebuild(call):
    await teach(call)
    left = [each for number, each in enumerate(LESSONS) if SOURCES[number % 3] != "web"]
    await call("DELETE", "/events?source=web")
    assert any(
        each["name"] == "web" for each in (await points(call, by="source"))["groups"]["groups"]
    )
    rebuilt = await call("POST", "/rebuild", {})
    assert rebuilt.status_code in (200, 202), rebuilt.text
    found = await points(call, by="source")
    assert [each["name"] for each in found["groups"]["groups"]] == ["desk"]
    async with calling() as fresh:
        await fresh.learn(*left)
        assert (await points(fresh))["all"] == found["all"]


async def test_metrics_have_the_newest_points_of_each_learner():
    async with calling(shadows=("pa",)) as call:
        assert not [name for name in await call.metrics() if name.startswith("operating_point")]
        for _ in range(2):
            await call.learn(*LESSONS)
        metrics = await call.metrics()
        for label, role in (("svm", "primary"), ("pa", "shadow")):
            newest = (await points(call, learner=label))["newest"]
            for each in newest["targets"]:
                point = each["point"] or {"coverage": 0}
                of = f'{{learner="{label}",role="{role}",target="{each["target"]:g}"}}'
                assert metrics[f"operating_point_coverage{of}"] == point["coverage"]
                assert metrics.get(f"operating_point_limit{of}") == point.get("limit")
                assert metrics.get(f"operating_point_accuracy{of}") == point.get("accuracy")


REACHED = {"features": ["f3", "always"]}


async def ranked(call, body):
    answer = await call("POST", "/rank", body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("native", [True, False])
async def test_min_accuracy_abstains_below_the_limit_that_it_needs(native):
    async with calling(native=native) as call:
        await teach(call)
        usual = await ranked(call, REACHED)
        everything = (await points(call))["newest"]["curve"][-1]
        wanted = {"min_accuracy": everything["accuracy_low"] - 0.2}
        limit = call.app.engine.model.answering.calibration.limit_for(wanted["min_accuracy"])
        assert 0 < limit <= usual["confidence"]
        reached = await ranked(call, REACHED | wanted)
        assert (reached["limit"], reached["ranked"]) == (limit, usual["ranked"])
        assert "abstained" not in reached
        assert "limit" not in usual
        never = await ranked(call, REACHED | {"min_accuracy": 0.999})
        assert (never["limit"], never["ranked"], never["abstained"]) == (None, [], True)
        assert never["confidence"] == usual["confidence"]
        more = usual["confidence"] + 1e-9
        both = await ranked(call, REACHED | wanted | {"min_confidence": more})
        assert (both["limit"], both["abstained"]) == (more, True)
        unknown = {"features": ["unheard of"]}
        assert (await ranked(call, unknown | {"min_accuracy": 0}))["abstained"] is True
        for how in ({}, {"explain": True}):
            many = await ranked(call, {"instances": [REACHED, unknown]} | wanted | how)
            first, second = many["results"]
            assert (first["limit"], len(first["ranked"])) == (limit, len(usual["ranked"]))
            assert (second["limit"], second["abstained"]) == (limit, True)
        explained = await ranked(call, REACHED | {"min_accuracy": 0.999, "explain": True})
        assert (explained["limit"], explained["abstained"]) == (None, True)
        assert (await call.metrics())["abstained_total"] == 6


async def test_min_accuracy_and_among_exclude_each_other(call):
    body = REACHED | {"among": ["c1"], "min_accuracy": 0.9}
    assert_problem(await call("POST", "/rank", body), 422, "#/min_accuracy")
    for wrong in (-0.1, 1.1, "much"):
        assert_problem(
            await call("POST", "/rank", REACHED | {"min_accuracy": wrong}), 422, "#/min_accuracy"
        )


async def test_a_rank_key_lists_no_sources():
    async with calling(**KEYS) as call:
        for key, status in (("r", 403), ("l", 200), ("a", 200)):
            for by, expected in (("source", status), ("class", 200)):
                answer = await call("GET", f"/operating-points?by={by}", headers=bearer(key))
                assert answer.status_code == expected, (key, by)

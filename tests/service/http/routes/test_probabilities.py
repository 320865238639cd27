"""POST /rank with probabilities of each class, and the limits of them in GET /operating-points."""

import random

import pytest

from manyclass.core.calibration import interval_of
from tests.service.http.routes.test_operating_points import points, ranked
from tests.service.serving import assert_problem, calling


def lessons(count):
    """Return events of one or two classes, mostly shown by a feature of their own."""
    chance = random.Random(7)
    made = []
    for _ in range(count):
        classes = chance.sample(["a", "b", "c", "d", "e", "f"], chance.choice([1, 2]))
        shown = [f"of {name}" for name in classes if chance.random() < 0.9]
        made.append({"features": [*shown, f"noise {chance.randrange(9)}"], "classes": classes})
    return made


INSTANCE = {"features": ["of a", "of d", "noise 1"], "k": 6}


async def teach(call, count=600):
    assert (await call("POST", "/learn", {"events": lessons(count)})).status_code == 200


def probabilities(answer):
    return [each["probability"] for each in answer["ranked"]]


@pytest.mark.parametrize("native", [True, False])
async def test_each_class_has_one_if_they_are_asked_for(native):
    async with calling(native=native) as call:
        await call.learn(("x", "y"))
        before = await ranked(call, {"features": ["x"], "probabilities": True})
        assert [each["probability"] for each in before["ranked"]] == [None]
        await teach(call)
        usual = await ranked(call, INSTANCE)
        asked = await ranked(call, INSTANCE | {"probabilities": True})
        assert [(each["class"], each["score"]) for each in asked["ranked"]] == [
            (each["class"], each["score"]) for each in usual["ranked"]
        ]
        assert "probability" not in usual["ranked"][0]
        first, second, third, *_ = probabilities(asked)
        assert first == asked["confidence"] == usual["confidence"]
        assert {each["class"] for each in asked["ranked"][:2]} == {"a", "d"}
        assert first >= second > 0.5 > 0.3 > third
        explained = await ranked(call, INSTANCE | {"probabilities": True, "explain": True})
        assert probabilities(explained) == probabilities(asked)
        many = await ranked(call, {"instances": [{"features": INSTANCE["features"]}],
                                   "k": 6, "probabilities": True})  # fmt: skip
        assert many["results"][0]["ranked"] == asked["ranked"]


@pytest.mark.parametrize("native", [True, False])
async def test_min_probability_returns_the_classes_that_are_so_probable(native):
    async with calling(native=native) as call:
        await teach(call)
        everything = await ranked(call, INSTANCE | {"probabilities": True})
        first, second, third, *_ = probabilities(everything)
        for least, count in ((0, 6), (third, 3), (third + 1e-9, 2), (second, 2)):
            for how in ({}, {"explain": True}):
                found = await ranked(call, INSTANCE | how | {"min_probability": least})
                assert probabilities(found) == probabilities(everything)[:count]
                assert "abstained" not in found
                assert "limit" not in found
        for more in ({"min_probability": first + 1e-9}, {"min_probability": 1}):
            for how in ({}, {"explain": True}):
                found = await ranked(call, INSTANCE | more | how)
                assert (found["ranked"], found["abstained"]) == ([], True)
                assert found["confidence"] == first
        unknown = {"features": ["unheard of"], "min_probability": 0}
        assert (await ranked(call, unknown))["abstained"] is True
        assert (await call.metrics())["abstained_total"] == 5


@pytest.mark.parametrize("native", [True, False])
async def test_min_precision_uses_the_limit_of_the_service(native):
    async with calling(native=native) as call:
        await teach(call)
        limit = call.app.engine.model.answering.calibration.probability_limit_for(0.6)
        everything = await ranked(call, INSTANCE | {"probabilities": True})
        wanted = [each for each in probabilities(everything) if each >= limit]
        assert 0 < len(wanted) < 6
        for how in ({}, {"explain": True}):
            found = await ranked(call, INSTANCE | how | {"min_precision": 0.6})
            assert (found["limit"], probabilities(found)) == (limit, wanted)
            more = limit + 1e-9
            both = INSTANCE | how | {"min_precision": 0.6, "min_probability": more}
            assert (await ranked(call, both))["limit"] == more
            never = await ranked(call, INSTANCE | how | {"min_precision": 0.9999})
            assert (never["limit"], never["ranked"], never["abstained"]) == (None, [], True)


async def test_options_that_exclude_each_other(call):
    for name, value in (("probabilities", True), ("min_probability", 0.1), ("min_precision", 0.1)):
        body = INSTANCE | {name: value}
        for other in ({"among": ["a"]}, {"decode": "taxo"}):
            assert_problem(await call("POST", "/rank", body | other), 422, f"#/{name}")
    both = INSTANCE | {"min_accuracy": 0.5, "min_precision": 0.5}
    assert_problem(await call("POST", "/rank", both), 422, "#/min_precision")
    off = INSTANCE | {"probabilities": False, "min_probability": None, "among": ["a"]}
    assert (await call("POST", "/rank", off)).status_code == 200
    for wrong in (-0.1, 1.1, "much"):
        for name in ("min_probability", "min_precision"):
            assert_problem(await call("POST", "/rank", INSTANCE | {name: wrong}), 422, f"#/{name}")


async def test_the_points_say_precision_and_recall(call):
    empty = (await points(call))["probabilities"]
    assert (empty["rankings"], empty["true_classes"], empty["best"]) == (0, 0, None)
    assert [each["point"] for each in empty["targets"]] == [None] * 4
    assert empty["curve"] == []
    await teach(call)
    found = (await points(call, target=0.6))["probabilities"]
    curve = call.app.engine.model.answering.calibration.probability_curve()
    assert (found["rankings"], found["true_classes"]) == (curve.rankings, curve.true_classes)
    [target] = found["targets"]
    for each in (target["point"], found["best"], *found["curve"]):
        assert each["precision"] == each["right"] / each["classes"]
        low, high = interval_of(each["right"], each["classes"])
        assert (each["precision_low"], each["precision_high"]) == (low, high)
        assert each["recall"] == each["right"] / curve.true_classes
        assert each["rankings"] <= curve.rankings
    assert target["point"]["precision_low"] >= 0.6
    assert 20 <= len(found["curve"]) <= 150
    assert found["curve"][-1]["classes"] == curve.points[-1].classes


async def test_metrics_have_the_points_of_each_learner():
    async with calling(learner="svm", shadows=("ff",)) as call:
        names = await call.metrics()
        assert not [name for name in names if name.startswith("probability_point")]
        await teach(call)
        metrics = await call.metrics()
        for role, learner in (("primary", "svm"), ("shadow", "ff")):
            found = (await points(call, learner=learner))["probabilities"]
            for each in found["targets"]:
                of = f'{{learner="{learner}",role="{role}",target="{each["target"]:g}"}}'
                point = each["point"] or {"recall": 0}
                for name in ("limit", "precision", "recall"):
                    assert metrics.get(f"probability_point_{name}{of}") == point.get(name)

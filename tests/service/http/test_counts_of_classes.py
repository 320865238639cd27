"""All numbers and lists of classes agree, however the classes were taught."""

import asyncio

import pytest

from tests.service.serving import calling, side_by_side

VECTORS = {"a": [1.0, 0.1, 0.0], "b": [0.0, 0.1, 1.0], "c": [0.0, 1.0, 0.1]}
KINDS = ["words", "vector", "both", "described"]


async def teach(call, kind, name):
    """Teach the class, twice if it is taught by events."""
    if kind == "described":
        answers = [await call("PUT", f"/classes/{name}", {"title": f"Title {name}"})]
    else:
        words = {"features": [f"w{name}"]} if kind != "vector" else {}
        vector = {"vector": VECTORS[name]} if kind != "words" else {}
        event = {**words, **vector, "classes": [name]}
        answers = [await call("POST", "/learn", event) for _ in range(2)]
    assert {answer.status_code for answer in answers} == {200}


async def counted(call):
    """Return the number of classes, after a comparison of all places that have it."""
    stats = (await call("GET", "/stats")).json()
    quality = await call("GET", "/quality")  # 404 of a store without a history
    listed = (await call("GET", "/classes")).json()["classes"]
    metrics = (await call("GET", "/metrics")).text.splitlines()
    [metric] = [line for line in metrics if line.startswith("manyclass_classes ")]
    count = len(listed)
    assert stats["classes"] == float(metric.split()[1]) == count
    assert quality.status_code == 404 or quality.json()["classes"] == count
    for each in listed:
        found = (await call("GET", "/classes?search=" + each["class"])).json()["classes"]
        assert [(one["class"], one["learned"]) for one in found] == [
            (each["class"], each["learned"])
        ]
        detail = (await call("GET", "/classes/" + each["class"])).json()
        assert detail["learned"] == each["learned"]
    return count


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("learner", ["svm", "frequency"])
async def test_all_calls_count_the_same_classes(kind, learner):
    events = 0 if kind == "described" else 2
    async with calling(learner=learner) as call:
        assert await counted(call) == 0
        for number, name in enumerate("abc", 1):
            await teach(call, kind, name)
            assert await counted(call) == number
        quality = (await call("GET", "/quality")).json()
        seen = (await call("GET", "/quality/classes")).json()
        assert quality["seen_classes"] == seen["total"] == (3 if events else 0)
        parents = dict.fromkeys("ab", "top")
        assert (await call("POST", "/classes", {"parents": parents})).status_code == 200
        nodes = (await call("GET", "/taxonomy?parent=top")).json()["nodes"]
        assert [(node["class"], node["learned"]) for node in nodes] == [
            ("a", events),
            ("b", events),
        ]
        assert await counted(call) == 3
        assert (await call("POST", "/classes/a", {"rename": "d"})).status_code == 200
        assert await counted(call) == 3
        assert (await call("POST", "/classes/d", {"merge_into": "b"})).status_code == 200
        assert await counted(call) == 2
        nodes = (await call("GET", "/taxonomy?parent=top")).json()["nodes"]
        assert [node["class"] for node in nodes] == ["b"]
        assert (await call("DELETE", "/classes/b")).status_code == 200
        assert await counted(call) == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_shadows_and_other_processes_count_the_same_classes(kind):
    async with side_by_side(shadows=("ff",)) as (one, other):
        await teach(one, kind, "a")
        await teach(other, kind, "b")
        while one.app.engine.model.seq != other.app.engine.model.seq:
            await asyncio.sleep(0)
        assert await counted(one) == await counted(other) == 2
        learners = (await one("GET", "/learners")).json()["learners"]
        in_weights = 2 if kind in ("words", "both") else 0
        assert [each["classes"] for each in learners] == [in_weights] * 2
        promoted = await one("POST", "/learners/ff/promote")
        assert promoted.status_code == 200, promoted.text
        assert await counted(one) == 2


async def test_classes_beyond_the_limit_are_counted_no_more():
    async with calling(max_classes=2) as call:
        for name in "abc":
            await teach(call, "vector", name)
        assert await counted(call) == 2

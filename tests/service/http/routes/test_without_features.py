import pytest

NOTHING = [{"text": "... !?"}, {"features": {"f": 0, "g": -1e-40}}, {"features": []}, {"text": ""}]
WHOLE = {"features": ["f"], "classes": ["a"]}


def pointers(answer):
    assert answer.status_code == 200, answer.text
    return [each["pointer"] for each in answer.json().get("warnings", [])]


@pytest.mark.parametrize("instance", NOTHING)
async def test_an_instance_without_features_is_answered_with_a_warning(call, instance):
    member = next(iter(instance))
    event = {**instance, "classes": ["lost"]}
    ranking = await call("POST", "/rank", instance)
    assert (pointers(ranking), ranking.json()["ranked"]) == ([f"#/{member}"], [])
    assert pointers(await call("POST", "/rank", {"features": ["f"]})) == []
    many = {"instances": [{"features": ["f"]}, instance]}
    assert pointers(await call("POST", "/rank", many)) == [f"#/instances/1/{member}"]
    assert pointers(await call("POST", "/learn", event)) == [f"#/{member}"]
    assert pointers(await call("POST", "/learn", WHOLE)) == []
    many = {"events": [WHOLE, event]}
    assert pointers(await call("POST", "/learn", many)) == [f"#/events/1/{member}"]
    await call("POST", "/rank", {**instance, "id": "i"})
    assert pointers(await call("POST", "/learn", {"id": "i", "classes": ["lost"]})) == ["#/id"]
    seen = await call.metrics()
    assert seen['instances_without_features_total{call="rank"}'] == 3
    assert seen['instances_without_features_total{call="learn"}'] == 3
    classes = (await call("GET", "/classes")).json()["classes"]
    assert [each["class"] for each in classes] == ["a"]
    assert call.app.engine.model.seq == 5  # acknowledged events are durable


async def test_a_stream_names_the_lines_without_features(call):
    lines = [WHOLE, {"text": "?", "classes": ["lost"]}, WHOLE]
    warning, *_, summary = await call.stream(*lines)
    assert warning["kind"] == "warning"
    assert (warning["line"], warning["pointer"]) == (2, "#/text")
    assert summary["accepted"] == 3
    assert call.app.engine.model.learner.classes == 1


async def test_the_warnings_of_a_stream_are_bounded(call):
    answer = await call.stream(*[{"text": "?", "classes": ["lost"]}] * 150)
    assert [each["kind"] for each in answer].count("warning") == 100
    seen = await call.metrics()
    assert seen['instances_without_features_total{call="learn"}'] == 150

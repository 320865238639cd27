import asyncio
from itertools import count, islice

import pytest

from manyclass.core.model import Model
from tests.service.serving import assert_problem, calling, side_by_side


def pointer(answer):
    [fault] = answer.json()["errors"]
    return fault.get("pointer") or fault.get("parameter")


async def path_of(call, name):
    return (await call("GET", f"/classes/{name}")).json()["path"]


async def test_a_class_is_placed_and_shown(call):
    assert (await call("PUT", "/classes/hockey", {"parent": "sports"})).json() == {"seq": 1}
    assert (await call("PUT", "/classes/hockey", {"parent": "sports"})).json() == {"seq": 2}
    await call("PUT", "/classes/7", {"parent": 5.0})
    await call("PUT", "/classes/puck", {"parent": None})
    shown = (await call("GET", "/classes/hockey")).json()
    assert shown == {
        "class": "hockey",
        "learned": 0,
        "features": [],
        "parent": "sports",
        "path": ["sports", "hockey"],
        "children": [],
        "next": None,
        "former_names": [],
        "title": None,
        "description": None,
        "alt_labels": [],
        "has_vector": False,
    }
    assert await path_of(call, "7") == ["5", "7"]
    assert await path_of(call, "puck") == ["puck"]
    await call.learn(("goalie ice", "hockey"))
    learned = (await call("GET", "/classes/hockey")).json()
    assert (learned["learned"], learned["parent"], len(learned["features"])) == (1, "sports", 2)
    assert (await call("GET", "/stats")).json()["taxonomy"] == 5


async def test_children_come_in_pages(call):
    names = [f"{number}" for number in range(25)]
    await call("POST", "/classes", {"parents": dict.fromkeys(names, "above")})
    found, after = [], ""
    while after is not None:
        page = (await call("GET", f"/classes/above?limit=10{after and '&after=' + after}")).json()
        found += page["children"]
        after = page["next"]
    assert found == names
    assert_problem(await call("GET", "/classes/above?after=elsewhere"), 404)


async def test_a_class_moves_only_if_it_may(call):
    await call("POST", "/classes", {"parents": {"a": "b", "c": "a"}})
    refused = await call("PUT", "/classes/a", {"parent": "d"})
    assert_problem(refused, 409)
    assert pointer(refused) == "#/parent"
    assert "'a' is below 'b', not below 'd'" in refused.json()["detail"]
    refused = await call("POST", "/classes", {"parents": {"e": "b", "a": None}})
    assert_problem(refused, 409)
    assert pointer(refused) == "#/parents/a"
    assert await path_of(call, "c") == ["b", "a", "c"]
    assert_problem(await call("GET", "/classes/e"), 404)  # all or none
    await call("PUT", "/classes/a", {"parent": "d", "move": True})
    assert await path_of(call, "c") == ["d", "a", "c"]
    assert_problem(await call("GET", "/classes/b"), 404)  # it was no class, and has no child now


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, "#"),
        ([], "#"),
        ({"parent": 5.5}, "#/parent"),
        ({"parent": True}, "#/parent"),
        ({"parent": ""}, "#/parent"),
        ({"parent": "x" * 5000}, "#/parent"),
        ({"parent": "a"}, "#/parent"),  # itself
        ({"parent": "c"}, "#/parent"),  # below it
        ({"parent": "x", "move": 1}, "#/move"),
        ({"parent": "x", "mvoe": True}, "#/mvoe"),
    ],
)
async def test_a_place_that_cannot_be(call, body, place):
    await call("POST", "/classes", {"parents": {"b": "a", "c": "b"}})
    digest = call.digest()
    refused = await call("PUT", "/classes/a", body)
    assert_problem(refused, 422)
    assert pointer(refused) == place
    assert call.digest() == digest


@pytest.mark.parametrize(
    ("method", "path", "key"),
    [("PUT", "/classes/a", "`parent`: a name"), ("POST", "/classes", "`parents`: an object")],
)
async def test_a_body_that_is_not_an_object_is_told_what_to_be(call, method, path, key):
    refused = await call(method, path, [])
    assert_problem(refused, 422)
    assert f"The body must be an object with {key}" in refused.json()["detail"]


@pytest.mark.parametrize("name", ["", "x" * 4097])
async def test_a_name_that_cannot_be(call, name):
    refused = await call("PUT", f"/classes/{name}", {"parent": "x"})
    assert_problem(refused, 422)
    assert pointer(refused) == "name"


async def test_other_bodies(call):
    for method, path in (("PUT", "/classes/a"), ("POST", "/classes")):
        assert_problem(await call(method, path, b"{"), 400)
        assert_problem(await call(method, path, b"x=1", headers={"content-type": "text/x"}), 415)
        assert_problem(await call(method, path + "?limit=1", {"parent": "x"}), 422)
    assert_problem(await call("PUT", "/classes/%FF", {"parent": "x"}), 400)
    many = dict.fromkeys(map(str, range(1001)), "above")
    for parents in ({}, many, {"a": []}, {"": "b"}, ["a"]):
        assert_problem(await call("POST", "/classes", {"parents": parents}), 422)
    assert call.app.engine.model.seq == 0


async def test_a_large_body_is_refused_also_with_a_name_in_the_path():
    async with calling(max_body_bytes=2000) as call:
        answer = await call("PUT", "/classes/a", b'{"parent": "' + b"x" * 3000 + b'"}')
        assert_problem(answer, 413)


async def test_events_place_classes_too(call):
    event = {"features": ["a"], "classes": ["x"], "parents": {"x": "y", "y": 5}}
    assert (await call("POST", "/learn", event)).status_code == 200
    assert await path_of(call, "x") == ["5", "y", "x"]
    for parents, status, place in (
        ({"x": "z"}, 409, "#/parents/x"),
        ({"5": "x"}, 422, "#/parents/5"),
        ({"x": 5.5}, 422, "#/parents/x"),
        ({"x": None}, 422, "#/parents"),
        ({"x": ""}, 422, "#/parents/x"),
        (["x"], 422, "#/parents"),
    ):
        refused = await call("POST", "/learn", event | {"parents": parents})
        assert_problem(refused, status)
        assert pointer(refused) == place
        refused = await call("POST", "/learn", {"events": [event, event | {"parents": parents}]})
        assert_problem(refused, status)
        assert pointer(refused) == place.replace("#", "#/events/1")
    assert call.app.engine.model.learner.learned == 1


async def test_in_a_batch_the_event_that_contradicts_an_earlier_one_is_named(call):
    events = [
        {"features": ["a"], "classes": ["x"], "parents": {"x": above}} for above in ("y", "y", "z")
    ]
    refused = await call("POST", "/learn", {"events": events})
    assert_problem(refused, 409)
    assert pointer(refused) == "#/events/2/parents/x"
    assert call.app.engine.model.seq == 0


async def test_the_classes_that_a_request_places_are_bounded(call):
    names = map(str, count())
    events = [
        {"features": ["a"], "classes": ["x"], "parents": dict.fromkeys(islice(names, most), "y")}
        for most in (1000, 1000, 1000, 1000, 1000, 1)
    ]
    refused = await call("POST", "/learn", {"events": events})
    assert_problem(refused, 422)
    assert pointer(refused) == "#/events"
    assert "at most 5000 classes in total; these place 5001" in refused.json()["detail"]
    assert (await call("POST", "/learn", {"events": events[:-1]})).status_code == 200
    [summary] = await call.stream(*events)  # learned in parts
    assert summary["accepted"] == len(events)


async def test_a_stream_is_learned_in_parts_that_place_few_classes(call, monkeypatch):
    placed = []
    monkeypatch.setattr(
        Model, "check_all", lambda _, events: placed.append(sum(len(e.parents) for e in events))
    )
    names = map(str, count())
    await call.stream(
        *(
            {"features": ["a"], "classes": ["x"], "parents": dict.fromkeys(islice(names, 900), "y")}
            for _ in range(20)
        )
    )
    assert max(placed) == 5400  # the line that exceeds 5,000 comes along


async def test_in_a_stream_a_line_that_contradicts_an_earlier_one_is_skipped(call):
    lines = [
        {"features": ["a"], "classes": ["x"], "parents": {"x": above}} for above in ("y", "z", "y")
    ]
    fault, summary = await call.stream(*lines)
    assert (fault["line"], fault["status"]) == (2, 409)
    assert fault["errors"][0]["pointer"] == "#/parents/x"
    assert (summary["accepted"], summary["rejected"]) == (2, 1)
    assert await path_of(call, "x") == ["y", "x"]


async def test_the_same_event_id_with_other_parents_is_another_event(call):
    event = {"features": ["a"], "classes": ["x"], "parents": {"x": "y"}, "event_id": "e"}
    await call("POST", "/learn", event)
    await call("PUT", "/classes/x", {"parent": "z", "move": True})
    assert (await call("POST", "/learn", event)).json()["duplicates"] == 1
    other = await call("POST", "/learn", event | {"parents": {"x": "z"}})
    assert_problem(other, 409)
    assert pointer(other) == "#/event_id"


async def test_two_requests_at_once_that_contradict_each_other(call):
    answers = await asyncio.gather(
        *(call("PUT", "/classes/x", {"parent": above}) for above in ("y", "z"))
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    first = "y" if answers[0].status_code == 200 else "z"
    assert await path_of(call, "x") == [first, "x"]


async def test_two_processes_that_contradict_each_other_end_alike():
    async with side_by_side() as (one, other):
        answers = await asyncio.gather(
            one("PUT", "/classes/x", {"parent": "y"}), other("PUT", "/classes/x", {"parent": "z"})
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        for call in (one, other):
            await call.settled(2)
        assert one.digest() == other.digest()


async def test_the_loss_is_told(call):
    await call("POST", "/classes", {"parents": {"x": "z", "y": "z"}})
    await call.learn(("a", "x"), ("a", "y"), ("b", "x"))
    [learner] = (await call("GET", "/learners")).json()["learners"]
    assert learner["accuracy"]["100"]["taxonomic_loss"] == pytest.approx((1 + 1 + 1) / 3)
    assert learner["accuracy"]["100"]["parent_accuracy"] == pytest.approx(1 / 3)
    metrics = await call.metrics()
    assert metrics['progressive_taxonomic_loss{learner="svm",role="primary"}'] == pytest.approx(1)
    share = metrics['progressive_parent_accuracy{learner="svm",role="primary"}']
    assert share == pytest.approx(1 / 3)


async def test_without_a_taxonomy_no_loss_is_told(call):
    await call.learn(("a", "x"))
    [learner] = (await call("GET", "/learners")).json()["learners"]
    assert learner["accuracy"]["100"]["taxonomic_loss"] is None
    assert learner["accuracy"]["100"]["parent_accuracy"] is None
    metrics = await call.metrics()
    assert not [name for name in metrics if "taxonomic" in name or "parent" in name]


async def texts_of(call, name):
    """Return title, description, other names of a class, and whether it has a vector."""
    shown = (await call("GET", f"/classes/{name}")).json()
    return [shown[key] for key in ("title", "description", "alt_labels", "has_vector")]


async def test_parts_of_a_description_stay_change_and_go(call):
    whole = {"title": " Ice hockey ", "description": "On ice.", "alt_labels": ["Eishockey", ""]}
    answer = await call("PUT", "/classes/h", whole | {"vector": {"int8": "AgE="}})
    assert answer.json() == {"seq": 1}
    assert await texts_of(call, "h") == ["Ice hockey", "On ice.", ["Eishockey"], True]
    await call("PUT", "/classes/h", {"title": "Hockey"})
    assert await texts_of(call, "h") == ["Hockey", "On ice.", ["Eishockey"], True]
    await call("PUT", "/classes/h", {"description": None, "alt_labels": [], "vector": None})
    assert await texts_of(call, "h") == ["Hockey", None, [], False]
    empty = (await call("GET", "/stats")).json()["described"]
    await call("PUT", "/classes/h", {"title": ""})
    assert (empty, (await call("GET", "/stats")).json()["described"]) == (1, 0)


async def test_a_class_is_placed_and_described_together_or_not_at_all(call):
    both = {"parent": "sports", "title": "Ice hockey"}
    assert (await call("PUT", "/classes/h", both)).json() == {"seq": 2}
    assert await path_of(call, "h") == ["sports", "h"]
    before = call.digest()
    refused = await call("PUT", "/classes/h", {"parent": "games", "title": "Other"})
    assert_problem(refused, 409, "#/parent")
    many = {"classes": [{"class": "g", "title": "G"}, {"class": "h", "parent": "games"}]}
    assert_problem(await call("POST", "/classes", many), 409, "#/classes/1/parent")
    assert call.digest() == before
    assert (await texts_of(call, "h"))[0] == "Ice hockey"
    many["move"] = True
    assert (await call("POST", "/classes", many)).json() == {"seq": call.app.engine.model.seq}
    assert await path_of(call, "h") == ["games", "h"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"move": True}, "#"),
        ({"title": 5}, "#/title"),
        ({"title": "x" * 1001}, "#/title"),
        ({"title": "a", "description": ["b"]}, "#/description"),
        ({"alt_labels": "a"}, "#/alt_labels"),
        ({"alt_labels": ["a", 5]}, "#/alt_labels/1"),
        ({"alt_labels": ["a"] * 101}, "#/alt_labels"),
        ({"vector": [1]}, "#/vector"),
        ({"vector": [0, 0]}, "#/vector"),
        ({"vector": [1, "2"]}, "#/vector/1"),
        ({"vector": "AAAA"}, "#/vector"),
        ({"vector": [1] * 4097}, "#/vector"),
        ({"titel": "a"}, "#/titel"),
    ],
)
async def test_a_description_that_cannot_be(call, body, place):
    assert_problem(await call("PUT", "/classes/h", body), 422, place)
    many = {"classes": [{"class": "g", "title": "G"}, {"class": "h"} | body]}
    below = place.removeprefix("#")
    if "move" in body:
        many["classes"][1].pop("move")
    assert_problem(await call("POST", "/classes", many), 422, f"#/classes/1{below}")
    assert call.app.engine.model.seq == 0


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, "#/classes"),
        ({"classes": []}, "#/classes"),
        ({"classes": [{"title": "a"}]}, "#/classes/0/class"),
        ({"classes": [{"class": "", "title": "a"}]}, "#/classes/0/class"),
        ({"classes": [{"class": 1.5, "title": "a"}]}, "#/classes/0/class/0"),
        ({"classes": [{"class": "a", "title": "a"}] * 1001}, "#/classes"),
        (
            {"classes": [{"class": "a", "parent": "b"}, {"class": "a", "parent": "c"}]},
            "#/classes/1/parent",
        ),
        (
            {"parents": {"a": "b"}, "classes": [{"class": "a", "parent": None}]},
            "#/classes/0/parent",
        ),
    ],
)
async def test_descriptions_that_cannot_be(call, body, place):
    assert_problem(await call("POST", "/classes", body), 422, place)
    assert call.app.engine.model.seq == 0


async def test_of_many_classes_the_one_with_a_vector_of_another_dimension_is_named(call):
    classes = [
        {"class": "a", "parent": "b"},
        {"class": "a", "vector": [1, 2]},
        {"class": "c", "vector": [1, 2, 3]},
    ]
    refused = await call("POST", "/classes", {"classes": classes})
    assert_problem(refused, 422, "#/classes/2/vector")
    assert "has 3 numbers; another one of the request has 2" in refused.json()["detail"]
    await call("PUT", "/classes/c", {"vector": [1, 2, 3]})
    before = call.digest()
    assert_problem(await call("POST", "/classes", {"classes": classes}), 422, "#/classes/1/vector")
    assert_problem(await call("PUT", "/classes/a", {"vector": [1, 2]}), 422, "#/vector")
    assert call.digest() == before


async def test_numbers_name_classes_too(call):
    await call("POST", "/classes", {"classes": [{"class": 7.0, "parent": 5, "title": "Seven"}]})
    assert await path_of(call, "7") == ["5", "7"]
    assert (await texts_of(call, "7"))[0] == "Seven"


async def test_a_former_name_describes_its_class(call):
    await call.learn(("a", "old"))
    await call("POST", "/classes/old", {"rename": "new"})
    await call("PUT", "/classes/old", {"title": "New"})
    assert (await texts_of(call, "new"))[0] == "New"


async def test_a_thousand_classes_are_described_at_once(call):
    classes = [{"class": f"c{number}", "title": f"Title {number}"} for number in range(1000)]
    assert (await call("POST", "/classes", {"classes": classes})).json() == {"seq": 1000}
    assert (await call("GET", "/stats")).json()["described"] == 1000


async def test_titles_are_given_by_name(call):
    await call.learn(("a", "old"), ("a", "b"))
    await call("POST", "/classes/old", {"rename": "new"})
    await call("PUT", "/classes/new", {"title": "New"})
    await call("PUT", "/classes/b", {"description": "No title."})
    found = await call("POST", "/titles", {"classes": ["x", "old", "b", "new", "old"]})
    assert found.json()["titles"] == [
        {"class": "old", "title": "New"},
        {"class": "new", "title": "New"},
    ]
    assert_problem(await call("POST", "/titles", {"classes": []}), 422, "#/classes")
    assert_problem(await call("POST", "/titles", {"classes": ["a"] * 1001}), 422, "#/classes")


async def test_a_description_above_a_limit_is_refused():
    async with calling(max_classes=2) as call:
        for name in ("a", "b"):
            await call("PUT", f"/classes/{name}", {"title": name})
        refused = await call("PUT", "/classes/c", {"title": "c", "parent": None})
        assert_problem(refused, 409)
        assert "MANYCLASS_MAX_CLASSES" in refused.json()["detail"]
        assert_problem(
            await call("POST", "/classes", {"classes": [{"class": "c", "title": "c"}]}), 409
        )
        await call("PUT", "/classes/a", {"title": None})
        assert (await call("PUT", "/classes/c", {"title": "c"})).json() == {"seq": 4}

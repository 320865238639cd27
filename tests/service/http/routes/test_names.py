from urllib.parse import quote

import pytest

from tests.service.serving import assert_problem

STRANGE = [
    "a/b",
    "/",
    "//x/",
    "a b",
    "a%2Fb",
    "?a=b#c",
    "Grüße",
    "日本",
    "a\nb\n",
    "\0",
    "..x",
    "🙂",
    "+",
]
UNDESCRIBED = {"title": None, "description": None, "alt_labels": [], "has_vector": False}


def path(kind, name):
    return f"/{kind}/{quote(name, safe='')}"


@pytest.mark.parametrize("name", STRANGE)
async def test_names_are_any_unicode(call, name):
    event = {"features": [name], "classes": [name]}
    await call("POST", "/learn", event)
    found = (await call("GET", path("classes", name))).json()
    assert (found["class"], found["learned"]) == (name, 1)
    assert [each["feature"] for each in found["features"]] == [name]
    feature = (await call("GET", path("features", name))).json()
    assert (feature["feature"], feature["times_seen"], feature["outdegree"]) == (name, 1, 1)
    assert [each["class"] for each in feature["edges"]] == [name]
    assert (await call("DELETE", path("classes", name))).json() == {"seq": 2}
    assert_problem(await call("GET", path("classes", name)), 404)
    assert (await call("GET", path("features", name))).json()["edges"] == []
    assert (await call("DELETE", path("features", name))).json() == {"seq": 3}
    assert_problem(await call("GET", path("features", name)), 404)


async def test_a_former_name_answers_the_class_as_it_is_now(call):
    await call.learn(("a", "x"), ("b", "y"), ("c", "z"))
    await call("POST", "/classes/x", {"rename": "now"})
    await call("POST", "/classes/y", {"merge_into": "now"})
    for name in ("x", "y", "now"):
        found = (await call("GET", f"/classes/{name}")).json()
        assert (found["class"], found["former_names"]) == ("now", ["x", "y"])
        assert found["features"]
    assert (await call("GET", "/classes/z")).json()["former_names"] == []
    for method, body in (("POST", {"rename": "more"}), ("DELETE", None)):
        problem = assert_problem(await call(method, "/classes/x", body), 404)
        assert problem["detail"] == "no class is named 'x': it is a former name of 'now'"
    await call("PUT", "/classes/x", {"parent": "above"})
    assert (await call("GET", "/classes/x")).json()["path"] == ["above", "now"]
    await call("PUT", "/classes/z", {"parent": "x"})
    for name in ("x", "now"):
        nodes = (await call("GET", f"/taxonomy?parent={name}")).json()["nodes"]
        assert [each["class"] for each in nodes] == ["z"]
        events = (await call("GET", f"/events?class={name}")).json()["events"]
        assert sorted(each["seq"] for each in events) == [1, 2]


async def test_the_heaviest_edges_come_first(call):
    await call.learn(("a b", "x"), ("a c", "x"), ("a", "x"), ("a", "y"))
    found = (await call("GET", "/classes/x")).json()
    assert found["learned"] == 3
    weights = [each["weight"] for each in found["features"]]
    assert weights == sorted(weights, key=abs, reverse=True)
    assert len(weights) == 3
    assert len((await call("GET", "/classes/x?limit=1")).json()["features"]) == 1
    feature = (await call("GET", "/features/a")).json()
    assert (feature["times_seen"], feature["rating"]) == (4, 1.0)
    weights = [each["weight"] for each in feature["edges"]]
    assert weights == sorted(weights, key=abs, reverse=True)
    assert {each["class"] for each in feature["edges"]} == {"x", "y"}


async def test_classes_are_listed_with_their_paths_in_the_taxonomy(call):
    await call.learn(("a", "rivers"), ("b", "roads"))
    await call("PUT", "/classes/rivers", {"parent": "nature"})
    found = (await call("GET", "/classes")).json()["classes"]
    assert found == [
        {"class": "rivers", "learned": 1, "path": ["nature", "rivers"], **UNDESCRIBED},
        {"class": "roads", "learned": 1, "path": [], **UNDESCRIBED},
    ]


async def test_former_names_are_listed_with_the_class_that_they_count_for(call):
    await call.learn(("a", "Refund"), ("b", "refund"), ("c", "bus"))
    await call("POST", "/classes/refund", {"merge_into": "Refund"})
    await call("POST", "/classes/bus", {"rename": "coach"})
    await call("POST", "/classes/coach", {"rename": "coaches"})
    found = (await call("GET", "/aliases?limit=2")).json()
    assert found["aliases"] == [
        {"former": "bus", "class": "coaches"},
        {"former": "coach", "class": "coaches"},
    ]
    more = (await call("GET", f"/aliases?limit=2&after={found['next']}")).json()
    assert more == {"aliases": [{"former": "refund", "class": "Refund"}], "next": None}
    await call("POST", "/classes/bus", {"release": True})
    assert len((await call("GET", "/aliases")).json()["aliases"]) == 2


async def test_classes_come_in_pages(call):
    await call.learn(*(("a", f"x{n:02}") for n in range(25)), ("a", "y"), ("a", "é"))
    seen, after = [], ""
    while after is not None:
        page = await call("GET", "/classes", params={"limit": 10, "after": after})
        seen += [each["class"] for each in page.json()["classes"]]
        after = page.json()["next"]
    assert seen == [*(f"x{n:02}" for n in range(25)), "y", "é"]
    some = (await call("GET", "/classes?prefix=x1")).json()
    assert [each["class"] for each in some["classes"]] == [f"x1{n}" for n in range(10)]
    assert some["next"] is None
    assert (await call("GET", "/classes?prefix=é")).json()["classes"] == [
        {"class": "é", "learned": 1, "path": [], **UNDESCRIBED}
    ]
    assert (await call("GET", "/classes?prefix=z")).json() == {"classes": [], "next": None}


async def test_features_come_in_pages(call):
    await call.learn(*((f"f{n:02} all", "x") for n in range(25)), ("é all", "y"))
    seen, after = [], ""
    while after is not None:
        page = await call("GET", "/features", params={"limit": 10, "after": after})
        seen += page.json()["features"]
        after = page.json()["next"]
    names = ["all", *(f"f{n:02}" for n in range(25)), "é"]
    assert [each["feature"] for each in seen] == names
    assert [each["times_seen"] for each in seen] == [26, *[1] * 26]
    some = (await call("GET", "/features?prefix=f1&limit=3")).json()
    assert [each["feature"] for each in some["features"]] == ["f10", "f11", "f12"]
    assert some["next"] == "f12"
    assert (await call("GET", "/features?prefix=z")).json() == {"features": [], "next": None}


@pytest.mark.parametrize("limit", ["0", "1001", "x", "1.5", ""])
@pytest.mark.parametrize("kind", ["classes", "features"])
async def test_refuses_limits_that_make_no_sense(call, kind, limit):
    problem = assert_problem(await call("GET", f"/{kind}?limit={limit}"), 422)
    assert [fault["parameter"] for fault in problem["errors"]] == ["limit"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("kind", ["classes", "features"])
async def test_unknown_and_impossible_names(call, method, kind):
    await call.learn(("a", "x"))
    before = call.digest()
    assert_problem(await call(method, f"/{kind}/nobody"), 404)
    assert_problem(await call(method, f"/{kind}/%FF"), 400)
    assert_problem(await call(method, f"/{kind}/%ED%A0%80"), 400)
    assert_problem(await call(method, f"/{kind}/"), 422)
    assert_problem(await call(method, f"/{kind}/" + "x" * 4097), 422)
    assert_problem(
        await call(method, f"/{kind}/" + quote("é" * 2049)), 404 if method == "GET" else 422
    )
    assert call.digest() == before


async def listed(call, **parameters):
    """Return the classes of a page with their events, and the next name."""
    page = (await call("GET", "/classes", params=parameters)).json()
    return [(each["class"], each["learned"]) for each in page["classes"]], page["next"]


async def every(call, **parameters):
    """Return the classes of all pages of 2."""
    names, after = [], ""
    while after is not None:
        page, after = await listed(call, limit=2, after=after, **parameters)
        names += [name for name, _ in page]
    return names


async def test_described_classes_are_listed_before_their_first_event(call):
    await call.learn(("a", "b"), ("a", "d"), ("a", "d"), ("a", "f"))
    described = [{"class": name, "title": name.upper()} for name in ("a", "d", "e", "g", "é")]
    assert (await call("POST", "/classes", {"classes": described})).json() == {"seq": 9}
    assert await listed(call) == (
        [("a", 0), ("b", 1), ("d", 2), ("e", 0), ("f", 1), ("g", 0), ("é", 0)],
        None,
    )
    assert await every(call) == ["a", "b", "d", "e", "f", "g", "é"]
    assert await every(call, order="events") == ["d", "b", "f", "a", "e", "g", "é"]
    assert await every(call, order="newest") == ["f", "d", "b", "a", "e", "g", "é"]
    assert await listed(call, prefix="e") == ([("e", 0)], None)
    await call("PUT", "/classes/e", {"title": None})
    assert "e" not in await every(call)
    assert "e" not in await every(call, order="events")


async def test_a_search_finds_classes_by_all_their_names(call):
    await call.learn(("a", "Waste"), ("a", "water"), ("a", "c-7"))
    described = [
        {"class": "c-7", "title": "Großmüll", "alt_labels": ["Waste, bulky", "déchets"]},
        {"class": "c-8", "title": "Tap water"},
        {"class": "c-9", "title": "日本の水"},
        {"class": "credit_card"},
    ]
    described[-1]["description"] = "Wasting money"
    await call("POST", "/classes", {"classes": described})
    assert await every(call, search="was") == ["Waste", "c-7"]  # no description is searched
    assert await every(call, search="GROSSMULL") == ["c-7"]
    assert await every(call, search="Dechets") == ["c-7"]
    assert await every(call, search="déch") == ["c-7"]
    assert await every(call, search="wat") == ["water", "c-8"]  # a beginning before a word
    assert await every(call, search="ater") == ["c-8"]  # inside of a described one alone
    assert await every(call, search="水") == ["c-9"]
    assert await every(call, search="card") == ["credit_card"]
    assert await every(call, search="c-") == ["c-7", "c-8", "c-9"]
    assert await every(call, search="w", prefix="c-") == ["c-7", "c-8"]
    assert await every(call, search="w", prefix="wa") == ["water"]
    assert await every(call, search="(") == []
    assert await every(call, search="  ") == await every(call)
    assert await listed(call, search="tap") == ([("c-8", 0)], None)
    assert await listed(call, search="was") == ([("Waste", 1), ("c-7", 1)], None)


async def test_a_search_follows_each_change(call):
    await call("PUT", "/classes/c-7", {"title": "Waste"})
    assert await every(call, search="was") == ["c-7"]
    await call("PUT", "/classes/c-7", {"title": "Water"})
    assert await every(call, search="was") == []
    await call("POST", "/classes/c-7", {"rename": "c-8"})
    assert await every(call, search="wat") == ["c-8"]
    await call("DELETE", "/classes/c-8")
    assert await every(call, search="wat") == []


async def test_a_described_class_without_an_event_is_shown_and_forgotten(call):
    described = {"title": "Waste", "description": "What is left.", "alt_labels": ["rubbish"]}
    await call("PUT", "/classes/c-7", described | {"vector": [0.5, -1, 2]})
    shown = (await call("GET", "/classes/c-7")).json()
    assert {**shown, **described, "has_vector": True, "learned": 0, "features": []} == shown
    assert (await call("GET", "/stats")).json()["described"] == 1
    assert (await call("DELETE", "/classes/c-7")).status_code == 200
    assert_problem(await call("GET", "/classes/c-7"), 404)
    assert (await call("GET", "/stats")).json()["described"] == 0


async def test_a_taxonomy_shows_titles(call):
    await call("POST", "/classes", {"classes": [{"class": "a", "parent": "b", "title": "A!"}]})
    assert (await call("GET", "/taxonomy")).json()["nodes"][0]["title"] is None
    assert (await call("GET", "/taxonomy?parent=b")).json()["nodes"][0]["title"] == "A!"

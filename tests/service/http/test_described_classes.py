"""Answers have the titles of the model in use, and a search folds texts in any thread."""

import json
from threading import Thread

import pytest

from manyclass.core.descriptions import Description, Descriptions
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.http import described_classes
from manyclass.service.http.described_classes import DescribedClasses, NameSearch, folded
from manyclass.service.http.titles import Titles
from tests.service.faulty import Clock, FaultyStore
from tests.service.http.two_ways import rank, two_ways
from tests.service.serving import assert_problem, calling, side_by_side


def of(**titles):
    """Return descriptions with these titles."""
    descriptions = Descriptions()
    for name, title in titles.items():
        descriptions.put(name, Description(title))
    return descriptions


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Ice HOCKEY", "ice hockey"),
        ("Straße", "strasse"),
        ("ÉTÉ à Łódź", "ete a łodz"),
        ("ﬁne", "fine"),
    ],
)
def test_case_and_accents_do_not_count(text, plain):
    assert folded(text) == plain


def test_a_search_yields_beginnings_words_and_the_rest():
    search = NameSearch(of(a="Ice hockey", b="An ice cream", c="Nice", d="fire", ice="x"))
    assert [sorted(each) for each in search.find("ICE")] == [["a", "ice"], ["b"], ["c"]]


def test_a_search_and_a_preparation_may_run_at_once(monkeypatch):
    monkeypatch.setattr(described_classes, "MOST_FOLDED", 10)
    monkeypatch.setattr(described_classes, "AT_ONCE", 1)
    descriptions = of(**{f"c{number}": f"Title {number}" for number in range(2000)})
    search, failed = NameSearch(descriptions), []

    def run(work):
        try:
            work()
        except Exception as error:
            failed.append(error)

    works = [search.prepare, lambda: [*search.find("title")], search.prepare]
    threads = [Thread(target=run, args=(work,)) for work in works]
    for each in threads:
        each.start()
    for number in range(2000):
        descriptions.put(f"c{number}", Description(f"Other {number}"))
        search.note(f"c{number}")
    for each in threads:
        each.join()
    assert not failed
    assert sum(map(len, search.find("other"))) == 2000
    assert sum(map(len, search.find("title"))) == 0


def test_a_large_model_is_prepared_in_a_thread(monkeypatch):
    monkeypatch.setattr(described_classes, "MOST_FOLDED", 1)
    prepared = []
    monkeypatch.setattr(NameSearch, "prepare", lambda search: prepared.append(search))
    model = Model(Options.of("svm"))
    described = DescribedClasses()
    described.use(model)
    assert not prepared
    model.descriptions = of(a="A", b="B")
    described.use(model)
    assert prepared == [described.search]
    model.descriptions = of(a="A")
    described.use(model)
    model.descriptions.put("b", Description("B"))  # the second of many changes
    model.descriptions.put("c", Description("C"))
    assert prepared[1:] == [described.search]


def test_a_model_that_is_no_longer_used_changes_no_title():
    models = [Model(Options.of("svm")) for _ in range(2)]
    described = DescribedClasses()
    for each in models:
        described.use(each)
    models[0].descriptions.put("a", Description("A"))
    assert len(described.titles) == 0
    models[1].descriptions.put("b", Description("B"))
    assert len(described.titles) == 1
    described.use(None)
    assert len(described.titles) == 0


def test_titles_are_replaced_and_removed():
    titles = Titles()
    titles.put("a", "A")
    titles.put("a", "B")
    titles.put("b", "")
    assert len(titles) == 1
    titles.put("a", None)
    assert len(titles) == 0
    titles.replace([("x", "X"), ("y", None), ("z", "Z")])
    assert len(titles) == 2


TITLE = 'Ice "hockey"\n\x01\\ é 日本'
INSTANCE = {"features": ["a"]}


@pytest.mark.parametrize(
    "body",
    [
        INSTANCE | {"id": "q"},
        INSTANCE | {"id": "q", "probabilities": True},
        {"instances": [INSTANCE, INSTANCE], "k": 1},
        INSTANCE | {"id": "q", "source": "anna", "k": 2.0},  # read by Python
    ],
)
async def test_all_tiers_write_the_same_titles(body):
    async with two_ways() as both:
        events = [{"features": ["a"], "classes": [name]} for name in ("x", "x", "y")]
        await both.learn(events)
        for way in (both.native, both.python):
            await way.call("PUT", "/classes/x", {"title": TITLE})
        answer, _ = await both.talk(rank(json.dumps(body).encode()))
        found = json.loads(answer.partition(b"\r\n\r\n")[2])
        ranked = found.get("results", [found])[0]["ranked"]
        assert [each.get("title") for each in ranked] == [TITLE, None][: len(ranked)]


@pytest.mark.parametrize(
    "more", [{}, {"explain": True}, {"among": ["x", "y"]}, {"decode": "taxo"}, {"id": "q"}]
)
async def test_titles_are_in_rankings_of_every_kind(call, more):
    await call.learn(("a", "x"), ("a", "x"), ("a", "y"))
    body = INSTANCE | more
    await call("PUT", "/classes/x", {"parent": "z"})
    for title in ("X", "Other", None):
        await call("PUT", "/classes/x", {"title": title})
        ranked = (await call("POST", "/rank", body)).json()["ranked"]
        assert {each["class"]: each.get("title") for each in ranked} == {"x": title, "y": None}


async def titles(call):
    """Return the title of each ranked class."""
    ranked = (await call("POST", "/rank", INSTANCE)).json()["ranked"]
    return {each["class"]: each.get("title") for each in ranked}


async def test_a_renamed_class_keeps_its_title_and_a_forgotten_one_loses_it(call):
    await call.learn(("a", "x"), ("a", "x"))
    await call("PUT", "/classes/x", {"title": "X"})
    await call("POST", "/classes/x", {"rename": "y"})
    assert await titles(call) == {"y": "X"}
    await call("DELETE", "/classes/y")
    await call.learn(("a", "y"), ("a", "y"))
    assert await titles(call) == {"y": None}


async def test_titles_are_there_after_a_restart_with_and_without_a_snapshot():
    store = FaultyStore(Clock())
    for is_snapshot in (False, True):
        async with calling(store=store) as call:
            await call.learn(("a", "x"))
            await call("PUT", "/classes/x", {"title": "X"})
            await call("PUT", "/classes/new", {"alt_labels": ["Neu"]})
            if is_snapshot:
                await call("POST", "/snapshots")
        async with calling(store=store) as call:
            assert await titles(call) == {"x": "X"}
            found = (await call("GET", "/classes?search=neu")).json()["classes"]
            assert [each["class"] for each in found] == ["new"]


async def test_a_restore_goes_back_to_the_titles_of_its_snapshot(call):
    await call.learn(("a", "x"))
    await call("PUT", "/classes/x", {"title": "Before"})
    seq = (await call("POST", "/snapshots")).json()["seq"]
    await call("PUT", "/classes/x", {"title": "After"})
    await call("PUT", "/classes/y", {"title": "Y"})
    await call("POST", f"/snapshots/{seq}/restore")
    assert await titles(call) == {"x": "Before"}
    assert_problem(await call("GET", "/classes/y"), 404)
    assert (await call("GET", "/classes?search=y")).json()["classes"] == []


async def test_titles_come_to_other_processes_with_the_event():
    async with side_by_side() as (one, two):
        await one.learn(("a", "x"))
        await one("PUT", "/classes/x", {"title": "X"})
        await two.settled(2)
        assert await titles(two) == {"x": "X"}
        await two("PUT", "/classes/x", {"title": None})
        await one.settled(3)
        assert await titles(one) == {"x": None}

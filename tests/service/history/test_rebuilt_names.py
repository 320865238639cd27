"""A rebuild after classes were renamed, merged and released."""

import asyncio
from contextlib import closing

import pytest

from manyclass.core.errors import RenameConflict, UnknownName
from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.store.sqlite.store import SqliteStore
from tests.service.engines import running, teach
from tests.service.faulty import learn
from tests.service.history.amending import LEARNERS, content, rebuilt, taught


@pytest.mark.parametrize("learner", [*LEARNERS, "oplt", "frequency"])
async def test_a_renamed_class_was_always_called_so(learner):
    texts = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]
    async with running(learner=learner) as (engine, _):
        options = engine.model.options
        await teach(engine, *texts[:20])
        await engine.submit([Event.rename("c1", "k1")])
        await teach(engine, *texts[20:30])  # c1 stands for k1
        await engine.submit([Event.rename("k1", "one")])
        await teach(engine, *texts[30:])
        now = [learn(*text.replace("c1", "one").split(" -> ")) for text in texts]
        expected = content(taught(options, now))
        facts, arrays = content(engine.model)
        assert facts.pop("aliases") == {"c1": "one", "k1": "one"}
        assert (facts, arrays) == expected  # without a rebuild
        digest = Model.load(engine.model.dump()).digest()
        assert digest == engine.model.digest()
        await engine.rebuild_state()
        assert engine.model.digest() == digest
        assert engine.history.find(2).classes == ["one"]


@pytest.mark.parametrize("learner", [*LEARNERS, "oplt", "frequency"])
async def test_a_merged_class_was_always_the_other(learner):
    texts = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]
    async with running(learner=learner) as (engine, _):
        options = engine.model.options
        await teach(engine, *texts[:20])
        await engine.submit([Event.rename("c1", "c2", merges=True)])
        assert not engine.model.has_class("c1")
        await teach(engine, *texts[20:])
        await rebuilt(engine)
        now = [learn(*text.replace("c1", "c2").split(" -> ")) for text in texts]
        facts, arrays = content(engine.model)
        assert facts.pop("aliases") == {"c1": "c2"}
        assert (facts, arrays) == content(taught(options, now))


async def test_a_class_may_get_its_former_name_again():
    async with running(learner="svm") as (engine, _):
        await teach(engine, "a -> x", "b -> y")
        await engine.submit([Event.rename("x", "z")])
        await engine.submit([Event.rename("z", "x")])
        await teach(engine, "a -> z")
        await engine.rebuild_state()
        facts, arrays = content(engine.model)
        assert facts.pop("aliases") == {"z": "x"}
        expected = [learn("a", "x"), learn("b", "y"), learn("a", "x")]
        assert (facts, arrays) == content(taught(engine.model.options, expected))


@pytest.mark.parametrize("merges", [True, False])
async def test_a_released_name_was_never_that_of_another_class(tmp_path, merges):
    texts = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]

    def opened():
        return SqliteStore(tmp_path / "a.db", lambda: 1.0)

    async with running(opened(), learner="svm") as (engine, _):
        await teach(engine, *texts[:20])
        await engine.submit([Event.rename("c1", "c2" if merges else "k", merges)])
        await teach(engine, *texts[20:30])
        with pytest.raises(UnknownName, match="former name"):
            await engine.submit([Event.release("c2")])
        await engine.submit([Event.release("c1")])
        assert engine.model.aliases == {}
        assert engine.model.merged == engine.model.seq
    async with running(opened(), learner="svm") as (engine, _):
        await teach(engine, *texts[30:])
        await engine.rebuild_state()
        now = [learn(*text.split(" -> ")) for text in texts]
        assert content(engine.model) == content(taught(engine.model.options, now))
        assert engine.history.find(2).classes == ["c1"]


async def test_names_that_cannot_be_are_refused():
    async with running(learner="svm") as (engine, _):
        await teach(engine, "a -> x", "b -> y", "c -> t")
        with pytest.raises(UnknownName):
            await engine.submit([Event.rename("nobody", "z")])
        with pytest.raises(RenameConflict, match="merge"):
            await engine.submit([Event.rename("x", "y")])
        await engine.submit([Event.place({"t": "top"})])
        with pytest.raises(RenameConflict, match="merge"):
            await engine.submit([Event.rename("x", "top")])
        await engine.submit([Event.rename("x", "z")])
        with pytest.raises(UnknownName):
            await engine.submit([Event.rename("x", "w")])


async def test_a_trained_class_is_renamed_too(tmp_path):
    path = tmp_path / "a.db"
    with closing(SqliteStore(path, lambda: 1.0)) as store:
        trained = taught(Options.parse("svm"), [learn("a b", "x"), learn("c d", "y")])
        store.save_snapshot(2, trained.dump())
    async with running(SqliteStore(path, lambda: 1.0), learner="svm") as (engine, _):
        await teach(engine, "e f -> x")
        await engine.submit([Event.rename("x", "z")])
        await engine.rebuild_state()
        expected = [learn("a b", "z"), learn("c d", "y"), learn("e f", "z")]
        facts, arrays = content(engine.model)
        assert facts.pop("aliases") == {"x": "z"}
        assert (facts, arrays) == content(taught(Options.parse("svm"), expected))


async def test_a_merge_whose_rebuild_was_cut_off_is_rebuilt_after_a_restart(tmp_path):
    path = tmp_path / "a.db"
    async with running(SqliteStore(path, lambda: 1.0), learner="svm") as (engine, _):
        await teach(engine, "a -> x", "b -> y")
        await engine.submit([Event.rename("x", "y", merges=True)])  # nothing ticks: no rebuild
        assert engine.model.merged == 3
        assert Model.load(engine.model.dump()).merged == 3
    async with running(SqliteStore(path, lambda: 1.0), learner="svm") as (engine, _):
        assert engine.model.merged == engine.rebuild_status().merged == 3
        assert engine.model.learner.class_("y", 10)["learned"] == 1
        engine.tick()
        async with asyncio.timeout(60):
            while engine.model.merged:
                await asyncio.sleep(0.01)
        assert engine.model.learner.class_("y", 10)["learned"] == 2
        assert Model.load(engine.model.dump()).merged == 0
        assert engine.rebuild_status().merged is None


@pytest.mark.parametrize(("gone", "kept"), [("x", ["b", "d"]), ("y", ["a", "c", "d"])])
async def test_a_class_that_was_forgotten_before_a_merge_takes_nothing_from_the_other(gone, kept):
    async with running(learner="svm") as (engine, _):
        options = engine.model.options
        await teach(engine, "a -> x", "b -> y", "c -> x", "e -> z")
        await engine.submit([Event.forget_class(gone)])
        await teach(engine, f"d -> {gone}")
        await engine.submit([Event.rename("x", "y", merges=True)])
        await rebuilt(engine)
        events = {name: learn(name, "y") for name in kept} | {"e": learn("e", "z")}
        order = [events[name] for name in "abced" if name in events]
        facts, arrays = content(engine.model)
        assert facts.pop("aliases") == {"x": "y"}
        assert (facts, arrays) == content(taught(options, order))
        await engine.submit([Event.forget_class("y")])  # forgets both
        await rebuilt(engine)
        assert not engine.model.has_class("y")


async def test_descriptions_stay_through_a_rebuild_and_a_merge_keeps_those_of_the_other():
    async with running(learner="svm") as (engine, _):
        await teach(engine, "a -> x", "b -> y", "c -> z")
        for name, changes in (
            ("y", {"title": "Y", "vector": [1, 2]}),
            ("x", {"title": "X", "alt_labels": ["ex"]}),  # later than that of y
            ("z", {"title": "Z"}),
            ("z", {"title": None, "description": "Last."}),
        ):
            await engine.submit([Event.describe(name, changes)])
        await engine.submit([Event.rename("x", "y", merges=True)])
        before = dict(engine.model.descriptions)
        assert (before.keys(), before["y"].title) == ({"y", "z"}, "Y")
        await rebuilt(engine)
        assert dict(engine.model.descriptions) == before
        assert engine.model.has_class("z")


async def test_a_description_that_was_removed_is_not_back_after_a_rebuild(tmp_path):
    async with running(SqliteStore(tmp_path / "a.db", lambda: 1.0), learner="svm") as (engine, _):
        await teach(engine, "a -> x", "b -> y")
        empty = taught(engine.model.options, [learn("a", "x"), learn("b", "y")])
        await engine.submit([Event.describe("x", {"title": "X", "vector": [1, 2]})])
        await engine.submit([Event.describe("new", {"title": "New"})])
        await engine.take_snapshot()  # trims the log
        await engine.rebuild_state()
        assert {name: each.title for name, each in engine.model.descriptions.items()} == {
            "new": "New",
            "x": "X",
        }
        await engine.submit([Event.describe("x", {"title": None, "vector": None})])
        await engine.submit([Event.forget_class("new")])
        await engine.rebuild_state()
        assert content(engine.model) == content(empty)


@pytest.mark.parametrize("gone", ["x", "y"])
async def test_a_forgotten_class_takes_its_description_along_when_it_is_merged_later(gone):
    async with running(learner="svm") as (engine, _):
        await teach(engine, "a -> x", "b -> y")
        await engine.submit([Event.describe(gone, {"title": "Gone"})])
        await engine.submit([Event.forget_class(gone)])
        await teach(engine, f"d -> {gone}")
        await engine.submit([Event.rename("x", "y", merges=True)])
        await rebuilt(engine)
        assert dict(engine.model.descriptions) == {}

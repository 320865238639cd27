"""Classes of a taxonomy that are renamed and merged, and a rebuild afterwards."""

import asyncio
from types import SimpleNamespace

import pytest

from manyclass.core.errors import RenameConflict
from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.log.adoption import adopted_state
from tests.service.engines import running, teach
from tests.service.faulty import learn
from tests.service.history.amending import content, rebuilt, taught

TREE = {"c0": "low", "c1": "low", "c2": "high", "low": "all", "high": "all", "c3": "c1"}
TEXTS = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]
LEARNERS = ["svm", "path", "hieron", "svm(cost=sqrt)", "committee(members=path+svm)", "frequency"]


def named(texts, name, to):
    return [learn(*text.replace(f"-> {name}", f"-> {to}").split(" -> ")) for text in texts]


def tree_of(model: Model) -> dict[str, str | None]:
    """Return the parent of each node of the tests."""
    names = {"c0", "c1", "c2", "c3", "c4", "low", "high", "all", "one", "other"}
    return {name: model.taxonomy.parent(name) for name in names if name in model.taxonomy}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", ["c1", "low", "c0"])
async def test_a_renamed_class_was_always_called_so(learner, name):
    async with running(learner=learner) as (engine, _):
        options = engine.model.options
        await engine.submit([Event.place(TREE)])
        await teach(engine, *TEXTS[:20])
        await engine.submit([Event.rename(name, "one")])
        await engine.submit([Event.place({"c4": name})])  # a former name stands for the class
        await teach(engine, *TEXTS[20:])
        now = {
            a: b
            for a, b in ((k.replace(name, "one"), v.replace(name, "one")) for k, v in TREE.items())
        }
        first, last = named(TEXTS[:20], name, "one"), named(TEXTS[20:], name, "one")
        expected = content(
            taught(options, [Event.place(now), *first, Event.place({"c4": "one"}), *last])
        )
        facts, arrays = content(engine.model)
        assert facts.pop("aliases") == {name: "one"}
        assert (facts, arrays) == expected  # without a rebuild
        digest = engine.model.digest()
        assert Model.load(engine.model.dump()).digest() == digest
        await engine.rebuild_state()
        assert engine.model.digest() == digest


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    ("name", "to", "tree"),
    [
        ("c1", "c2", {"c0": "low", "c2": "high", "low": "all", "high": "all", "c3": "c2"}),
        ("c4", "c1", TREE),  # only the other has a node
        (
            "c1",
            "c4",
            {"c0": "low", "c4": "low", "c2": "high", "low": "all", "high": "all", "c3": "c4"},
        ),
        ("c3", "c1", {"c0": "low", "c1": "low", "c2": "high", "low": "all", "high": "all"}),
        ("c1", "c3", {"c0": "low", "c3": "low", "c2": "high", "low": "all", "high": "all"}),
        ("low", "c3", {"c0": "c3", "c1": "c3", "c3": "all", "c2": "high", "high": "all"}),
        ("low", "high", {"c0": "high", "c1": "high", "c2": "high", "high": "all", "c3": "c1"}),
    ],
)
async def test_a_merged_class_takes_its_children_along(learner, name, to, tree):
    async with running(learner=learner) as (engine, _):
        await engine.submit([Event.place(TREE)])
        await teach(engine, *TEXTS[:20])
        await engine.submit(engine.model.merge(name, to))
        assert tree_of(engine.model) == {"all": None, **tree}
        assert not engine.model.has_class(name)
        ranked = engine.model.rank(learn("f0 g1 g2", "c0").instance, 10)
        assert ranked
        assert name not in dict(ranked)
        digest = engine.model.digest()
        assert Model.load(engine.model.dump()).digest() == digest
        await teach(engine, *TEXTS[20:])
        await rebuilt(engine)
        assert tree_of(engine.model) == {"all": None, **tree}
        assert not engine.model.has_class(name)
        digest = engine.model.digest()
        assert Model.load(engine.model.dump()).digest() == digest


async def test_a_class_that_was_placed_first_below_the_merged_one_ends_where_it_was():
    tree = {"x": "b", "b": "x2", "a": "x"}  # a replay meets b below a, and a below b
    async with running(learner="path") as (engine, _):
        await engine.submit([Event.place(tree)])
        await engine.submit(engine.model.merge("b", "a"))
        expected = {name: engine.model.taxonomy.parent(name) for name in ("a", "x", "x2")}
        assert expected == {"a": "x2", "x": "a", "x2": None}
        await rebuilt(engine)
        assert {name: engine.model.taxonomy.parent(name) for name in expected} == expected
        assert "b" not in engine.model.taxonomy


async def test_what_cannot_be_merged_is_refused():
    async with running(learner="path") as (engine, _):
        deep = {f"d{n}": f"d{n - 1}" for n in range(1, 31)}
        await engine.submit([Event.place({**deep, "e1": "e0", "e2": "e1"})])
        with pytest.raises(RenameConflict, match="path"):
            await engine.submit(engine.model.merge("e0", "d30"))
        with pytest.raises(RenameConflict, match="merge"):
            await engine.submit([Event.rename("e0", "d1")])
        digest = engine.model.digest()
        assert Model.load(engine.model.dump()).digest() == digest
        assert engine.model.taxonomy.parent("e1") == "e0"


@pytest.mark.parametrize("learner", LEARNERS)
async def test_a_class_is_merged_into_one_far_below_it(learner):
    async with running(learner=learner) as (engine, _):
        await engine.submit([Event.place({"c": "d", "a": "c"})])
        await teach(engine, "x -> a", "y -> d", "z -> c")
        await engine.submit(engine.model.merge("d", "a"))
        expected = {"a": None, "c": "a"}
        assert {name: engine.model.taxonomy.parent(name) for name in expected} == expected
        assert "d" not in engine.model.taxonomy
        await rebuilt(engine)
        assert {name: engine.model.taxonomy.parent(name) for name in expected} == expected


async def test_a_class_that_moved_to_the_top_is_renamed_and_rebuilt():
    async with running(learner="path") as (engine, _):
        await engine.submit([Event.place({"m": "p"})])
        await engine.submit([Event.place({"m": None}, moves=True)])
        await teach(engine, "x -> m")
        await engine.submit([Event.rename("m", "k")])
        await engine.submit([Event.place({"m": None}, moves=True)])  # by its former name
        assert engine.model.taxonomy.path("k") == ["k"]
        await engine.rebuild_state()
        assert engine.model.taxonomy.path("k") == ["k"]


async def test_an_event_outlives_a_placement_that_a_rebuild_cannot_repeat():
    """The replay has placed the class by its former name already, below another parent."""
    async with running(learner="svm") as (engine, _):
        await engine.submit([Event.place({"a": "top"})])
        await teach(engine, "w -> a", "z -> b")
        await engine.submit([placing("b", "low")])
        await engine.submit([Event.rename("a", "b", merges=True)])
        await rebuilt(engine)
        assert engine.model.learner.class_("b", 10)["learned"] == 3
        assert engine.model.taxonomy.parent("b") == "top"


async def test_an_event_taught_during_a_rebuild_outlives_its_placement():
    async with running(learner="svm") as (engine, _):
        relearn, loop = engine.rebuild._relearning.learn, asyncio.get_running_loop()

        def learned(*arguments):
            state = relearn(*arguments)
            state.taxonomy.place("b", "top")
            taught_now = engine.submit([placing("b", "low")])
            asyncio.run_coroutine_threadsafe(taught_now, loop).result(30)
            return state

        engine.rebuild._relearning.learn = learned
        await teach(engine, "z -> b")
        await rebuilt(engine)
        assert engine.model.learner.class_("b", 10)["learned"] == 2
        assert engine.model.taxonomy.parent("b") == "top"


def placing(name: str, parent: str) -> Event:
    return Event.learn(learn("x y", name).instance, [name], parents={name: parent})


def test_an_event_behind_a_rebuilt_state_outlives_its_placement():
    """A process that adopts the state applies the events that were answered since it was made."""
    rebuilt_state = taught(Options.of("svm"), [Event.place({"b": "top"})])

    class Store:
        rebuilt_states = SimpleNamespace(open=lambda token: rebuilt_state.dump())

        def read(self, after):
            yield after + 1, bytes(placing("b", "low"))

    adopted = adopted_state(Store(), "token", 3, [], 0)
    assert adopted.learner.class_("b", 10)["learned"] == 1
    assert adopted.taxonomy.parent("b") == "top"

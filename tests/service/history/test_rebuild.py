"""A rebuild: the state is as if the amended events had been taught from the start."""

import asyncio
import sqlite3

import pytest
from hypothesis import given

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.service.errors import RebuildRefused
from manyclass.service.history.reader import Filter
from manyclass.service.store.sqlite.store import SqliteStore
from tests.hypothesis_examples import examples
from tests.service.engines import running, teach, ticked
from tests.service.faulty import learn
from tests.service.history.amending import (
    LEARNERS,
    READING,
    History,
    content,
    steps,
    taught,
)


@pytest.mark.parametrize("learner", LEARNERS)
@given(steps=steps)
@examples(20)
def test_the_state_is_that_of_the_amended_stream(learner, steps):
    async def run():
        async with running(learner=learner, snapshot_keep=1) as (engine, _):
            options = engine.model.options
            history = History(engine)
            for name, *arguments in steps:
                await getattr(history, name)(*arguments)
            await history.rebuild()
            history.assert_rebuilt(options)

    asyncio.run(run())


async def test_events_undone_by_a_restore_are_not_learned_again():
    async with running(learner="svm") as (engine, _):
        await teach(engine, "a b -> x")
        snapshot = await engine.take_snapshot()
        await teach(engine, "a c -> y")
        await engine.restore(snapshot.seq)
        assert engine.history.find(2).is_undone
        assert [each.seq for each in engine.history.page(Filter(), 10).records] == [1]
        await teach(engine, "b c -> z")
        await engine.rebuild_state()
        expected = taught(engine.model.options, [learn("a b", "x"), learn("b c", "z")])
        assert content(engine.model) == content(expected)


async def test_what_is_taught_while_it_runs_is_in_the_state_too():
    async with running(learner="svm") as (engine, _):
        await teach(engine, *(f"f{n} g{n % 7} -> c{n % 5}" for n in range(300)))
        await engine.submit([Event.amend(1, learn("f0 g0", "c0").instance, ["c1"], ["c0"])])
        rebuild = asyncio.ensure_future(engine.rebuild_state())
        late = 0
        while not rebuild.done():
            await teach(engine, f"late{late} g1 -> c2")
            late += 1
            await asyncio.sleep(0.001)
        assert (await rebuild).corrected == 1
        assert late > 0
        events = [learn(f"f{n} g{n % 7}", "c1" if n == 0 else f"c{n % 5}") for n in range(300)]
        events += [learn(f"late{n} g1", "c2") for n in range(late)]
        assert content(engine.model) == content(taught(engine.model.options, events))


async def test_after_a_restart_the_state_is_the_rebuilt_one(tmp_path):
    store = SqliteStore(tmp_path / "a.db", lambda: 1.0)
    async with running(store, learner="svm") as (engine, _):
        await teach(engine, "a b -> x", "c d -> x", "e f -> y")
        await engine.submit([Event.amend(2, learn("c d", "x").instance, ["y"], ["x"])])
        await engine.rebuild_state()
        digest = engine.model.digest()
        await teach(engine, "g h -> x")
        later = engine.model.digest()
        assert len(engine.history.amendments) == 0
    assert digest != later
    async with running(SqliteStore(tmp_path / "a.db", lambda: 1.0), learner="svm") as (engine, _):
        assert engine.model.digest() == later
        assert len(engine.history.amendments) == 0
        assert [each.seq for each in engine.history.page(Filter(of_class="y"), 10).records] == [
            3,
            2,
        ]
        assert engine.history.find(2).classes == ["y"]


async def test_amendments_wait_over_a_restart(tmp_path):
    def opened():
        return SqliteStore(tmp_path / "a.db", lambda: 1.0)

    async with running(opened(), learner="svm") as (engine, _):
        await teach(engine, "a b -> x", "c d -> x")
        await engine.submit([Event.amend(2, learn("c d", "x").instance, ["y"], ["x"])])
    async with running(opened(), learner="svm") as (engine, _):
        assert len(engine.history.amendments) == 1
        assert engine.history.find(2).classes == ["y"]
        await engine.rebuild_state()
        expected = taught(engine.model.options, [learn("a b", "x"), learn("c d", "y")])
        assert content(engine.model) == content(expected)
    async with running(opened(), learner="svm") as (engine, _):
        assert content(engine.model) == content(expected)


async def test_nothing_of_a_deleted_event_is_left_in_the_files(tmp_path):
    path = tmp_path / "a.db"
    async with running(SqliteStore(path, lambda: 1.0), learner="svm", snapshot_keep=3) as (
        engine,
        _,
    ):
        await teach(engine, "a b -> x")
        text = "zzsecret went there"
        instance = Instance({"zzsecret": 1, "there": 1})
        event = Event.learn(instance, ["zzclass"], source="zzperson", text=text, reading=READING)
        [result] = await engine.submit([event])
        await teach(engine, "c d -> x")
        await engine.take_snapshot()
        await teach(engine, "e f -> y")
        await engine.take_snapshot()
        assert any(b"zzsecret" in each.read_bytes() for each in tmp_path.iterdir())
        await engine.submit([Event.amend(result.seq, instance, [], ["zzclass"])])
        assert (await engine.rebuild_state()).deleted == 1
        for each in tmp_path.iterdir():
            found = each.read_bytes()
            assert not any(word in found for word in (b"zzsecret", b"zzclass", b"zzperson")), each
        assert not engine.model.has_class("zzclass")
        assert engine.history.find(result.seq) is None


async def test_two_at_once_are_refused():
    async with running(learner="svm") as (engine, _):
        await teach(engine, "a -> x")
        first = asyncio.ensure_future(engine.rebuild_state())
        await asyncio.sleep(0)
        with pytest.raises(RebuildRefused, match="in progress"):
            await engine.rebuild_state()
        await first


async def test_a_stop_ends_a_rebuild_and_leaves_the_state():
    async with running(learner="svm") as (engine, _):
        await teach(engine, *(f"f{n} -> c{n % 3}" for n in range(50)))
        rebuild = asyncio.ensure_future(engine.rebuild_state())
        await asyncio.sleep(0.05)
        digest = engine.model.digest()
    with pytest.raises(RebuildRefused):
        await rebuild
    assert engine.model.digest() == digest


async def test_without_an_older_snapshot_a_part_is_learned_again():
    async with running(learner="svm") as (engine, store):
        await teach(engine, "a -> x", "b -> y")
        await engine.take_snapshot()
        store.delete_snapshot(0)
        await teach(engine, "c -> y")
        digest = engine.model.digest()
        done = await engine.rebuild_state()
        assert (done.base, done.events) == (2, 1)
        assert engine.model.digest() == digest


async def test_events_of_the_base_are_not_learned_again_but_amendments_of_them_are(tmp_path):
    """A history that was switched on later."""
    path = tmp_path / "a.db"
    async with running(SqliteStore(path, lambda: 1.0), learner="svm", history=False) as (engine, _):
        await teach(engine, "a b -> x", "c d -> y")
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM events")
    connection.close()
    async with running(SqliteStore(path, lambda: 1.0), learner="svm") as (engine, _):
        assert engine.history.find(1) is None
        await teach(engine, "e f -> x")
        done = await engine.rebuild_state()
        assert (done.base, done.events) == (2, 1)
        expected = [learn("a b", "x"), learn("c d", "y"), learn("e f", "x")]
        assert content(engine.model) == content(taught(Options.parse("svm"), expected))


async def test_above_its_limit_the_oldest_events_leave_and_the_rest_can_be_learned_again():
    texts = [f"f{n} g{n % 7} -> c{n % 5}" for n in range(40)]
    async with running(learner="svm", history_bytes=1, snapshot_keep=1) as (engine, _):
        for at in range(0, 40, 10):
            await teach(engine, *texts[at : at + 10])
            await engine.take_snapshot()
        await ticked(engine)
        assert engine.history.recorder.deleted_events == 30
        assert [each.seq for each in engine.history.page(Filter(), 100).records] == [
            *range(40, 30, -1)
        ]
        assert engine.history.find(5) is None
        digest = engine.model.digest()
        done = await engine.rebuild_state()
        assert (done.base, done.events) == (30, 10)
        assert content(engine.model) == content(
            taught(engine.model.options, [learn(*text.split(" -> ")) for text in texts])
        )
        assert engine.model.digest() == digest


async def test_events_do_not_leave_while_an_amendment_of_them_waits():
    async with running(learner="svm", history_bytes=1) as (engine, _):
        await teach(engine, "a -> x", "b -> y")
        await engine.submit([Event.amend(1, learn("a").instance, ["y"], ["x"])])
        await engine.take_snapshot()
        await teach(engine, "c -> y")
        await engine.take_snapshot()
        await ticked(engine)
        assert engine.history.find(1).classes == ["y"]
        await engine.rebuild_state()
        await teach(engine, "d -> y")
        await engine.take_snapshot()
        await ticked(engine)
        assert engine.history.find(1) is None
        expected = [learn("a", "y"), learn("b", "y"), learn("c", "y"), learn("d", "y")]
        assert content(engine.model) == content(taught(engine.model.options, expected))


async def test_an_amended_event_that_the_base_has_learned_is_reported_as_such():
    async with running(learner="svm") as (engine, store):
        await teach(engine, "a -> x", "b -> y")
        await engine.take_snapshot()
        store.delete_snapshot(0)
        await teach(engine, "c -> y")
        await engine.submit([Event.amend(1, learn("a").instance, [], ["x"])])
        await engine.submit([Event.amend(3, learn("c").instance, ["x"], ["y"])])
        done = await engine.rebuild_state()
        assert (done.base, done.deleted, done.corrected, done.unreached) == (2, 0, 1, 1)
        assert engine.model.has_class("x")

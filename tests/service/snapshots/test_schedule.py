"""Snapshots: taken beside everything else, kept as long as needed, gone back to."""

import asyncio
import gc
import os
import sys
import threading

import pytest

from manyclass.core.instance import Instance
from manyclass.core.model import Model
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.log.snapshot_loader import load_snapshot
from manyclass.service.snapshots.schedule import RETRY_SECONDS
from manyclass.service.store.errors import StoreFull, StoreUnavailable
from manyclass.service.threads import LOW_PRIORITY
from tests.service.engines import running, seqs, teach, ticked
from tests.service.faulty import Clock, FaultyStore, Gate, learn, many_turns


def priority():
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


# --- taking ---------------------------------------------------------------------------------------


async def test_holds_the_state_as_it_was(engine, store):
    await teach(engine, "a b -> x", "b c -> y")
    digest = engine.model.digest()
    info = await engine.take_snapshot()
    await teach(engine, "c -> z")
    assert info.seq == 2
    assert load_snapshot(store, 2, 0).digest() == digest
    assert engine.newest_snapshot == info
    assert seqs(await engine.snapshots()) == [2, 0]


async def test_is_not_taken_again_without_a_change(engine, store):
    await teach(engine, "a -> x")
    assert await engine.take_snapshot() == await engine.take_snapshot()
    store.save_error = StoreFull("no room")
    await engine.take_snapshot()


async def test_ranking_and_learning_go_on_while_it_is_written(engine, store):
    await teach(engine, "a -> x")
    with store.before_save.shut() as gate:
        taking = asyncio.create_task(engine.take_snapshot())
        await gate.reached()
        await teach(engine, "b -> y")
        assert [name for name, _ in engine.model.rank(Instance(["b"]))] == ["y"]
        assert not taking.done()
    assert (await taking).seq == 1
    assert load_snapshot(store, 1, 0).seq == 1


async def test_only_learning_waits_while_the_state_is_copied(engine, store, monkeypatch):
    copying = Gate()
    freeze = Model.freeze

    def slow_freeze(model):
        copying.pass_through()
        return freeze(model)

    await teach(engine, "a -> x")
    digest = engine.model.digest()
    monkeypatch.setattr(Model, "freeze", slow_freeze)
    with copying.shut() as gate:
        taking = asyncio.create_task(engine.take_snapshot())
        await gate.reached()
        answer = engine.admit([learn("a", "y")])
        await many_turns()
        assert [name for name, _ in engine.model.rank(Instance(["a"]))] == ["x"]
        assert (engine.model.seq, answer.done()) == (1, False)
    await taking
    assert (await answer)[0].seq == 2
    assert load_snapshot(store, 1, 0).digest() == digest


async def test_only_one_is_taken_at_a_time(engine, store, monkeypatch):
    copying = Gate()
    freeze, copied = Model.freeze, []

    def slow_freeze(model):
        copied.append(model.seq)
        copying.pass_through()
        return freeze(model)

    await teach(engine, "a -> x")
    monkeypatch.setattr(Model, "freeze", slow_freeze)
    with store.before_save.shut() as gate:
        first = asyncio.create_task(engine.take_snapshot())
        await gate.reached()
        await teach(engine, "b -> y")
        second = asyncio.create_task(engine.take_snapshot())
        await many_turns()
        assert copied == [1]
    assert [(await first).seq, (await second).seq] == [1, 2]


async def test_is_finished_when_the_one_who_asked_has_gone(engine, store):
    await teach(engine, "a -> x")
    with store.before_save.shut() as gate:
        taking = asyncio.create_task(engine.take_snapshot())
        await gate.reached()
        taking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await taking
    assert (await engine.take_snapshot()).seq == 1
    assert seqs(await engine.snapshots()) == [1, 0]


async def test_a_failed_one_is_told_to_who_asked_and_stops_nothing(engine, store):
    await teach(engine, "a -> x")
    store.save_error = StoreFull("no room")
    with pytest.raises(StoreFull):
        await engine.take_snapshot()
    assert engine.stats().snapshot_failures == 1
    assert engine.newest_snapshot.seq == 0
    await teach(engine, "b -> y")
    store.save_error = None
    assert (await engine.take_snapshot()).seq == 2


async def test_failing_to_clean_up_is_counted_and_mended_next_time():
    async with running(snapshot_keep=1) as (engine, store):
        await teach(engine, "a -> x")
        store.trim_error = StoreUnavailable("away")
        assert (await engine.take_snapshot()).seq == 1
        assert engine.stats().snapshot_failures == 1
        assert store.first_seq() == 1
        store.trim_error = None
        await teach(engine, "b -> y")
        await engine.take_snapshot()
        assert store.first_seq() is None


async def test_duration_and_size_are_reported():
    clock = Clock()
    store = FaultyStore(clock=lambda: 77.0)
    engine = Engine(Settings(), Cluster(store), clock)
    await engine.start()
    assert engine.stats().snapshot_seconds is None
    await teach(engine, "a -> x")
    with store.before_save.shut() as gate:
        taking = asyncio.create_task(engine.take_snapshot())
        await gate.reached()
        clock.now += 3
    info = await taking
    assert engine.stats().snapshot_seconds == 3
    assert (info.seq, info.taken_at) == (1, 77.0)
    assert info.bytes == sum(map(len, store.open_snapshot(1)))
    await engine.close()


async def test_is_written_by_a_thread_that_gives_way(engine, store):
    before = priority()
    found = []
    save = store.save_snapshot

    def save_and_look(seq, chunks):
        found.append(priority())
        return save(seq, chunks)

    store.save_snapshot = save_and_look
    await teach(engine, "a -> x")
    await engine.take_snapshot()
    # Elsewhere a priority belongs to the process, and is left alone.
    assert found == [max(before, LOW_PRIORITY) if sys.platform == "linux" else before]
    assert priority() == before


@pytest.mark.parametrize("started_at", [LOW_PRIORITY - 1, LOW_PRIORITY, LOW_PRIORITY + 5])
async def test_is_taken_also_where_a_priority_cannot_be_changed(monkeypatch, caplog, started_at):
    asked = []

    def refuse(*args):
        asked.append(args)
        raise PermissionError(13, "not allowed")

    monkeypatch.setattr(os, "getpriority", lambda which, who: started_at)
    monkeypatch.setattr(os, "setpriority", refuse)
    async with running() as (engine, _):
        for seq in (1, 2):
            await teach(engine, "a -> x")
            assert (await engine.take_snapshot()).seq == seq
    lower = sys.platform == "linux" and started_at < LOW_PRIORITY
    told = [record for record in caplog.records if "not allowed" in record.message]
    assert (len(asked), len(told)) == ((1, 1) if lower else (0, 0))  # once, not for each


# --- schedule -------------------------------------------------------------------------------------


async def test_a_snapshot_is_due_after_so_many_events():
    async with running(snapshot_events=3, snapshot_seconds=0) as (engine, _):
        await teach(engine, "a -> x", "b -> x")
        engine._restorer._runtime.clock.now += 1e9
        assert await ticked(engine) == 0
        await teach(engine, "c -> x")
        assert await ticked(engine) == 3
        await teach(engine, "d -> x", "e -> x")
        assert await ticked(engine) == 3
        await teach(engine, "f -> x")
        assert await ticked(engine) == 6


async def test_a_snapshot_is_due_after_a_time_with_a_change():
    async with running(snapshot_events=0, snapshot_seconds=60) as (engine, store):
        engine._restorer._runtime.clock.now += 61
        store.save_error = StoreFull("not even tried")
        assert await ticked(engine) == 0
        assert engine.stats().snapshot_failures == 0
        store.save_error = None
        await teach(engine, "a -> x")
        assert await ticked(engine) == 1
        engine._restorer._runtime.clock.now += 61
        engine.tick()
        assert not engine._tasks  # it does not even look for something to do
        await teach(engine, "b -> x")
        engine._restorer._runtime.clock.now += 59 - 61
        assert await ticked(engine) == 1
        engine._restorer._runtime.clock.now += 1
        assert await ticked(engine) == 2


async def test_both_can_be_switched_off():
    async with running(snapshot_events=0, snapshot_seconds=0) as (engine, _):
        await teach(engine, *["a -> x"] * 10)
        engine._restorer._runtime.clock.now += 1e9
        assert await ticked(engine) == 0


async def test_after_a_failure_the_schedule_waits():
    async with running(snapshot_events=1, snapshot_seconds=0) as (engine, store):
        await teach(engine, "a -> x")
        store.save_error = StoreFull("no room")
        assert await ticked(engine) == 0
        store.save_error = None
        assert await ticked(engine) == 0
        await teach(engine, "b -> x")
        engine._restorer._runtime.clock.now += RETRY_SECONDS - 1
        assert await ticked(engine) == 0
        engine._restorer._runtime.clock.now += 1
        assert await ticked(engine) == 2
        assert engine.stats().snapshot_failures == 1


async def test_none_is_due_while_one_is_taken():
    async with running(snapshot_events=1) as (engine, store):
        await teach(engine, "a -> x")
        with store.before_save.shut() as gate:
            engine.tick()
            await gate.reached()
            await teach(engine, "b -> y")
            engine.tick()
            assert len(engine._tasks) == 1
        assert await ticked(engine) == 1


async def test_a_failed_scheduled_snapshot_is_logged_once(caplog):
    async with running(snapshot_events=1) as (engine, store):
        await teach(engine, "a -> x")
        store.save_error = StoreFull("no room")
        engine.tick()
        while engine._tasks:
            await asyncio.sleep(0)
        gc.collect()
        assert [record.message for record in caplog.records if record.name == "asyncio"] == []
        assert any("snapshot failed" in record.message for record in caplog.records)


async def test_a_snapshot_is_due_at_once_after_a_damaged_one():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        await engine.take_snapshot()
        await teach(engine, "b -> x")
    store.damage_snapshot(2)
    async with running(store) as (engine, _):
        assert engine.newest_snapshot.seq == 1
        assert await ticked(engine) == 2
        await teach(engine, "c -> x")
        assert await ticked(engine) == 2
        assert load_snapshot(store, 2, 0).seq == 2

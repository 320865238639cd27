"""The engine's states (recovering, ready, failed, closed) and their allowed operations."""

import asyncio

import pytest

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.service import engine as engine_module
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.engine_stats import EngineStats
from manyclass.service.errors import NotReady, QueueFull
from manyclass.service.log import recovery as recovery_module
from manyclass.service.log.hooks import Hooks
from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreFull, StoreUnavailable
from manyclass.service.store.memory import MemoryStore
from tests.service.engines import engine_threads
from tests.service.faulty import Clock, FaultyStore, appending, learn, many_turns


async def assert_refuses(engine, status):
    assert engine.status == status
    for call in (
        lambda: engine.submit([learn("a", "x")]),
        engine.take_snapshot,
        engine.snapshots,
        lambda: engine.restore(0),
    ):
        with pytest.raises(NotReady) as caught:
            await call()
        assert caught.value.status == status


# --- starting -------------------------------------------------------------------------------------


async def test_learns_and_ranks_once_it_is_ready(start):
    engine = await start()
    assert (engine.status, engine.failure) == ("ready", None)
    await engine.submit([learn("a b", "x"), learn("b c", "y")])
    assert engine.model.rank(Instance(["a"]))[0][0] == "x"
    assert len(engine.model.rank(Instance(["b"]), k=1)) == 1
    assert engine.model.rank(Instance(["b"]), threshold=1.0) == []


async def test_refuses_everything_while_it_recovers(store):
    engine = Engine(Settings(), Cluster(store), Clock())
    assert engine.status == "recovering"
    with store.before_read.shut() as gate:
        starting = asyncio.create_task(engine.start())
        await gate.reached()
        await assert_refuses(engine, "recovering")
        with pytest.raises(NotReady):
            engine.model.rank(Instance(["a"]))
        with pytest.raises(NotReady):
            _ = engine.model
        assert engine.stats() == EngineStats()
        assert (engine.newest_snapshot, engine.stats().snapshot_seconds) == (None, None)
    await starting
    assert engine.status == "ready"
    await engine.close()


async def test_reports_the_recovery(store, start):
    engine = await start(store)
    await engine.submit([learn("a", "x")] * 3)
    # no close: the process was killed
    again = await start(store)
    recovery = again.recovery
    assert (recovery.snapshot.seq, recovery.replayed, recovery.last_seq) == (0, 3, 3)
    assert again.model.digest() == engine.model.digest()


async def test_a_damaged_log_fails_the_start_with_a_reason(store, start):
    engine = await start(store)
    await engine.submit([learn("a", "x")] * 3)
    store.damage_event(2)
    again = await start(store)
    assert "log cannot be replayed" in again.failure
    await assert_refuses(again, "failed")
    with pytest.raises(NotReady, match="log cannot be replayed"):
        again.model.rank(Instance(["a"]))


async def test_a_store_that_is_away_fails_the_start(store, start, caplog):
    store.save_error = StoreUnavailable("/srv/store: away", "put it back")
    engine = await start(store)
    assert (engine.status, engine.failure) == (
        "failed",
        "the store is not available; put it back",
    )
    assert "/srv/store: away; put it back" in caplog.text
    await engine.close()
    assert store.closed


async def test_a_start_that_breaks_is_raised_and_known(store, caplog):
    store.save_error = ZeroDivisionError("bug")
    engine = Engine(Settings(), Cluster(store), Clock())
    with pytest.raises(ZeroDivisionError):
        await engine.start()
    assert engine.status == "failed"
    assert "ZeroDivisionError" in engine.failure
    assert "bug" in caplog.text
    await engine.close()


# --- learning -------------------------------------------------------------------------------------


async def test_a_sender_may_wait_for_room(store, start):
    engine = await start(store, max_queue_events=2)
    async with appending(store, engine, learn("a", "x")) as first:
        second = engine.admit([learn("b", "x")])
        with pytest.raises(QueueFull):
            await engine.submit([learn("c", "x")])
        waiting = [
            asyncio.create_task(engine.submit([learn("c", "x")] * 2, wait=True)) for _ in range(3)
        ]
        await asyncio.sleep(0)
        stats = engine.stats()
        assert (stats.queued_events, stats.queue_full) == (2, 1)
    await asyncio.gather(first, second)
    numbers = [result.seq for results in await asyncio.gather(*waiting) for result in results]
    assert sorted(numbers) == [3, 4, 5, 6, 7, 8]


async def test_a_full_disk_stops_learning_not_ranking(store, start):
    engine = await start(store)
    await engine.submit([learn("a", "x")])
    store.append_error = store.save_error = StoreFull("no room", "make some")
    with pytest.raises(StoreFull):
        await engine.submit([learn("b", "y")])
    with pytest.raises(StoreFull):
        await engine.take_snapshot()
    assert engine.status == "ready"
    assert engine.model.rank(Instance(["a"]))
    store.append_error = store.save_error = None
    assert (await engine.submit([learn("b", "y")]))[0].seq == 2


async def test_forgets_on_request(start):
    engine = await start()
    await engine.submit([learn("a", "x y")])
    await engine.submit([Event.forget_class("x")])
    assert [name for name, _ in engine.model.rank(Instance(["a"]))] == ["y"]


async def test_fails_but_still_ranks_when_the_log_and_the_model_part(store, start):
    engine = await start(store)
    await engine.submit([learn("a", "x")])
    MemoryStore.append(
        store, [bytes(learn("b", "y"))]
    )  # another process writes to this engine's log
    with pytest.raises(NotReady):
        await engine.submit([learn("c", "z")])
    assert "numbered" in engine.failure
    assert engine.model.rank(Instance(["a"]))
    await assert_refuses(engine, "failed")
    await engine.close()
    assert [info.seq for info in store.snapshots()] == [0]
    again = await start(store)
    assert (again.status, again.model.seq) == ("ready", 3)


async def test_commits_and_applied_events_are_counted(store):
    applied = []
    engine = Engine(
        Settings(), Cluster(store), Clock(), hooks=Hooks(lambda *args: applied.append(args))
    )
    await engine.start()
    event = learn("a", "x", "one")
    await engine.submit([event])
    await engine.submit([event])
    store.append_errors = [StoreUnavailable("away")]
    with pytest.raises(StoreUnavailable):
        await engine.submit([learn("b", "y")])
    stats = engine.stats()
    assert (stats.commits, stats.failed_commits) == (1, 1)
    assert (stats.queued_events, stats.queued_bytes, stats.log_lag) == (0, 0, 0)
    assert stats.commit_seconds > 0
    assert [event for event, _, _ in applied] == [event]
    await engine.close()


async def test_looks_at_the_schedule_by_itself(start, monkeypatch):
    monkeypatch.setattr(engine_module, "TICK_SECONDS", 0.0)
    store = FaultyStore()
    engine = await start(store, snapshot_events=2)
    for seq in (2, 4):
        await engine.submit([learn("a", "x")])
        with store.before_save.shut() as gate:
            await engine.submit([learn("a", "x")])
            await gate.reached()
        assert (await engine.take_snapshot()).seq == seq


# --- closing --------------------------------------------------------------------------------------


async def test_close_learns_what_was_admitted_and_takes_a_snapshot(store, start):
    engine = await start(store)
    async with appending(store, engine, learn("a", "x")) as answer:
        queued = engine.admit([learn("b", "y")])
        closing = asyncio.create_task(engine.close())
        await many_turns()
        await assert_refuses(engine, "closed")
    await closing
    assert [(await each)[0].seq for each in (answer, queued)] == [1, 2]
    assert [info.seq for info in store.snapshots()] == [2, 0]
    assert store.closed


async def test_close_takes_no_snapshot_when_nothing_changed(store, start):
    engine = await start(store)
    await engine.submit([learn("a", "x")])
    await engine.take_snapshot()
    await engine.close()
    store.save_error = ZeroDivisionError("not even tried")
    await (await start(store)).close()
    assert [info.seq for info in store.snapshots()] == [1, 0]


@pytest.mark.parametrize("error", [StoreFull("no room"), MemoryError("no more")])
async def test_close_without_a_last_snapshot_loses_nothing(start, error):
    before = engine_threads()
    store = FaultyStore()
    engine = await start(store)
    await engine.submit([learn("a", "x")])
    digest = engine.model.digest()
    store.save_error = error
    await engine.close()
    assert store.closed
    assert engine_threads() == before
    store.save_error = None
    again = await start(store)
    assert again.model.digest() == digest


async def test_close_may_come_twice_and_before_the_start(store):
    engine = Engine(Settings(), Cluster(store), Clock())
    await engine.close()
    await engine.close()
    assert store.closed


async def test_close_waits_for_what_was_asked_before(store, start):
    engine = await start(store)
    restoring = asyncio.create_task(engine.restore(0))
    await asyncio.sleep(0)
    await engine.close()
    assert await restoring == 1
    assert store.closed


async def test_close_ends_all_threads(start):
    before = engine_threads()
    engine = await start()
    await engine.submit([learn("a", "x")])
    await engine.close()
    assert engine._timer.cancelled()
    assert engine_threads() == before


async def test_close_ends_a_recovery(start, monkeypatch):
    monkeypatch.setattr(recovery_module, "CHECK_EVENTS", 1)
    store = FaultyStore()
    engine = await start(store)
    await engine.submit([learn("a", "x")] * 3)
    again = Engine(Settings(), Cluster(store), Clock())
    with store.before_read.shut() as gate:
        starting = asyncio.create_task(again.start())
        await gate.reached()
        closing = asyncio.create_task(again.close())
        await many_turns()
        assert not store.closed
    await asyncio.gather(starting, closing)
    assert (again.status, again.failure) == ("closed", None)
    assert again.recovery.replayed == 1
    assert store.closed


async def test_close_after_a_start_that_was_cancelled(store):
    engine = Engine(Settings(), Cluster(store), Clock())
    with store.before_read.shut() as gate:
        starting = asyncio.create_task(engine.start())
        await gate.reached()
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
    await engine.close()
    assert store.closed


# --- on a disk ------------------------------------------------------------------------------------


@pytest.mark.parametrize("killed", [False, True])
def test_comes_back_from_a_file(tmp_path, killed):
    url = f"sqlite:{tmp_path / 'manyclass.db'}"
    events = [learn(f"f{n % 5} g{n % 7}", f"c{n % 3}", f"id {n}") for n in range(100)]

    async def first_life():
        engine = Engine(Settings(), Cluster(open_store(url, Clock())), Clock())
        await engine.start()
        await asyncio.gather(*(engine.submit([event]) for event in events[:50]))
        await engine.take_snapshot()
        await asyncio.gather(*(engine.submit([event]) for event in events[50:]))
        digest = engine.model.digest()
        await (asyncio.to_thread(engine.store.close) if killed else engine.close())
        return digest

    async def second_life():
        engine = Engine(Settings(), Cluster(open_store(url, Clock())), Clock())
        await engine.start()
        found = (engine.model.digest(), engine.recovery.replayed)
        retry = await engine.submit([events[70]])
        await engine.close()
        return found, retry

    digest = asyncio.run(first_life())
    found, [retry] = asyncio.run(second_life())
    assert found == (digest, 50 if killed else 0)
    assert (retry.seq, retry.duplicate) == (71, True)

"""The engine's states (recovering, ready, failed, closed) and their allowed operations."""

import asyncio
import threading

import pytest

from manyclass.core.event import Event, Instance
from manyclass.service import engine as engine_module
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.engine_stats import EngineStats
from manyclass.service.errors import NotReady, QueueFull
from manyclass.service.log import recovery as recovery_module
from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreFull, StoreUnavailable
from tests.service.faulty import Clock, FaultyStore, learn, many_turns


async def started(store=None, **settings):
    engine = Engine(Settings(**settings), Cluster(store or FaultyStore()), Clock())
    await engine.start()
    return engine


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


async def test_learns_and_ranks_once_it_is_ready():
    engine = await started()
    assert (engine.status, engine.failure) == ("ready", None)
    await engine.submit([learn("a b", "x"), learn("b c", "y")])
    assert engine.model.rank(Instance(["a"]))[0][0] == "x"
    assert len(engine.model.rank(Instance(["b"]), k=1)) == 1
    assert engine.model.rank(Instance(["b"]), threshold=1.0) == []
    await engine.close()


async def test_refuses_everything_while_it_recovers():
    store = FaultyStore()
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


async def test_reports_the_recovery():
    store = FaultyStore()
    engine = await started(store)
    await engine.submit([learn("a", "x")] * 3)
    # no close: the process was killed
    again = await started(store)
    recovery = again.recovery
    assert (recovery.snapshot.seq, recovery.replayed, recovery.last_seq) == (0, 3, 3)
    assert again.model.digest() == engine.model.digest()
    for each in (engine, again):
        await each.close()


async def test_a_damaged_log_fails_the_start_with_a_reason():
    store = FaultyStore()
    engine = await started(store)
    await engine.submit([learn("a", "x")] * 3)
    store.damage_event(2)
    again = await started(store)
    assert "log cannot be replayed" in again.failure
    await assert_refuses(again, "failed")
    with pytest.raises(NotReady, match="log cannot be replayed"):
        again.model.rank(Instance(["a"]))
    for each in (again, engine):
        await each.close()


async def test_a_store_that_is_away_fails_the_start(caplog):
    store = FaultyStore()
    store.save_error = StoreUnavailable("/srv/store: away", "put it back")
    engine = await started(store)
    assert (engine.status, engine.failure) == (
        "failed",
        "the store is not available; put it back",
    )
    assert "/srv/store: away; put it back" in caplog.text
    await engine.close()
    assert store.closed


async def test_a_start_that_breaks_is_raised_and_known(caplog):
    store = FaultyStore()
    store.save_error = ZeroDivisionError("bug")
    engine = Engine(Settings(), Cluster(store), Clock())
    with pytest.raises(ZeroDivisionError):
        await engine.start()
    assert engine.status == "failed"
    assert "ZeroDivisionError" in engine.failure
    assert "bug" in caplog.text
    await engine.close()


# --- options --------------------------------------------------------------------------------------


async def test_other_options_than_the_stored_ones_are_refused():
    store = FaultyStore()
    engine = await started(store, learner="svm(rating=3)")
    await engine.submit([learn("a", "x")])
    await engine.close()
    before = engine_threads()
    other = await started(store, learner="svm(rating=4,tfidf=no)")
    assert other.status == "failed"
    for part in (
        "rating is 3 in the store and 4 in the settings",
        "tfidf is True",
        "start with MANYCLASS_LEARNER='svm(rating=3)' MANYCLASS_SHADOWS='none'",
        "or with --reconfigure",
    ):
        assert part in other.failure
    assert engine_threads() == before
    await other.close()
    assert store.last_seq == 1
    same = await started(store, learner="svm(rating=3)")
    assert same.status == "ready"
    await same.close()


async def test_other_options_are_taken_on_when_that_is_asked_for():
    store = FaultyStore()
    engine = await started(store, learner="svm(rating=3)")
    await engine.submit([learn("a", "x")])
    await engine.close()
    engine = await started(store, learner="svm(rating=4)", reconfigure=True)
    assert engine.model.options.rating == 4
    assert engine.model.seq == 2
    # killed: the change is an event, so it is durable
    again = await started(store, learner="svm(rating=4)")
    assert (again.status, again.model.seq) == ("ready", 2)
    assert again.model.digest() == engine.model.digest()
    for each in (engine, again):
        await each.close()


async def test_nothing_is_appended_when_the_options_are_the_same():
    store = FaultyStore()
    engine = await started(store, reconfigure=True)
    assert store.last_seq == 0
    await engine.close()


async def test_options_that_cannot_be_stored_fail_the_start():
    store = FaultyStore()
    await (await started(store, learner="svm(rating=3)")).close()
    store.append_error = StoreUnavailable("away")
    before = engine_threads()
    engine = await started(store, learner="svm(rating=4)", reconfigure=True)
    assert (engine.status, engine.failure) == ("failed", "the store is not available: away")
    assert engine_threads() == before
    await engine.close()


# --- learners -------------------------------------------------------------------------------------


def labels(engine):
    assert engine.status == "ready", engine.failure
    return engine.model.model_set.labels


async def test_a_shadow_learns_what_comes_and_is_there_again():
    store = FaultyStore()
    engine = await started(store, shadows=("pa",))
    await engine.submit([learn("a", "x"), learn("a b", "y")])
    assert [each.learner.learned for each in engine.model.enrolled] == [2, 2]
    again = await started(store, shadows=("pa",))  # killed: replayed from the log
    assert again.model.digest() == engine.model.digest()
    for each in (engine, again):
        await each.close()


async def test_what_was_promoted_answers_after_a_restart_with_the_old_settings(caplog):
    store = FaultyStore()
    engine = await started(store, shadows=("pa", "ff(rating=0)"))
    await engine.submit([learn("a", "x")])
    await engine.submit([Event.promote("pa")])
    for reconfigure in (False, True):
        caplog.clear()
        again = await started(store, shadows=("pa", "ff(rating=0)"), reconfigure=reconfigure)
        assert labels(again) == ["pa", "svm", "ff(rating=0)"]
        assert again.model.digest() == engine.model.digest()
        assert "pa answers, as it was promoted; the settings have svm in its place" in caplog.text
    caplog.clear()
    tidied = await started(store, learner="pa", shadows=("ff(rating=0)", "svm"))
    assert labels(tidied) == ["pa", "svm", "ff(rating=0)"]
    assert "promoted" not in caplog.text
    for each in (engine, again, tidied):
        await each.close()


async def test_a_start_that_names_no_learner_goes_on_with_those_that_are_stored():
    store = FaultyStore()
    engine = await started(store, learner="pa(replay=2)", shadows=("ema",))
    await engine.submit([learn("a", "x")])
    again = await started(store)
    assert labels(again) == ["pa(replay=2)", "ema"]
    assert again.model.digest() == engine.model.digest()
    other = await started(store, learner="pa(rivals=2,replay=2)", reconfigure=True)
    assert labels(other) == ["pa(rivals=2,replay=2)", "ema"]
    again_other = await started(store)
    assert labels(again_other) == ["pa(rivals=2,replay=2)", "ema"]
    refused = await started(store, learner="pa")  # a named learner has its defaults
    assert refused.status == "failed"
    stored = "MANYCLASS_LEARNER='pa(rivals=2,replay=2)' MANYCLASS_SHADOWS='ema'"
    assert f"start with {stored} and no other limits, or with --reconfigure" in refused.failure
    replaced = await started(store, learner="svm")
    assert "'svm' cannot take the place of 'pa(rivals=2,replay=2)'" in replaced.failure
    for each in (engine, again, other, again_other, refused, replaced):
        await each.close()


async def test_other_shadows_than_the_stored_ones_are_refused():
    store = FaultyStore()
    await (await started(store, shadows=("pa", "ema"))).close()
    other = await started(store, shadows=("ema", "pa(rivals=2)"))
    assert other.status == "failed"
    differ = "shadows is 'pa,ema' in the store and 'ema,pa(rivals=2)' in the settings"
    assert differ in other.failure
    await other.close()
    same = await started(store, shadows=("ema", "pa"))  # in any order
    assert labels(same) == ["svm", "pa", "ema"]
    await same.close()


async def test_shadows_come_and_go_when_that_is_asked_for():
    store = FaultyStore()
    engine = await started(store)
    await engine.submit([learn("a", "x")])
    await engine.close()
    engine = await started(store, shadows=("pa", "ema"), reconfigure=True)
    assert labels(engine) == ["svm", "pa", "ema"]
    assert [each.learner.learned for each in engine.model.enrolled] == [1, 0, 0]
    await engine.submit([learn("a", "x"), Event.promote("pa")])
    await engine.close()
    # one shadow is added and one removed; the primary stays, in spite of LEARNER
    engine = await started(store, shadows=("arow", "pa"), reconfigure=True)
    assert labels(engine) == ["pa", "arow", "svm"]
    assert [each.learner.learned for each in engine.model.enrolled] == [1, 0, 2]
    killed = await started(store, shadows=("arow", "pa"))
    assert killed.model.digest() == engine.model.digest()
    for each in (engine, killed):
        await each.close()


@pytest.mark.parametrize("reconfigure", [False, True])
async def test_another_learner_does_not_answer_before_it_has_learned(reconfigure):
    store = FaultyStore()
    engine = await started(store)
    await engine.submit([learn("a", "x")])
    await engine.close()
    engine = await started(store, learner="pa", reconfigure=reconfigure)
    assert engine.status == "failed"
    assert "add 'pa' to the shadows, and promote it" in engine.failure
    assert "another store" in engine.failure
    await engine.close()
    assert store.last_seq == 1


async def test_any_learner_may_begin_where_nothing_was_learned():
    store = FaultyStore()
    await (await started(store)).close()
    engine = await started(store, learner="svm", shadows=("pa",))
    assert "--reconfigure" in engine.failure
    await engine.close()
    engine = await started(store, learner="svm", shadows=("pa",), reconfigure=True)
    assert engine.model.model_set.labels == ["svm", "pa"]
    await engine.submit([learn("a", "x")])
    digest = engine.model.digest()
    await engine.close()
    engine = await started(store, learner="svm", shadows=("pa",))
    assert engine.model.digest() == digest
    await engine.close()


async def test_a_log_without_a_snapshot_is_not_replayed_until_a_learner_is_named():
    store = FaultyStore()
    engine = await started(store, learner="svm")
    await engine.submit([learn("a", "x")])
    digest = engine.model.digest()
    await engine.close()
    for info in store.snapshots():
        store.delete_snapshot(info.seq)
    engine = await started(store)
    assert "LEARNER" in engine.failure
    await engine.close()
    engine = await started(store, learner="svm")
    assert engine.model.digest() == digest
    await engine.close()


# --- learning -------------------------------------------------------------------------------------


async def test_a_sender_may_wait_for_room():
    store = FaultyStore()
    engine = await started(store, max_queue_events=2)
    with store.before_append.shut() as gate:
        first = engine.admit([learn("a", "x")])
        await gate.reached()
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
    await engine.close()


async def test_a_full_disk_stops_learning_not_ranking():
    store = FaultyStore()
    engine = await started(store)
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
    await engine.close()


async def test_forgets_on_request():
    engine = await started()
    await engine.submit([learn("a", "x y")])
    await engine.submit([Event.forget_class("x")])
    assert [name for name, _ in engine.model.rank(Instance(["a"]))] == ["y"]
    await engine.close()


async def test_fails_but_still_ranks_when_the_log_and_the_model_part():
    store = FaultyStore()
    engine = await started(store)
    await engine.submit([learn("a", "x")])
    store.inner.append([bytes(learn("b", "y"))])  # another process writes to this engine's log
    with pytest.raises(NotReady):
        await engine.submit([learn("c", "z")])
    assert "numbered" in engine.failure
    assert engine.model.rank(Instance(["a"]))
    await assert_refuses(engine, "failed")
    await engine.close()
    assert [info.seq for info in store.snapshots()] == [0]
    again = await started(store)
    assert (again.status, again.model.seq) == ("ready", 3)
    await again.close()


async def test_its_figures():
    store = FaultyStore()
    applied = []
    engine = Engine(
        Settings(), Cluster(store), Clock(), on_applied=lambda *args: applied.append(args)
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


async def test_looks_at_the_schedule_by_itself(monkeypatch):
    monkeypatch.setattr(engine_module, "TICK_SECONDS", 0.0)
    store = FaultyStore()
    engine = await started(store, snapshot_events=2)
    for seq in (2, 4):
        await engine.submit([learn("a", "x")])
        with store.before_save.shut() as gate:
            await engine.submit([learn("a", "x")])
            await gate.reached()
        assert (await engine.take_snapshot()).seq == seq
    await engine.close()


# --- closing --------------------------------------------------------------------------------------


async def test_close_learns_what_was_admitted_and_takes_a_snapshot():
    store = FaultyStore()
    engine = await started(store)
    with store.before_append.shut() as gate:
        answer = engine.admit([learn("a", "x")])
        await gate.reached()
        queued = engine.admit([learn("b", "y")])
        closing = asyncio.create_task(engine.close())
        await many_turns()
        await assert_refuses(engine, "closed")
    await closing
    assert [(await each)[0].seq for each in (answer, queued)] == [1, 2]
    assert [info.seq for info in store.snapshots()] == [2, 0]
    assert store.closed


async def test_close_takes_no_snapshot_when_nothing_changed():
    store = FaultyStore()
    engine = await started(store)
    await engine.submit([learn("a", "x")])
    await engine.take_snapshot()
    await engine.close()
    store.save_error = ZeroDivisionError("not even tried")
    await (await started(store)).close()
    assert [info.seq for info in store.snapshots()] == [1, 0]


@pytest.mark.parametrize("error", [StoreFull("no room"), MemoryError("no more")])
async def test_close_without_a_last_snapshot_loses_nothing(error):
    before = engine_threads()
    store = FaultyStore()
    engine = await started(store)
    await engine.submit([learn("a", "x")])
    digest = engine.model.digest()
    store.save_error = error
    await engine.close()
    assert store.closed
    assert engine_threads() == before
    store.save_error = None
    again = await started(store)
    assert again.model.digest() == digest
    await again.close()


async def test_close_may_come_twice_and_before_the_start():
    store = FaultyStore()
    engine = Engine(Settings(), Cluster(store), Clock())
    await engine.close()
    await engine.close()
    assert store.closed


async def test_close_waits_for_what_was_asked_before():
    store = FaultyStore()
    engine = await started(store)
    restoring = asyncio.create_task(engine.restore(0))
    await asyncio.sleep(0)
    await engine.close()
    assert await restoring == 1
    assert store.closed


async def test_nothing_is_left_running_after_close():
    before = engine_threads()
    engine = await started()
    await engine.submit([learn("a", "x")])
    await engine.close()
    assert engine._timer.cancelled()
    assert engine_threads() == before


def engine_threads():
    """Return the threads that append and those for snapshots."""
    prefixes = ("append", "snapshot")
    return {thread for thread in threading.enumerate() if thread.name.startswith(prefixes)}


async def test_close_ends_a_recovery(monkeypatch):
    monkeypatch.setattr(recovery_module, "CHECK_EVENTS", 1)
    store = FaultyStore()
    engine = await started(store)
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
    await engine.close()


async def test_close_after_a_start_that_was_cancelled():
    store = FaultyStore()
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

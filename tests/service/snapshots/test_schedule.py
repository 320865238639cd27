"""Snapshots: taken beside everything else, kept as long as needed, gone back to."""

import asyncio
import gc
import os
import sys
import threading
from contextlib import asynccontextmanager

import pytest

from manyclass.core.errors import OptionError
from manyclass.core.event import Event, Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.log.group_commit import NotReady
from manyclass.service.log.recovery import Recovery, load_snapshot, recover
from manyclass.service.snapshots.schedule import LOW_PRIORITY, RETRY_SECONDS
from manyclass.service.store.protocol import (
    SnapshotDamaged,
    SnapshotMissing,
    StoreFull,
    StoreUnavailable,
)
from tests.service.faulty import Clock, FaultyStore, Gate, in_loop, learn, many_turns


@asynccontextmanager
async def running(store=None, **settings):
    """An engine that is ready, closed in the end."""
    store = store or FaultyStore()
    engine = Engine(Settings(**settings), store, Clock())
    await engine.start()
    assert engine.status == "ready", engine.failure
    try:
        yield engine, store
    finally:
        await engine.close()


async def teach(engine, *texts):
    """Learn these, one after another; each is "features -> classes"."""
    for text in texts:
        features, _, classes = text.partition(" -> ")
        await engine.submit([learn(features, classes)])


def recovered(store, options=None):
    return recover(store, options or Options(), Clock(), Recovery())


def priority():
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def seqs(infos):
    return [info.seq for info in infos]


# --- taking ---------------------------------------------------------------------------------------


@in_loop
async def test_holds_the_state_as_it_was():
    async with running() as (engine, store):
        await teach(engine, "a b -> x", "b c -> y")
        digest = engine.model.digest()
        info = await engine.take_snapshot()
        await teach(engine, "c -> z")
        assert info.seq == 2
        assert load_snapshot(store, 2, 0).digest() == digest
        assert engine.newest_snapshot == info
        assert seqs(await engine.snapshots()) == [2, 0]


@in_loop
async def test_is_not_taken_again_without_a_change():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        assert await engine.take_snapshot() == await engine.take_snapshot()
        store.save_error = StoreFull("no room")
        await engine.take_snapshot()


@in_loop
async def test_ranking_and_learning_go_on_while_it_is_written():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        with store.before_save.shut() as gate:
            taking = asyncio.create_task(engine.take_snapshot())
            await gate.reached()
            await teach(engine, "b -> y")
            assert [name for name, _ in engine.rank(Instance(["b"]))] == ["y"]
            assert not taking.done()
        assert (await taking).seq == 1
        assert load_snapshot(store, 1, 0).seq == 1


@in_loop
async def test_learning_waits_while_the_state_is_copied_and_ranking_does_not(monkeypatch):
    copying = Gate()
    freeze = Model.freeze

    def slow_freeze(model):
        copying.pass_through()
        return freeze(model)

    async with running() as (engine, store):
        await teach(engine, "a -> x")
        digest = engine.model.digest()
        monkeypatch.setattr(Model, "freeze", slow_freeze)
        with copying.shut() as gate:
            taking = asyncio.create_task(engine.take_snapshot())
            await gate.reached()
            answer = engine.admit([learn("a", "y")])
            await many_turns()
            assert [name for name, _ in engine.rank(Instance(["a"]))] == ["x"]
            assert (engine.model.seq, answer.done()) == (1, False)
        await taking
        assert (await answer)[0].seq == 2
        assert load_snapshot(store, 1, 0).digest() == digest


@in_loop
async def test_only_one_is_taken_at_a_time(monkeypatch):
    copying = Gate()
    freeze, copied = Model.freeze, []

    def slow_freeze(model):
        copied.append(model.seq)
        copying.pass_through()
        return freeze(model)

    async with running() as (engine, store):
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


@in_loop
async def test_is_finished_when_the_one_who_asked_has_gone():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        with store.before_save.shut() as gate:
            taking = asyncio.create_task(engine.take_snapshot())
            await gate.reached()
            taking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await taking
        assert (await engine.take_snapshot()).seq == 1
        assert seqs(await engine.snapshots()) == [1, 0]


@in_loop
async def test_a_failed_one_is_told_to_who_asked_and_stops_nothing():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        store.save_error = StoreFull("no room")
        with pytest.raises(StoreFull):
            await engine.take_snapshot()
        assert engine.figures().snapshot_failures == 1
        assert engine.newest_snapshot.seq == 0
        await teach(engine, "b -> y")
        store.save_error = None
        assert (await engine.take_snapshot()).seq == 2


@in_loop
async def test_failing_to_clean_up_is_counted_and_mended_next_time():
    async with running(snapshot_keep=1) as (engine, store):
        await teach(engine, "a -> x")
        store.trim_error = StoreUnavailable("away")
        assert (await engine.take_snapshot()).seq == 1
        assert engine.figures().snapshot_failures == 1
        assert store.first_seq() == 1
        store.trim_error = None
        await teach(engine, "b -> y")
        await engine.take_snapshot()
        assert store.first_seq() is None


@in_loop
async def test_its_figures():
    clock = Clock()
    store = FaultyStore(clock=lambda: 77.0)
    engine = Engine(Settings(), store, clock)
    await engine.start()
    assert engine.snapshot_seconds is None
    await teach(engine, "a -> x")
    with store.before_save.shut() as gate:
        taking = asyncio.create_task(engine.take_snapshot())
        await gate.reached()
        clock.now += 3
    info = await taking
    assert engine.snapshot_seconds == 3
    assert (info.seq, info.taken_at) == (1, 77.0)
    assert info.bytes == sum(map(len, store.open_snapshot(1)))
    await engine.close()


@in_loop
async def test_is_written_by_a_thread_that_gives_way():
    before = priority()
    async with running() as (engine, store):
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
@in_loop
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


async def ticked(engine):
    """Let the schedule look, and wait for what it started; the newest snapshot's seq."""
    engine.tick()
    await asyncio.gather(*engine._tasks, return_exceptions=True)
    return engine.newest_snapshot.seq


@in_loop
async def test_one_is_due_after_so_many_events():
    async with running(snapshot_events=3, snapshot_seconds=0) as (engine, _):
        await teach(engine, "a -> x", "b -> x")
        engine._clock.now += 1e9
        assert await ticked(engine) == 0
        await teach(engine, "c -> x")
        assert await ticked(engine) == 3
        await teach(engine, "d -> x", "e -> x")
        assert await ticked(engine) == 3
        await teach(engine, "f -> x")
        assert await ticked(engine) == 6


@in_loop
async def test_one_is_due_after_a_time_if_something_changed():
    async with running(snapshot_events=0, snapshot_seconds=60) as (engine, store):
        engine._clock.now += 61
        store.save_error = StoreFull("not even tried")
        assert await ticked(engine) == 0
        assert engine.figures().snapshot_failures == 0
        store.save_error = None
        await teach(engine, "a -> x")
        assert await ticked(engine) == 1
        engine._clock.now += 61
        engine.tick()
        assert not engine._tasks  # it does not even look for something to do
        await teach(engine, "b -> x")
        engine._clock.now += 59 - 61
        assert await ticked(engine) == 1
        engine._clock.now += 1
        assert await ticked(engine) == 2


@in_loop
async def test_both_can_be_switched_off():
    async with running(snapshot_events=0, snapshot_seconds=0) as (engine, _):
        await teach(engine, *["a -> x"] * 10)
        engine._clock.now += 1e9
        assert await ticked(engine) == 0


@in_loop
async def test_after_a_failure_the_schedule_waits():
    async with running(snapshot_events=1, snapshot_seconds=0) as (engine, store):
        await teach(engine, "a -> x")
        store.save_error = StoreFull("no room")
        assert await ticked(engine) == 0
        store.save_error = None
        assert await ticked(engine) == 0
        await teach(engine, "b -> x")
        engine._clock.now += RETRY_SECONDS - 1
        assert await ticked(engine) == 0
        engine._clock.now += 1
        assert await ticked(engine) == 2
        assert engine.figures().snapshot_failures == 1


@in_loop
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


@in_loop
async def test_nobody_has_to_ask_how_a_scheduled_one_went(caplog):
    async with running(snapshot_events=1) as (engine, store):
        await teach(engine, "a -> x")
        store.save_error = StoreFull("no room")
        engine.tick()
        while engine._tasks:
            await asyncio.sleep(0)
        gc.collect()
        assert [record.message for record in caplog.records if record.name == "asyncio"] == []
        assert any("snapshot failed" in record.message for record in caplog.records)


@in_loop
async def test_one_is_due_at_once_when_recovery_had_to_do_without():
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


# --- keeping --------------------------------------------------------------------------------------


@in_loop
async def test_the_newest_are_kept_and_the_log_behind_the_oldest_of_them():
    async with running(snapshot_keep=2) as (engine, store):
        for text in ("a -> x", "b -> y", "c -> z"):
            await teach(engine, text, text)
            await engine.take_snapshot()
        assert seqs(await engine.snapshots()) == [6, 4]
        assert store.first_seq() == 5
        digest = engine.model.digest()
    store.damage_snapshot(6)
    assert recovered(store).digest() == digest


@in_loop
async def test_damaged_ones_do_not_count_and_go():
    async with running(snapshot_keep=2) as (engine, store):
        for text in ("a -> x", "b -> y"):
            await teach(engine, text)
            await engine.take_snapshot()
    store.damage_snapshot(2)
    async with running(store, snapshot_keep=2) as (engine, _):
        await teach(engine, "c -> z")
        await engine.take_snapshot()
        assert seqs(await engine.snapshots()) == [3, 1]
        assert store.first_seq() == 2
        await teach(engine, "d -> z")
        await engine.take_snapshot()
        assert seqs(await engine.snapshots()) == [4, 3]


@in_loop
async def test_one_that_a_mark_names_is_kept_until_the_mark_is_trimmed():
    async with running(snapshot_keep=2) as (engine, store):
        for text in ("a -> x", "b -> y"):
            await teach(engine, text)
            await engine.take_snapshot()  # 1, 2
        await engine.restore(1)  # mark and snapshot 3
        assert seqs(await engine.snapshots()) == [3, 2, 1]
        digest = engine.model.digest()
        store.damage_snapshot(3)
        assert recovered(store).digest() == digest
        await teach(engine, "c -> z")
        await engine.take_snapshot()
        assert seqs(await engine.snapshots()) == [4, 3]


# --- going back -----------------------------------------------------------------------------------


@in_loop
async def test_goes_back_to_the_state_of_a_snapshot():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        ranked = engine.rank(Instance(["a"]))
        await engine.take_snapshot()
        await teach(engine, "a -> y", "a -> y", "b -> y")
        assert engine.rank(Instance(["a"])) != ranked
        assert await engine.restore(1) == 5
        assert engine.rank(Instance(["a"])) == ranked
        assert engine.rank(Instance(["b"])) == []
        assert engine.model.seq == 5
        assert engine.newest_snapshot.seq == 5
        await teach(engine, "b -> z")
        assert engine.model.seq == 6
        assert recovered(store).digest() == engine.model.digest()


@in_loop
async def test_events_that_were_undone_may_come_again():
    async with running() as (engine, _):
        event = learn("a", "x", "one")
        await engine.submit([event])
        await engine.restore(0)
        assert (await engine.submit([event]))[0].duplicate is False
        assert (await engine.submit([event]))[0].duplicate is True


@in_loop
async def test_ranks_and_queues_while_it_goes_back():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        await engine.take_snapshot()
        await teach(engine, "a -> y")
        with store.before_append.shut() as gate:
            restoring = asyncio.create_task(engine.restore(1))
            await gate.reached()
            queued = engine.admit([learn("b", "z")])
            assert engine.rank(Instance(["a"]))
            assert not queued.done()
        assert await restoring == 3
        assert (await queued)[0].seq == 4
        assert recovered(store).digest() == engine.model.digest()


@in_loop
async def test_what_is_in_flight_is_learned_before_it_goes_back():
    async with running() as (engine, store):
        with store.before_append.shut() as gate:
            flying = engine.admit([learn("a", "x", "one")])
            await gate.reached()
            restoring = asyncio.create_task(engine.restore(0))
            await asyncio.sleep(0)
        assert (await flying)[0].seq == 1
        assert await restoring == 2
        assert recovered(store).digest() == engine.model.digest()


@in_loop
async def test_the_options_stay_those_of_the_settings():
    async with running(learner="svm(rating=5)") as (engine, store):
        await teach(engine, "a -> x")
    async with running(store, learner="svm(rating=7)", reconfigure=True) as (engine, _):
        await teach(engine, "b -> y")
        assert await engine.restore(1) == 5  # a mark and what sets the options again
        assert engine.model.options.rating == 7
        digest = engine.model.digest()
        store.damage_snapshot(5)
        assert recovered(store).digest() == digest
    async with running(store, learner="svm(rating=7)") as (engine, _):
        assert engine.model.digest() == digest


async def labels_after(engine, seq):
    await engine.restore(seq)
    return engine.model.model_set.labels


@in_loop
async def test_who_answers_stays_when_the_snapshot_has_what_it_learned():
    async with running(shadows=("pa",)) as (engine, store):
        await teach(engine, "a -> x")
        await engine.take_snapshot()
        await teach(engine, "b -> y")
        await engine.submit([Event.promote("pa")])
        assert await labels_after(engine, 1) == ["pa", "svm"]
        assert engine.model.seq == 5  # a mark, and what promotes it again
        assert [each.learner.learned for each in engine.model.enrolled] == [1, 1]
        digest = engine.model.digest()
        store.damage_snapshot(5)
        assert recovered(store).digest() == digest
    async with running(store, shadows=("pa",)) as (engine, _):
        assert engine.model.digest() == digest


@in_loop
async def test_who_answered_then_answers_when_the_snapshot_has_nothing_of_the_other():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
    async with running(store, shadows=("pa",), reconfigure=True) as (engine, _):
        await teach(engine, "b -> y")
        await engine.submit([Event.promote("pa")])
        assert await labels_after(engine, 1) == ["svm", "pa"]
        assert [each.learner.learned for each in engine.model.enrolled] == [1, 0]
        digest = engine.model.digest()
        store.damage_snapshot(engine.model.seq)
        assert recovered(store).digest() == digest


@in_loop
async def test_who_answered_then_answers_also_when_it_was_taken_away_since(caplog):
    async with running() as (engine, store):
        await teach(engine, "a -> x")
    async with running(store, shadows=("pa",), reconfigure=True) as (engine, _):
        await engine.submit([Event.promote("pa")])
    async with running(store, learner="pa", shadows=(), reconfigure=True) as (engine, _):
        assert engine.model.model_set.labels == ["pa"]
        assert await labels_after(engine, 1) == ["svm", "pa"]
        assert [each.learner.learned for each in engine.model.enrolled] == [1, 0]
        assert "name it in MANYCLASS_LEARNER or MANYCLASS_SHADOWS" in caplog.text
    async with running(store, learner="pa", shadows=("svm",)) as (engine, _):
        assert engine.model.model_set.labels == ["svm", "pa"]


async def with_a_snapshot(*lessons, **settings):
    """A store with a snapshot behind these lessons."""
    async with running(**settings) as (engine, store):
        await teach(engine, *lessons)
    return store


@in_loop
async def test_one_that_was_taken_away_since_does_not_come_back():
    store = await with_a_snapshot("a -> x", shadows=("pa",))
    async with running(store) as (engine, _):
        await engine.submit([Event.promote("pa")])
    async with running(store, learner="pa", shadows=(), reconfigure=True) as (engine, _):
        assert await labels_after(engine, 1) == ["pa"]
        assert engine.model.learner.learned == 1
    async with running(store, learner="pa", shadows=()) as (engine, _):
        assert engine.model.model_set.labels == ["pa"]


@in_loop
async def test_what_goes_on_from_the_one_that_answered_then_answers():
    store = await with_a_snapshot("a -> x", learner="svm(margin_threshold=0.3)")
    wanted = {"learner": "svm(margin_threshold=0.2)", "shadows": ("arow",)}
    async with running(store, **wanted, reconfigure=True) as (engine, _):
        await engine.submit([Event.promote("arow")])
        assert await labels_after(engine, 1) == ["svm(margin_threshold=0.2)", "arow"]
        assert [each.learner.learned for each in engine.model.enrolled] == [1, 0]
        digest = engine.model.digest()
        store.damage_snapshot(engine.model.seq)
        assert recovered(store).digest() == digest
    async with running(store, **wanted) as (engine, _):
        assert engine.model.digest() == digest


@in_loop
async def test_a_shadow_answers_when_nothing_else_in_force_has_learned():
    store = await with_a_snapshot("a -> x", shadows=("pa",))
    async with running(store, shadows=("pa", "arow"), reconfigure=True) as (engine, _):
        await engine.submit([Event.promote("arow")])
    async with running(store, learner="arow", shadows=("pa",), reconfigure=True) as (engine, _):
        assert await labels_after(engine, 1) == ["pa", "arow"]
        assert [each.learner.learned for each in engine.model.enrolled] == [1, 0]
    async with running(store, learner="arow", shadows=("pa",)) as (engine, _):
        assert engine.model.model_set.labels == ["pa", "arow"]


@in_loop
async def test_the_one_that_answers_stays_with_other_options_than_it_had_then():
    store = await with_a_snapshot("a -> x", shadows=("pa",))
    async with running(store, shadows=("pa(rivals=2)",), reconfigure=True) as (engine, _):
        await engine.submit([Event.promote("pa(rivals=2)")])
    wanted = {"learner": "pa(rivals=2)", "shadows": ()}
    async with running(store, **wanted, reconfigure=True) as (engine, _):
        assert await labels_after(engine, 1) == ["pa(rivals=2)"]
        assert engine.model.learner.learned == 1


@in_loop
async def test_the_one_that_answers_stays_when_nothing_was_learned_then():
    async with running() as (engine, store):
        pass
    async with running(store, shadows=("pa",), reconfigure=True) as (engine, _):
        await teach(engine, "a -> x")
        await engine.submit([Event.promote("pa")])
        assert await labels_after(engine, 0) == ["pa", "svm"]
    async with running(store, learner="pa", shadows=(), reconfigure=True) as (engine, _):
        assert await labels_after(engine, 0) == ["pa"]


@in_loop
async def test_cannot_go_back_to_one_that_would_make_too_many_learners():
    store = await with_a_snapshot("a -> x")
    shadows = tuple(f"pa(rivals={n})" for n in range(1, 16))
    async with running(store, shadows=shadows, reconfigure=True) as (engine, _):
        await engine.submit([Event.promote("pa(rivals=1)")])
    shadows = (*shadows[1:], "arow")
    wanted = {"learner": "pa(rivals=1)", "shadows": shadows, "reconfigure": True}
    async with running(store, **wanted) as (engine, _):
        await assert_unchanged(engine, store, OptionError, 1)


@in_loop
async def test_going_back_is_finished_when_the_one_who_asked_has_gone():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        with store.before_append.shut() as gate:
            restoring = asyncio.create_task(engine.restore(0))
            await gate.reached()
            restoring.cancel()
            with pytest.raises(asyncio.CancelledError):
                await restoring
        await teach(engine, "b -> y")
        assert engine.rank(Instance(["a"])) == []
        assert engine.model.seq == 3
        assert recovered(store).digest() == engine.model.digest()


async def assert_unchanged(engine, store, error, seq):
    before = (engine.model.digest(), store.last_seq, engine.model)
    with pytest.raises(error):
        await engine.restore(seq)
    assert (engine.model.digest(), store.last_seq, engine.model) == before
    await teach(engine, "still -> learning")


@in_loop
async def test_cannot_go_back_to_what_is_not_there():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        await assert_unchanged(engine, store, SnapshotMissing, 1)


@in_loop
async def test_cannot_go_back_to_what_is_damaged():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        await engine.take_snapshot()
        store.damage_snapshot(1)
        await assert_unchanged(engine, store, SnapshotDamaged, 1)
        assert await ticked(engine) == 2  # now that it is known to be damaged
        assert seqs(await engine.snapshots()) == [2, 0]


@in_loop
async def test_a_newest_one_that_proves_damaged_is_taken_again():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        await engine.take_snapshot()
        store.damage_snapshot(1)
        with pytest.raises(SnapshotDamaged):
            await engine.restore(1)
        assert await ticked(engine) == 1
        assert load_snapshot(store, 1, 0).digest() == engine.model.digest()


@in_loop
async def test_the_log_says_where_a_store_is_that_cannot_be_read(monkeypatch, caplog):
    def away(*args):
        raise StoreUnavailable("/srv/store: away", "put it back")

    async with running() as (engine, store):
        monkeypatch.setattr(store, "snapshots", away)
        monkeypatch.setattr(store, "open_snapshot", away)
        for work in (engine.snapshots(), engine.restore(0)):
            caplog.clear()
            with pytest.raises(StoreUnavailable):
                await work
            [record] = caplog.records
            assert record.message.endswith("/srv/store: away; put it back")
        monkeypatch.undo()


@in_loop
async def test_cannot_go_back_without_a_mark_in_the_log():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        store.append_errors = [StoreUnavailable("away")]
        await assert_unchanged(engine, store, StoreUnavailable, 0)


@in_loop
async def test_has_gone_back_even_if_no_snapshot_of_it_can_be_taken():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        store.save_error = StoreFull("no room")
        assert await engine.restore(0) == 2
        assert engine.rank(Instance(["a"])) == []
        assert engine.figures().snapshot_failures == 1
        assert recovered(store).digest() == engine.model.digest()


@in_loop
async def test_stops_when_a_mark_that_is_durable_cannot_be_followed(monkeypatch):
    def broken(self, seq, snapshot_seq, rules):
        raise MemoryError("no more")

    async with running() as (engine, store):
        await teach(engine, "a -> x")
        monkeypatch.setattr(Model, "restored", broken)
        with pytest.raises(NotReady, match=r"event 2 .* no more"):
            await engine.restore(0)
        assert (engine.status, engine.model.seq, store.last_seq) == ("failed", 1, 2)
        assert engine.rank(Instance(["a"]))
        with pytest.raises(NotReady):
            await engine.submit([learn("b", "y")])
        monkeypatch.undo()
    again = recovered(store)
    assert (again.seq, again.restores) == (2, [(2, 0)])


@in_loop
async def test_has_gone_back_also_when_its_snapshot_breaks():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
        store.save_error = ZeroDivisionError("a defect")
        assert await engine.restore(0) == 2
        assert engine.rank(Instance(["a"])) == []
        store.save_error, store.trim_error = None, ZeroDivisionError("another")
        assert (await engine.take_snapshot()).seq == 2
        assert engine.figures().snapshot_failures == 2


@pytest.mark.parametrize("durable", [False, True], ids=["before the mark", "after the mark"])
def test_a_crash_while_it_goes_back_leaves_the_one_state_or_the_other(durable):
    store = FaultyStore()

    async def until_the_crash():
        engine = Engine(Settings(), store, Clock())
        await engine.start()
        await teach(engine, "a -> x")
        before = engine.model.digest()
        gate = store.after_append if durable else store.before_append
        with gate.shut():
            restoring = asyncio.create_task(engine.restore(0))
            await gate.reached()
            if not durable:  # the process ends here, so the append never happens
                store.append_error = StoreUnavailable("ended")
            there = [Event.from_bytes(data).kind for _, data in store.inner.read(0)]
            found = recovered(store)
        await asyncio.wait([restoring])
        return before, there, found

    before, there, found = asyncio.run(until_the_crash())
    assert there == (["learn", "restore"] if durable else ["learn"])
    if durable:
        assert (found.seq, found.restores) == (2, [(2, 0)])
        assert found.rank(Instance(["a"])) == []
    else:
        assert found.digest() == before

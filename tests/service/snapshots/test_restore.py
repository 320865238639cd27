"""Restore: back to the state of a snapshot, while the service runs."""

import asyncio

import pytest

from manyclass.core.errors import OptionError
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.model import Model
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.errors import NotReady
from manyclass.service.log.snapshot_loader import load_snapshot
from manyclass.service.store.errors import (
    SnapshotDamaged,
    SnapshotMissing,
    StoreFull,
    StoreUnavailable,
)
from tests.service.engines import digest_without_newest, recovered, running, seqs, teach, ticked
from tests.service.faulty import Clock, FaultyStore, appending, learn


async def test_goes_back_to_the_state_of_a_snapshot(engine, store):
    await teach(engine, "a -> x")
    ranked = engine.model.rank(Instance(["a"]))
    await engine.take_snapshot()
    await teach(engine, "a -> y", "a -> y", "b -> y")
    assert engine.model.rank(Instance(["a"])) != ranked
    assert await engine.restore(1) == 5
    assert engine.model.rank(Instance(["a"])) == ranked
    assert engine.model.rank(Instance(["b"])) == []
    assert engine.model.seq == 5
    assert engine.newest_snapshot.seq == 5
    await teach(engine, "b -> z")
    assert engine.model.seq == 6
    assert recovered(store).digest() == engine.model.digest()


async def test_events_that_were_undone_may_come_again(engine):
    event = learn("a", "x", "one")
    await engine.submit([event])
    await engine.restore(0)
    assert (await engine.submit([event]))[0].duplicate is False
    assert (await engine.submit([event]))[0].duplicate is True


async def test_ranks_and_queues_while_it_goes_back(engine, store):
    await teach(engine, "a -> x")
    await engine.take_snapshot()
    await teach(engine, "a -> y")
    with store.before_append.shut() as gate:
        restoring = asyncio.create_task(engine.restore(1))
        await gate.reached()
        queued = engine.admit([learn("b", "z")])
        assert engine.model.rank(Instance(["a"]))
        assert not queued.done()
    assert await restoring == 3
    assert (await queued)[0].seq == 4
    assert recovered(store).digest() == engine.model.digest()


async def test_events_in_flight_are_learned_before_the_restore(engine, store):
    async with appending(store, engine, learn("a", "x", "one")) as flying:
        restoring = asyncio.create_task(engine.restore(0))
        await asyncio.sleep(0)
    assert (await flying)[0].seq == 1
    assert await restoring == 2
    assert recovered(store).digest() == engine.model.digest()


async def test_the_options_stay_those_of_the_settings():
    async with running(learner="svm(rating=5)") as (engine, store):
        await teach(engine, "a -> x")
    async with running(store, learner="svm(rating=7)", reconfigure=True) as (engine, _):
        await teach(engine, "b -> y")
        assert await engine.restore(1) == 5  # a mark and the event that sets the options again
        assert engine.model.options.rating == 7
        digest = digest_without_newest(engine, store)
    async with running(store, learner="svm(rating=7)") as (engine, _):
        assert engine.model.digest() == digest


async def labels_after(engine, seq):
    await engine.restore(seq)
    return engine.model.model_set.labels


async def test_the_primary_stays_when_the_snapshot_has_its_state():
    async with running(shadows=("pa",)) as (engine, store):
        await teach(engine, "a -> x")
        await engine.take_snapshot()
        await teach(engine, "b -> y")
        await engine.submit([Event.promote("pa")])
        assert await labels_after(engine, 1) == ["pa", "svm"]
        assert engine.model.seq == 5  # a mark and the event that promotes the learner again
        assert [each.learner.learned for each in engine.model.enrolled] == [1, 1]
        digest = digest_without_newest(engine, store)
    async with running(store, shadows=("pa",)) as (engine, _):
        assert engine.model.digest() == digest


async def test_the_primary_of_the_snapshot_returns_when_the_snapshot_lacks_the_present_one():
    async with running() as (engine, store):
        await teach(engine, "a -> x")
    async with running(store, shadows=("pa",), reconfigure=True) as (engine, _):
        await teach(engine, "b -> y")
        await engine.submit([Event.promote("pa")])
        assert await labels_after(engine, 1) == ["svm", "pa"]
        assert [each.learner.learned for each in engine.model.enrolled] == [1, 0]
        digest_without_newest(engine, store)


async def test_the_primary_of_the_snapshot_returns_also_after_its_removal(caplog):
    async with running() as (engine, store):
        await teach(engine, "a -> x")
    async with running(store, shadows=("pa",), reconfigure=True) as (engine, _):
        await engine.submit([Event.promote("pa")])
    async with running(store, learner="pa", shadows=(), reconfigure=True) as (engine, _):
        assert engine.model.model_set.labels == ["pa"]
        assert await labels_after(engine, 1) == ["svm", "pa"]
        assert [each.learner.learned for each in engine.model.enrolled] == [1, 0]
        assert "so svm is added as the primary learner" in caplog.text
    for shadows in ((), ("svm",), None):  # as before the restore, or as after it
        async with running(store, learner="pa", shadows=shadows) as (engine, _):
            assert engine.model.model_set.labels == ["svm", "pa"]


async def with_a_snapshot(*lessons, **settings):
    """Return a store with a snapshot after these learn events."""
    async with running(**settings) as (engine, store):
        await teach(engine, *lessons)
    return store


async def test_a_removed_learner_does_not_return():
    store = await with_a_snapshot("a -> x", shadows=("pa",))
    async with running(store) as (engine, _):
        await engine.submit([Event.promote("pa")])
    async with running(store, learner="pa", shadows=(), reconfigure=True) as (engine, _):
        assert await labels_after(engine, 1) == ["pa"]
        assert engine.model.learner.learned == 1
    async with running(store, learner="pa", shadows=()) as (engine, _):
        assert engine.model.model_set.labels == ["pa"]


async def test_a_learner_that_continues_the_former_primary_becomes_primary():
    store = await with_a_snapshot("a -> x", learner="svm(margin_threshold=0.3)")
    wanted = {"learner": "svm(margin_threshold=0.2)", "shadows": ("arow",)}
    async with running(store, **wanted, reconfigure=True) as (engine, _):
        await engine.submit([Event.promote("arow")])
        assert await labels_after(engine, 1) == ["svm(margin_threshold=0.2)", "arow"]
        assert [each.learner.learned for each in engine.model.enrolled] == [1, 0]
        digest = digest_without_newest(engine, store)
    async with running(store, **wanted) as (engine, _):
        assert engine.model.digest() == digest


async def test_a_shadow_answers_when_nothing_else_in_force_has_learned():
    store = await with_a_snapshot("a -> x", shadows=("pa",))
    async with running(store, shadows=("pa", "arow"), reconfigure=True) as (engine, _):
        await engine.submit([Event.promote("arow")])
    async with running(store, learner="arow", shadows=("pa",), reconfigure=True) as (engine, _):
        assert await labels_after(engine, 1) == ["pa", "arow"]
        assert [each.learner.learned for each in engine.model.enrolled] == [1, 0]
    async with running(store, learner="arow", shadows=("pa",)) as (engine, _):
        assert engine.model.model_set.labels == ["pa", "arow"]


async def test_the_one_that_answers_stays_with_other_options_than_it_had_then():
    store = await with_a_snapshot("a -> x", shadows=("pa",))
    async with running(store, shadows=("pa(negatives=2)",), reconfigure=True) as (engine, _):
        await engine.submit([Event.promote("pa(negatives=2)")])
    wanted = {"learner": "pa(negatives=2)", "shadows": ()}
    async with running(store, **wanted, reconfigure=True) as (engine, _):
        assert await labels_after(engine, 1) == ["pa(negatives=2)"]
        assert engine.model.learner.learned == 1


async def test_the_one_that_answers_stays_when_nothing_was_learned_then():
    async with running() as (engine, store):
        pass
    async with running(store, shadows=("pa",), reconfigure=True) as (engine, _):
        await teach(engine, "a -> x")
        await engine.submit([Event.promote("pa")])
        assert await labels_after(engine, 0) == ["pa", "svm"]
    async with running(store, learner="pa", shadows=(), reconfigure=True) as (engine, _):
        assert await labels_after(engine, 0) == ["pa"]


async def test_cannot_go_back_to_one_that_would_make_too_many_learners():
    store = await with_a_snapshot("a -> x")
    shadows = tuple(f"pa(negatives={n})" for n in range(1, 16))
    async with running(store, shadows=shadows, reconfigure=True) as (engine, _):
        await engine.submit([Event.promote("pa(negatives=1)")])
    shadows = (*shadows[1:], "arow")
    wanted = {"learner": "pa(negatives=1)", "shadows": shadows, "reconfigure": True}
    async with running(store, **wanted) as (engine, _):
        await assert_unchanged(engine, store, OptionError, 1)


async def test_a_restore_finishes_after_its_client_disconnects(engine, store):
    await teach(engine, "a -> x")
    with store.before_append.shut() as gate:
        restoring = asyncio.create_task(engine.restore(0))
        await gate.reached()
        restoring.cancel()
        with pytest.raises(asyncio.CancelledError):
            await restoring
    await teach(engine, "b -> y")
    assert engine.model.rank(Instance(["a"])) == []
    assert engine.model.seq == 3
    assert recovered(store).digest() == engine.model.digest()


async def assert_unchanged(engine, store, error, seq):
    before = (engine.model.digest(), store.last_seq, engine.model)
    with pytest.raises(error):
        await engine.restore(seq)
    assert (engine.model.digest(), store.last_seq, engine.model) == before
    await teach(engine, "still -> learning")


async def test_cannot_go_back_to_what_is_not_there(engine, store):
    await teach(engine, "a -> x")
    await assert_unchanged(engine, store, SnapshotMissing, 1)


async def test_cannot_go_back_to_what_is_damaged(engine, store):
    await teach(engine, "a -> x")
    await engine.take_snapshot()
    store.damage_snapshot(1)
    await assert_unchanged(engine, store, SnapshotDamaged, 1)
    assert await ticked(engine) == 2  # now that it is known to be damaged
    assert seqs(await engine.snapshots()) == [2, 0]


async def test_a_newest_one_that_proves_damaged_is_taken_again(engine, store):
    await teach(engine, "a -> x")
    await engine.take_snapshot()
    store.damage_snapshot(1)
    with pytest.raises(SnapshotDamaged):
        await engine.restore(1)
    assert await ticked(engine) == 1
    assert load_snapshot(store, 1, 0).digest() == engine.model.digest()


async def test_the_log_names_an_unreadable_store(engine, store, monkeypatch, caplog):
    def away(*args):
        raise StoreUnavailable("/srv/store: away", "put it back")

    monkeypatch.setattr(store, "snapshots", away)
    monkeypatch.setattr(store, "open_snapshot", away)
    for work in (engine.snapshots(), engine.restore(0)):
        caplog.clear()
        with pytest.raises(StoreUnavailable):
            await work
        [record] = caplog.records
        assert record.message.endswith("/srv/store: away; put it back")
    monkeypatch.undo()


async def test_cannot_go_back_without_a_mark_in_the_log(engine, store):
    await teach(engine, "a -> x")
    store.append_errors = [StoreUnavailable("away")]
    await assert_unchanged(engine, store, StoreUnavailable, 0)


async def test_has_gone_back_even_if_no_snapshot_of_it_can_be_taken(engine, store):
    await teach(engine, "a -> x")
    store.save_error = StoreFull("no room")
    assert await engine.restore(0) == 2
    assert engine.model.rank(Instance(["a"])) == []
    assert engine.stats().snapshot_failures == 1
    assert recovered(store).digest() == engine.model.digest()


async def test_stops_when_a_mark_that_is_durable_cannot_be_followed(monkeypatch):
    def broken(self, seq, snapshot_seq, rules):
        raise MemoryError("no more")

    async with running() as (engine, store):
        await teach(engine, "a -> x")
        monkeypatch.setattr(Model, "restored", broken)
        with pytest.raises(NotReady, match=r"event 2 .* no more"):
            await engine.restore(0)
        assert (engine.status, engine.model.seq, store.last_seq) == ("failed", 1, 2)
        assert engine.model.rank(Instance(["a"]))
        with pytest.raises(NotReady):
            await engine.submit([learn("b", "y")])
        monkeypatch.undo()
    again = recovered(store)
    assert (again.seq, again.restores) == (2, [(2, 0)])


async def test_has_gone_back_also_when_its_snapshot_breaks(engine, store):
    await teach(engine, "a -> x")
    store.save_error = ZeroDivisionError("a defect")
    assert await engine.restore(0) == 2
    assert engine.model.rank(Instance(["a"])) == []
    store.save_error, store.trim_error = None, ZeroDivisionError("another")
    assert (await engine.take_snapshot()).seq == 2
    assert engine.stats().snapshot_failures == 2


@pytest.mark.parametrize("durable", [False, True], ids=["before the mark", "after the mark"])
def test_a_crash_while_it_goes_back_leaves_the_one_state_or_the_other(durable):
    store = FaultyStore()

    async def until_the_crash():
        engine = Engine(Settings(), Cluster(store), Clock())
        await engine.start()
        await teach(engine, "a -> x")
        before = engine.model.digest()
        gate = store.after_append if durable else store.before_append
        with gate.shut():
            restoring = asyncio.create_task(engine.restore(0))
            await gate.reached()
            if not durable:  # the process ends here, so the append never happens
                store.append_error = StoreUnavailable("ended")
            there = [Event.from_bytes(data).kind for _, data in store.read(0)]
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

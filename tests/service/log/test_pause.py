"""Learning that is paused says so, with the reason, and is tried until the store takes events."""

import asyncio
from types import SimpleNamespace

import pytest

from manyclass.service.engine import TRIAL_BYTES
from manyclass.service.log import apply_loop, group_commit
from manyclass.service.store.errors import (
    CommitOutcomeUnknown,
    StoreDamaged,
    StoreFull,
    StoreUnavailable,
)
from tests.service.engines import running, until
from tests.service.faulty import PATIENCE, FaultyStore, appending, learn
from tests.service.log.parts import committing

BROKEN = [
    (StoreFull("/srv/x.db: no room", "make some"), "store_full"),
    (StoreUnavailable("/srv/x.db: no answer", "wait"), "store_unavailable"),
    (CommitOutcomeUnknown("/srv/x.db: no reply", "again"), "store_unavailable"),
    (StoreDamaged("/srv/x.db is another one", "restart"), "store_unavailable"),
    (OSError(5, "failing", "/srv/x.db"), "store_unavailable"),
    (MemoryError("std::bad_alloc"), "memory"),
]


@pytest.mark.parametrize(("error", "reason"), BROKEN)
async def test_a_refused_append_pauses_learning_until_a_trial_succeeds(error, reason):
    async with committing() as (parts, commit):
        assert commit.pause is None
        parts.store.append_error = error
        with pytest.raises(MemoryError if reason == "memory" else StoreUnavailable):
            await commit.admit([learn("a")])
        assert commit.pause.reason == reason
        assert "/srv" not in commit.pause.detail
        assert commit.is_full == (reason == "store_full")
        await commit.try_store()
        assert commit.pause.reason == reason
        parts.store.append_error = None
        await commit.try_store()
        assert commit.pause is None
        assert not commit.has_to_try
        await commit.admit([learn("a")])


async def test_only_an_append_as_large_as_the_refused_one_ends_the_pause():
    """A full disk may have room for one event, and refuse each batch."""
    async with committing() as (parts, commit):
        batch = [learn(f"a{number}") for number in range(50)]
        parts.store.append_errors = [StoreFull("no room")]
        with pytest.raises(StoreFull):
            await commit.admit(batch)
        await commit.admit([learn("b")])
        assert commit.pause.reason == "store_full"
        await commit.try_store()
        assert parts.store.checks == [sum(len(bytes(event)) for event in batch)]
        assert commit.pause is None
        parts.store.append_errors = [StoreFull("no room")]
        with pytest.raises(StoreFull):
            await commit.admit(batch)
        await commit.admit(batch)
        assert commit.pause is None


async def test_a_trial_is_no_larger_than_one_append(monkeypatch):
    monkeypatch.setattr(group_commit, "COMMIT_BYTES", 100)
    async with committing() as (parts, commit):
        parts.store.append_error = StoreFull("no room")
        with pytest.raises(StoreFull):
            await commit.admit([learn(f"a{number}") for number in range(50)])
        await commit.try_store()
        assert parts.store.checks == [100]


async def test_an_append_that_hangs_pauses_learning(monkeypatch):
    async with committing() as (parts, commit):
        async with appending(parts.store, commit, learn("a")) as answer:
            assert commit.pause is None
            monkeypatch.setattr(group_commit, "SLOW_SECONDS", -1.0)
            assert commit.pause.reason == "store_slow"
        await answer
        assert commit.pause is None


async def test_a_state_that_is_held_pauses_learning(monkeypatch):
    monkeypatch.setattr(apply_loop, "SLOW_SECONDS", -1.0)
    async with committing() as (parts, _):
        assert parts.apply_loop.pause is None
        async with parts.apply_loop.quiet():
            assert parts.apply_loop.pause.reason == "state_held"
        assert parts.apply_loop.pause is None


async def test_a_state_that_is_replaced_pauses_learning(monkeypatch):
    monkeypatch.setattr(apply_loop, "SLOW_SECONDS", -1.0)
    async with running() as (engine, _):
        await engine.submit([learn("a")])
        await engine.take_snapshot()
        seen = []
        loop = engine._pipeline.apply_loop
        loaded = loop._loader.load

        async def load(seq):
            seen.append(engine.pause)
            return await loaded(seq)

        monkeypatch.setattr(loop._loader, "load", load)
        await engine.restore(1)
        assert {each.reason for each in seen if each is not None} == {"state_held"}
        assert engine.pause is None


async def test_the_engine_tries_by_itself():
    async with running() as (engine, store):
        store.append_error = StoreFull("no room")
        with pytest.raises(StoreFull):
            await engine.submit([learn("a")])
        assert engine.pause.reason == "store_full"
        assert engine.stats().store_full
        engine.tick()
        await engine._tasks.join()
        assert engine.stats().store_full
        store.append_error = None
        engine.tick()
        await engine._tasks.join()
        assert engine.pause is None
        assert not engine.stats().store_full
        assert len(store.checks) == 3  # with that of the start
        engine.tick()  # a store that takes events is not tried
        await engine._tasks.join()
        assert len(store.checks) == 3


async def test_an_engine_knows_from_its_start_that_the_store_is_full(caplog):
    store = FaultyStore()
    store.append_error = StoreFull("no room")
    async with running(store) as (engine, _):
        assert engine.pause.reason == "store_full"
        assert engine.stats().store_full
        [size] = {*store.checks}
        assert size == TRIAL_BYTES
        assert len([each for each in caplog.messages if "accepts no events" in each]) == 1
        store.append_error = None
        engine.tick()
        await engine._tasks.join()
        assert engine.pause is None
        assert {*store.checks} == {size}
        await engine.submit([learn("a")])


async def test_an_engine_that_cannot_learn_says_why():
    async with running() as (engine, _):
        engine._pipeline.group_commit.fail("an event broke")
        assert engine.pause == ("failed", "an event broke")
    assert engine.pause.reason == "failed"


async def test_a_trial_under_way_is_not_repeated(monkeypatch):
    async with running() as (engine, store):
        store.append_error = StoreFull("no room")
        with pytest.raises(StoreFull):
            await engine.submit([learn("a")])
        store.append_error = None
        with store.before_append.shut():
            passes = store.before_append.pass_through
            monkeypatch.setattr(store, "check_append", lambda _: passes())
            engine.tick()
            await asyncio.sleep(0)
            assert not engine._pipeline.group_commit.has_to_try
        await engine._tasks.join()
        assert engine.pause is None


async def test_an_event_that_waits_for_memory_is_answered_and_learned_later(
    monkeypatch, short_waits
):
    lacks = True
    memory = SimpleNamespace(has_memory=lambda: not lacks)
    monkeypatch.setattr(apply_loop, "PublishedLearner", memory)
    monkeypatch.setattr(apply_loop, "MEMORY_SECONDS", 0.01)
    async with committing() as (parts, commit):
        commit._patience = 0
        with pytest.raises(CommitOutcomeUnknown):
            await asyncio.wait_for(commit.admit([learn("a")]), PATIENCE)
        assert (parts.model.seq, parts.store.last_seq) == (0, 1)
        lacks = False
        await until(lambda: parts.model.seq == 1)

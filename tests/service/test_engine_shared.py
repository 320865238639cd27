"""Several engines on one log: the same state in each, and nothing lost or learned twice."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from manyclass.core import rules
from manyclass.core.errors import EventConflict, UnknownName
from manyclass.core.event import Event, Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.service import engine as engine_module
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.log import group_commit
from manyclass.service.log.apply_loop import Result
from manyclass.service.log.group_commit import NotReady
from manyclass.service.store.protocol import (
    CommitOutcomeUnknown,
    LogDamaged,
    LogRewound,
    StoreUnavailable,
)
from tests.service.faulty import PATIENCE, Clock, in_loop, learn, many_turns
from tests.service.shared import SharedLog, SharedMemoryStore


@pytest.fixture(autouse=True)
def no_long_waits(monkeypatch):
    monkeypatch.setattr(engine_module, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(engine_module, "AGAIN_SECONDS", 0.02)
    monkeypatch.setattr(group_commit, "LOOK_SECONDS", 0.02)


@asynccontextmanager
async def engine_on(log, name, ready=True, **settings):
    """An engine of its own on the log, ready unless told otherwise, closed in the end."""
    wanted = {"snapshot_events": 0, "snapshot_seconds": 0, "store_seconds": 0.3} | settings
    engine = Engine(Settings(**wanted), log.store(name), Clock())
    starting = asyncio.create_task(engine.start())
    try:
        if ready:
            await starting
            assert engine.status == "ready", engine.failure
        yield engine
    finally:
        await engine.close()
        await starting


@asynccontextmanager
async def engines_on(log, names, **settings):
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(engine_on(log, name, **settings)) for name in names]


async def until(condition):
    """Return when it holds; a test that waits too long has failed."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)


async def equal(*engines):
    """Return when all are at the end of the log, where they have to hold the same."""
    last = engines[0].store.last_seq
    for engine in engines:
        assert await engine.reached(last, PATIENCE)
    assert len({engine.model.digest() for engine in engines}) == 1


# --- one order for all ----------------------------------------------------------------------------


@in_loop
async def test_each_learns_what_the_others_were_told():
    log = SharedLog()
    async with engines_on(log, "ABC") as engines:
        answers = await asyncio.gather(
            *(
                engine.submit([learn(f"f{n} g{n % 3}", f"c{n % 5}")])
                for n in range(60)
                for engine in engines
            )
        )
        assert sorted(result.seq for [result] in answers) == list(range(1, 181))
        await equal(*engines)


@in_loop
async def test_an_answer_is_given_when_the_event_is_applied_there():
    log = SharedLog()
    async with engines_on(log, "AB") as (first, second):
        for n in range(20):
            engine = (first, second)[n % 2]
            [result] = await engine.submit([learn("a", f"c{n}")])
            assert engine.model.seq >= result.seq
            assert f"c{n}" in [name for name, _ in engine.rank(Instance(["a"]), 100)]


@in_loop
async def test_one_that_comes_later_is_where_the_others_are():
    log = SharedLog()
    async with engine_on(log, "A") as first:
        await first.submit([learn("a", "x", "one"), learn("b", "y")])
        await first.take_snapshot()
        await first.submit([learn("c", "z")])
        async with engine_on(log, "B") as second:
            assert second.recovery.snapshot.seq == 2
            assert second.model.digest() == first.model.digest()
            await first.submit([learn("d", "z")])
            await equal(first, second)


@in_loop
async def test_two_that_found_a_store_at_once_begin_with_the_same_options():
    log = SharedLog()
    first = Engine(Settings(learner="svm(rating=3)", store_seconds=0.3), log.store("A"), Clock())
    second = Engine(Settings(learner="svm(rating=5)", store_seconds=0.3), log.store("B"), Clock())
    await asyncio.gather(first.start(), second.start())
    assert sorted([first.status, second.status]) == ["failed", "ready"]
    await asyncio.gather(first.close(), second.close())


@in_loop
async def test_other_options_reach_all():
    log = SharedLog()
    async with (
        engine_on(log, "A", learner="svm(rating=3)") as first,
        engine_on(log, "B", learner="svm(rating=7)", reconfigure=True) as second,
    ):
        await equal(first, second)
        assert first.model.options.rating == 7


@in_loop
async def test_who_answers_is_the_same_in_all():
    log = SharedLog()
    async with engines_on(log, "AB", shadows=("pa", "ema")) as (first, second):
        await first.submit([learn("a", "x"), learn("a b", "y")])
        await second.submit([Event.promote("pa")])
        await equal(first, second)
        async with engine_on(log, "C", shadows=("pa", "ema")) as third:
            await equal(first, second, third)
            assert third.model.model_set.labels == ["pa", "svm", "ema"]
        async with engine_on(log, "D", shadows=("pa", "arow"), reconfigure=True) as fourth:
            await equal(first, second, fourth)
            assert first.model.model_set.labels == ["pa", "svm", "arow"]


@in_loop
async def test_a_promotion_and_a_change_that_cross_leave_all_with_the_same():
    log = SharedLog()
    async with engines_on(log, "AB", shadows=("pa",)) as (first, second):
        without = ModelSet(Options()).to_dict()
        await asyncio.gather(
            first.submit([Event.promote("pa")]),
            second.submit([Event.configure(without)]),
            first.submit([learn("a", "x")]),
            return_exceptions=True,
        )
        await equal(first, second)
        assert first.model.seq == 3


# --- retries and conflicts ------------------------------------------------------------------------


@in_loop
async def test_a_retry_at_another_process_is_learned_once():
    log = SharedLog()
    async with engines_on(log, "AB") as (first, second):
        event = learn("a", "x", "one")
        answers = await asyncio.gather(first.submit([event]), second.submit([event]))
        assert sorted(answers) == [[Result(1, False, None, True)], [Result(1, True, None, False)]]
        assert await first.submit([event]) == [Result(1, True, None, False)]
        await equal(first, second)
        assert first.model.learner.learned == 1


@in_loop
async def test_a_conflict_at_another_process_keeps_the_whole_request_out():
    log = SharedLog()
    async with engines_on(log, "AB") as (first, second):
        mine, other = learn("a", "x", "one"), learn("b", "y", "one")
        with second.store.before_append.shut() as gate:
            request = asyncio.create_task(second.submit([learn("z", "z", "two"), other]))
            await gate.reached()
            await first.submit([mine])
        with pytest.raises(EventConflict) as caught:
            await request
        assert (caught.value.position, caught.value.event_id, caught.value.seq) == (1, "one", 1)
        await equal(first, second)
        assert first.model.seq == 3
        assert first.model.learner.learned == 1
        assert first.model.seen("two") is None
    async with engine_on(log, "C") as third:  # which reads all of it from the log
        assert third.model.digest() == second.model.digest()


@in_loop
async def test_a_conflict_is_told_at_its_place_also_behind_retries():
    log = SharedLog()
    async with engines_on(log, "AB") as (first, second):
        known = learn("k", "k", "known")
        await second.submit([known])
        with second.store.before_append.shut() as gate:
            request = asyncio.create_task(second.submit([known, learn("b", "y", "one")]))
            await gate.reached()
            await first.submit([learn("a", "x", "one")])
        with pytest.raises(EventConflict) as caught:
            await request
        assert caught.value.position == 1


@in_loop
async def test_what_two_forget_at_once_is_forgotten():
    log = SharedLog()
    async with engines_on(log, "AB") as (first, second):
        await first.submit([learn("a", "x")])
        await equal(first, second)
        with second.store.before_append.shut() as gate:
            request = asyncio.create_task(second.submit([Event.forget_class("x")]))
            await gate.reached()
            await first.submit([Event.forget_class("x")])
        assert [result.seq for result in await request] == [3]
        with pytest.raises(UnknownName):
            await first.submit([Event.forget_class("x")])
        await equal(first, second)


# --- a store that is away, slow, or loses replies -------------------------------------------------


@in_loop
async def test_while_the_store_is_away_ranking_goes_on_and_learning_comes_back():
    log = SharedLog()
    async with engine_on(log, "A") as engine:
        await engine.submit([learn("a", "x")])
        log.away = True
        with pytest.raises(StoreUnavailable):
            await engine.submit([learn("b", "y", "one")])
        assert engine.rank(Instance(["a"]))
        assert engine.status == "ready"
        log.away = False
        assert (await engine.submit([learn("b", "y", "one")]))[0].seq == 2


@in_loop
async def test_a_store_that_does_not_answer_is_not_waited_for_longer_than_allowed():
    log = SharedLog()
    async with engine_on(log, "A") as engine:
        with engine.store.before_append.shut() as gate:
            under_way = asyncio.create_task(engine.submit([learn("a", "x", "one")]))
            await gate.reached()
            waiting = asyncio.create_task(engine.submit([learn("b", "y", "two")]))
            with pytest.raises(CommitOutcomeUnknown):
                await under_way
            with pytest.raises(StoreUnavailable) as caught:
                await waiting
            assert not isinstance(caught.value, CommitOutcomeUnknown)
            assert engine.figures().queued_events == 0
        await engine.reached(1, PATIENCE)  # the first one was on its way
        assert await engine.submit([learn("a", "x", "one")]) == [Result(1, True, None, False)]
        assert await engine.submit([learn("b", "y", "two")]) == [Result(2, False, None, True)]
        assert engine.model.learner.learned == 2


@in_loop
async def test_a_lost_reply_is_uncertain_and_a_retry_is_learned_once():
    log = SharedLog()
    async with engines_on(log, "AB") as (first, second):
        first.store.lost_replies = 1
        event = learn("a", "x", "one")
        with pytest.raises(CommitOutcomeUnknown):
            await first.submit([event])
        assert first.figures().uncertain == 1
        assert await second.submit([event]) == [Result(1, True, None, False)]
        await equal(first, second)


@in_loop
async def test_what_is_in_the_log_and_not_brought_here_is_not_called_learned():
    log = SharedLog()
    async with engine_on(log, "A") as engine:
        with engine.store.follows.shut() as gate:
            await gate.reached()
            with pytest.raises(CommitOutcomeUnknown):
                await engine.submit([learn("a", "x")])
            assert engine.model.seq == 0
        assert await engine.reached(1, PATIENCE)


@in_loop
async def test_it_waits_for_a_store_that_is_away_at_the_start():
    log = SharedLog()
    log.away = True
    async with engine_on(log, "A", ready=False) as engine:
        await asyncio.sleep(0.1)
        assert engine.status == "recovering"
        log.away = False
        await until(lambda: engine.status == "ready")


@in_loop
async def test_it_can_be_closed_while_it_waits_for_the_store():
    log = SharedLog()
    log.away = True
    async with engine_on(log, "A", ready=False) as engine:
        await asyncio.sleep(0.05)
    assert engine.status == "closed"


@in_loop
async def test_it_can_be_closed_while_the_store_is_away():
    log = SharedLog()
    async with engine_on(log, "A") as engine:
        await engine.submit([learn("a", "x")])
        log.away = True
    assert engine.status == "closed"


@in_loop
async def test_a_retry_is_not_acknowledged_before_what_it_repeats_is_durable():
    log = SharedLog()
    async with engines_on(log, "AB") as (first, second):
        event = learn("a", "x", "one")
        await first.submit([event])
        await second.reached(1, PATIENCE)
        second.store.confirm_error = CommitOutcomeUnknown("no replica has it", "mend them")
        with pytest.raises(CommitOutcomeUnknown):
            await second.submit([event])
        second.store.confirm_error = None
        assert await second.submit([event]) == [Result(1, True, None, False)]
        assert second.store.confirmed == 2
        assert log.inner.last_seq == 1


@in_loop
async def test_an_event_that_comes_before_the_reply_is_answered_after_it():
    log = SharedLog()
    async with engine_on(log, "A") as engine:
        with engine.store.after_append.shut():
            answer = engine.admit([learn("a", "x")])
            assert await engine.reached(1, PATIENCE)
            await many_turns()
            assert not answer.done()
        assert (await answer)[0].seq == 1


@in_loop
async def test_it_closes_when_the_event_came_before_the_reply():
    log = SharedLog()
    async with engine_on(log, "A", store_seconds=PATIENCE) as engine:
        with engine.store.after_append.shut():
            answer = engine.admit([learn("a", "x")])
            assert await engine.reached(1, PATIENCE)
            closing = asyncio.create_task(engine.close())
            await many_turns()
        await asyncio.wait_for(closing, PATIENCE)
        assert (await answer)[0].seq == 1


@in_loop
async def test_a_retry_set_aside_does_not_join_what_follows_to_another_request():
    log = SharedLog()
    async with engines_on(log, "AB") as (first, second):
        known = learn("k", "k", "known")
        await first.submit([known])
        await first.submit([known, learn("a", "x", "one"), learn("b", "y", "two")])
        logged = [Event.from_bytes(data).joined for _, data in log.inner.read(0)]
        assert logged == [False, False, True]
        await equal(first, second)


@in_loop
async def test_what_nobody_waits_for_any_more_is_not_kept_for():
    log = SharedLog()
    async with engine_on(log, "A") as engine:
        event = learn("a", "x", "one")
        for _ in range(5):
            await engine.submit([event])
        assert engine._writer._landing == {}
        with engine.store.follows.shut() as gate:
            await gate.reached()
            with pytest.raises(CommitOutcomeUnknown):
                await engine.submit([learn("b", "y")])
            await until(lambda: engine._writer._landing == {})
        assert await engine.reached(2, PATIENCE)


@in_loop
async def test_whatever_else_a_shared_store_raises_leaves_it_open_what_became_of_the_events():
    log = SharedLog()
    async with engine_on(log, "A") as engine:
        engine.store.append_errors = [ZeroDivisionError()]
        with pytest.raises(CommitOutcomeUnknown, match="broke"):
            await engine.submit([learn("a", "x")])


# --- how far each is ------------------------------------------------------------------------------


@in_loop
async def test_one_can_wait_for_an_event():
    log = SharedLog()
    async with engines_on(log, "AB") as (first, second):
        assert await second.reached(0, 0)
        assert not await second.reached(1, 0.05)
        waiting = asyncio.create_task(second.reached(1, PATIENCE))
        await first.submit([learn("a", "x")])
        assert await waiting
        assert second.model.seq >= 1


@in_loop
async def test_the_lag_counts_what_is_in_the_log_of_others():
    log = SharedLog()
    async with engines_on(log, "AB") as (first, second):
        with second.store.follows.shut() as gate:
            await gate.reached()
            await first.submit([learn("a", "x")] * 7)
            await until(lambda: second.figures().log_lag == 7)
        await until(lambda: second.figures().log_lag == 0)
        await until(lambda: second.figures().processes == 2)


@in_loop
async def test_the_store_is_said_to_be_away(monkeypatch):
    log = SharedLog()
    async with engine_on(log, "A") as engine:
        await until(lambda: engine.beat is not None)
        assert engine.figures().store_away_seconds == 0
        log.away = True
        await until(lambda: engine.figures().store_away_seconds > 0.1)
        assert not engine.figures().leads
        log.away = False
        await until(lambda: engine.figures().store_away_seconds == 0)


# --- snapshots ------------------------------------------------------------------------------------


@in_loop
async def test_one_takes_the_snapshots_and_another_when_it_has_gone():
    log = SharedLog()
    async with engine_on(log, "B", snapshot_events=5, snapshot_keep=2) as second:
        log.leader = None
        async with engine_on(log, "A", snapshot_events=5, snapshot_keep=2) as first:
            await until(lambda: first.figures().leads != second.figures().leads)
            leads = first if first.figures().leads else second
            for n in range(30):
                await (first, second)[n % 2].submit([learn("a", f"c{n}")])
                await asyncio.sleep(0.005)
            await until(lambda: len(log.inner.snapshots()) == 2)
            taken = log.inner.snapshots()[0].seq
            await until(lambda: first.newest_snapshot == second.newest_snapshot)
            with pytest.raises(LogDamaged):
                list(log.inner.read(0))
        if leads is second:
            return
        await until(lambda: second.figures().leads)
        await second.submit([learn("a", "y")] * 10)
        await until(lambda: log.inner.snapshots()[0].seq > taken)


@in_loop
async def test_going_back_to_a_snapshot_is_followed_by_all():
    log = SharedLog()
    async with engines_on(log, "AB") as (first, second):
        await first.submit([learn("a", "x", "one")])
        await first.take_snapshot()
        await second.submit([learn("a", "y", "two"), learn("b", "y")])
        assert await second.restore(1) == 4
        await equal(first, second)
        assert [name for name, _ in first.rank(Instance(["a", "b"]))] == ["x"]
        again = await first.submit([learn("a", "y", "two"), learn("a", "x", "one")])
        assert [result.duplicate for result in again] == [False, True]
        await equal(first, second)
    async with engine_on(log, "C") as third:
        assert third.model.digest() == second.model.digest()


@in_loop
async def test_a_snapshot_that_a_mark_has_named_meanwhile_is_not_deleted():
    log = SharedLog()
    async with engines_on(log, "AB", snapshot_keep=1) as (first, second):
        await until(lambda: first.figures().leads or second.figures().leads)
        leader, other = (first, second) if first.figures().leads else (second, first)
        await other.submit([learn("a", "x")])
        await equal(first, second)
        await leader.take_snapshot()
        await other.submit([learn("b", "y")])
        await equal(first, second)
        with leader.store.before_save.shut() as gate, other.store.before_save.shut():
            taking = asyncio.create_task(leader.take_snapshot())
            await gate.reached()
            restoring = asyncio.create_task(other.restore(1))
            assert await leader.reached(3, PATIENCE)
            gate.open()
            assert (await taking).seq == 2
            assert [info.seq for info in log.inner.snapshots()] == [2, 1]
            async with engine_on(log, "C") as third:
                assert third.model.digest() == leader.model.digest()
        await restoring


@in_loop
async def test_no_snapshot_is_kept_of_a_state_that_the_log_has_lost():
    log = SharedLog()
    async with engine_on(log, "A") as engine:
        for n in range(4):
            await engine.submit([learn("a", f"c{n}")])
        with engine.store.before_save.shut() as gate:
            taking = asyncio.create_task(engine.take_snapshot())
            await gate.reached()
            log.lose_after(2)
            await until(lambda: engine.figures().rewinds == 1)
            await until(lambda: engine.status == "ready")
            await engine.submit([learn("new", "new")])
        with pytest.raises(StoreUnavailable, match="lost events"):
            await taking
        assert log.inner.last_seq == 3
        assert engine.rank(Instance(["new"]))
        assert engine.newest_snapshot.seq <= 2
        assert (await engine.take_snapshot()).seq == 3


# --- a log that lost its end, or its beginning ----------------------------------------------------


@in_loop
async def test_when_the_log_has_lost_events_all_go_back_to_what_it_holds(caplog):
    log = SharedLog()
    async with engines_on(log, "AB") as (first, second):
        await first.submit([learn("a", "x", "one")])
        await first.submit([learn("b", "y", "two")])
        await equal(first, second)
        log.lose_after(1)
        await until(lambda: (first.figures().rewinds, second.figures().rewinds) == (1, 1))
        await until(lambda: first.status == second.status == "ready")
        assert first.model.seq == 1
        assert any("no longer holds event 2" in record.message for record in caplog.records)
        assert await second.submit([learn("b", "z", "two")]) == [Result(2, False, None, True)]
        await equal(first, second)


@in_loop
async def test_ranking_goes_on_while_the_state_is_restored_anew():
    log = SharedLog()
    async with engine_on(log, "A") as engine:
        await engine.submit([learn("a", "x")])
        await engine.take_snapshot()
        await engine.submit([learn("b", "y")])
        log.away = True
        log.lose_after(1)
        await until(lambda: engine.status == "recovering")
        assert engine.rank(Instance(["b"]))
        with pytest.raises(NotReady):
            await engine.submit([learn("c", "z")])
        log.away = False
        await until(lambda: engine.status == "ready")
        assert not engine.rank(Instance(["b"]))


@in_loop
async def test_one_that_is_far_behind_a_trimmed_log_loads_a_snapshot():
    log = SharedLog()
    async with engines_on(log, "AB", snapshot_keep=1) as (first, second):
        await until(lambda: first.figures().leads or second.figures().leads)
        leader, other = (first, second) if first.figures().leads else (second, first)
        with other.store.follows.shut() as gate:
            await gate.reached()
            for n in range(5):
                await leader.submit([learn("a", f"c{n}")])
            await leader.take_snapshot()
        await until(lambda: other.model.seq == 5)
        await until(lambda: other.status == "ready")
        await equal(first, second)
        assert other.figures().rewinds == 0  # nothing was lost


@in_loop
async def test_an_event_of_a_later_version_stops_learning_and_not_ranking():
    log = SharedLog()
    async with engine_on(log, "A") as engine:
        await engine.submit([learn("a", "x")])
        log.store("newer").append([b"\x09" + bytes(20)], 1)
        await until(lambda: engine.status == "failed")
        assert "event 1" in engine.failure
        assert engine.rank(Instance(["a"]))
        with pytest.raises(NotReady):
            await engine.submit([learn("a", "x")])


@in_loop
async def test_after_a_failure_nothing_more_is_applied_and_nobody_waits_for_it():
    log = SharedLog()
    async with engine_on(log, "A", snapshot_keep=1) as failing:
        await until(lambda: failing.figures().leads)
        await failing.submit([learn("a", "x")])
        stranger = log.store("newer")
        stranger.append([b"\x09" + bytes(20)])
        stranger.append([bytes(learn("b", "y"))])
        await until(lambda: failing.status == "failed")
        await many_turns()
        assert failing.model.seq == 1
        assert not failing.rank(Instance(["b"]))
        assert not await failing.reached(3, 0)
        assert not failing.figures().leads
        assert failing.figures().store_away_seconds == 0
        beats = failing.store.beats
        await asyncio.sleep(0.1)
        assert failing.store.beats == beats


@in_loop
async def test_a_log_that_loses_events_while_the_state_is_restored_is_read_again(monkeypatch):
    log = SharedLog()
    async with engine_on(log, "A") as engine:
        for n in range(4):
            await engine.submit([learn("a", f"c{n}")])
        reads, read = [], SharedMemoryStore.read

        def lose_once(self, after):
            reads.append(after)
            if len(reads) == 1:
                raise LogRewound(3)
            return read(self, after)

        monkeypatch.setattr(SharedMemoryStore, "read", lose_once)
        log.lose_after(2)
        await until(lambda: len(reads) == 2)
        await until(lambda: engine.status == "ready")
        assert engine.model.seq == 2


@in_loop
async def test_damage_that_is_found_when_the_state_is_restored_anew_is_mended():
    log = SharedLog()
    async with engine_on(log, "A", snapshot_keep=3) as engine:
        for n in range(3):
            await engine.submit([learn("a", f"c{n}")])
            await engine.take_snapshot()
        info, _ = log.inner._snapshots[2]
        log.inner._snapshots[2] = (info, [b"rubbish"])
        log.lose_after(2)
        await until(lambda: engine.figures().rewinds == 1 and engine.status == "ready")
        assert engine.recovery.snapshot.seq == 1
        await until(lambda: b"".join(log.inner.open_snapshot(2)) != b"rubbish")
        assert Model.load(log.inner.open_snapshot(2)).digest() == engine.model.digest()


@in_loop
async def test_a_store_that_is_away_is_told_of_once(caplog):
    log = SharedLog()
    async with engine_on(log, "A") as engine:
        log.away = True
        await until(lambda: engine.figures().store_away_seconds > 0.2)
        told = [r.message for r in caplog.records if "the store does not answer" in r.message]
        assert len(told) == 1
        log.away = False
        await until(lambda: engine.figures().store_away_seconds == 0)


# --- a full store ---------------------------------------------------------------------------------


@in_loop
async def test_the_leader_of_a_full_store_keeps_one_snapshot_and_no_log_before_it():
    log = SharedLog()
    async with engines_on(log, "AB", snapshot_keep=3) as (first, second):
        await until(lambda: first.figures().leads or second.figures().leads)
        for n in range(3):
            await first.submit([learn("a", f"c{n}")])
            await first.take_snapshot()
        await first.submit([learn("a", "c")])
        await equal(first, second)
        assert len(log.inner.snapshots()) > 1
        log.full = True
        with pytest.raises(StoreUnavailable):
            await second.submit([learn("a", "d")])
        await until(lambda: [info.seq for info in log.inner.snapshots()] == [4])
        await until(lambda: not log.batches)
        assert second.figures().store_full
        log.full = False
        await until(lambda: not (first.figures().store_full or second.figures().store_full))
        await second.submit([learn("a", "d")])
        await equal(first, second)
        assert [info.seq for info in log.inner.snapshots()] == [4]  # the schedule asks for none


# --- two releases ---------------------------------------------------------------------------------


@in_loop
async def test_the_last_to_stop_leaves_a_snapshot_though_another_led(monkeypatch):
    log = SharedLog()
    async with engine_on(log, "A") as leader:
        await until(lambda: leader.figures().leads)
        monkeypatch.setattr(engine_module, "TICK_SECONDS", 60)  # no beat tells it that A is gone
        async with engine_on(log, "B") as last:
            await leader.close()
            await last.submit([learn("a", "c")])
            assert not last.figures().leads
        assert log.inner.snapshots()[0].seq == log.inner.last_seq


@in_loop
async def test_rules_are_raised_by_one_event_and_by_one_engine(monkeypatch):
    monkeypatch.setattr(rules, "RULES", 1)
    log = SharedLog()
    async with engine_on(log, "A") as older:
        await older.submit([learn("a", "c")])
        await until(lambda: older.figures().leads)
    monkeypatch.setattr(rules, "RULES", 2)
    async with AsyncExitStack() as stack:
        engines = [
            await stack.enter_async_context(engine_on(log, name, ready=False)) for name in "BCD"
        ]
        for engine in engines:
            await until(lambda each=engine: each.status == "ready")
        await engines[0].submit([learn("a", "d")])
        await equal(*engines)
        kinds = [Event.from_bytes(payload).kind for _, payload in log.inner.read(0)]
        assert kinds.count("rules") == 1
        assert engines[0].model.rules == 2


@in_loop
async def test_rules_are_not_raised_while_an_older_process_lives(monkeypatch):
    monkeypatch.setattr(rules, "RULES", 1)
    log = SharedLog()
    async with engine_on(log, "A") as older:
        await older.submit([learn("a", "c")])
        await older.take_snapshot()
        elder = log.store("elder")  # of a release that tells no version, and beats now and then
        elder.beat(1)
    monkeypatch.setattr(rules, "RULES", 2)
    async with engine_on(log, "B", ready=False) as newer:
        await until(lambda: newer.waiting is not None)
        await asyncio.sleep(0.1)
        assert "older release" in newer.waiting
        assert newer.rank(Instance({"a": 1})) != []  # meanwhile it ranks
        with pytest.raises(NotReady):
            await newer.submit([learn("a", "d")])
        assert not newer.figures().leads
        assert log.leader is not newer.store
        elder.close()
        await until(lambda: newer.status == "ready")
        assert newer.model.rules == 2

"""Several engines on one log: the same state in each, and nothing lost or learned twice."""

import asyncio

import pytest

from manyclass.core.errors import EventConflict, UnknownName
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model_set import ModelSet
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.log.request import Result
from manyclass.service.store.errors import CommitOutcomeUnknown, LogTrimmed, StoreUnavailable
from tests.core.streams import lessons
from tests.service.batches import batch_of
from tests.service.engines import engine_on, engines_on, equal, leader_first, until
from tests.service.faulty import PATIENCE, Clock, learn, many_turns

pytestmark = pytest.mark.usefixtures("short_waits")

# --- one order for all ----------------------------------------------------------------------------


async def test_each_learns_the_events_of_the_others(log):
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


async def test_an_answer_is_given_when_the_event_is_applied_there(first, second):
    for n in range(20):
        engine = (first, second)[n % 2]
        [result] = await engine.submit([learn("a", f"c{n}")])
        assert engine.model.seq >= result.seq
        assert f"c{n}" in [name for name, _ in engine.model.rank(Instance(["a"]), 100)]


async def test_a_later_process_reaches_the_same_state(log):
    async with engine_on(log, "A") as first:
        await first.submit([learn("a", "x", "one"), learn("b", "y")])
        await first.take_snapshot()
        await first.submit([learn("c", "z")])
        async with engine_on(log, "B") as second:
            assert second.recovery.snapshot.seq == 2
            assert second.model.digest() == first.model.digest()
            await first.submit([learn("d", "z")])
            await equal(first, second)


async def test_two_that_found_a_store_at_once_begin_with_the_same_options(log):
    first = Engine(
        Settings(learner="svm(rating=3)", store_seconds=0.3), Cluster(log.store("A")), Clock()
    )
    second = Engine(
        Settings(learner="svm(rating=5)", store_seconds=0.3), Cluster(log.store("B")), Clock()
    )
    await asyncio.gather(first.start(), second.start())
    assert sorted([first.status, second.status]) == ["failed", "ready"]
    await asyncio.gather(first.close(), second.close())


async def test_other_options_reach_all(log):
    async with (
        engine_on(log, "A", learner="svm(rating=3)") as first,
        engine_on(log, "B", learner="svm(rating=7)", reconfigure=True) as second,
    ):
        await equal(first, second)
        assert first.model.options.rating == 7


async def test_the_primary_is_the_same_in_all(log):
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


async def test_a_promotion_and_a_change_that_cross_leave_all_with_the_same(log):
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


async def test_a_retry_at_another_process_is_learned_once(first, second):
    event = learn("a", "x", "one")
    answers = await asyncio.gather(first.submit([event]), second.submit([event]))
    assert sorted(answers) == [[Result(1, False, None, True)], [Result(1, True, None, False)]]
    assert await first.submit([event]) == [Result(1, True, None, False)]
    await equal(first, second)
    assert first.model.learner.learned == 1


async def test_a_conflict_at_another_process_keeps_the_whole_request_out(log):
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
    async with engine_on(log, "C") as third:  # it reads everything from the log
        assert third.model.digest() == second.model.digest()


async def test_a_conflict_is_reported_at_its_place_also_behind_retries(first, second):
    known = learn("k", "k", "known")
    await second.submit([known])
    with second.store.before_append.shut() as gate:
        request = asyncio.create_task(second.submit([known, learn("b", "y", "one")]))
        await gate.reached()
        await first.submit([learn("a", "x", "one")])
    with pytest.raises(EventConflict) as caught:
        await request
    assert caught.value.position == 1


async def test_a_class_forgotten_by_two_processes_at_once(first, second):
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


async def test_while_the_store_is_away_ranking_goes_on_and_learning_comes_back(log, first):
    await first.submit([learn("a", "x")])
    log.away = True
    with pytest.raises(StoreUnavailable):
        await first.submit([learn("b", "y", "one")])
    assert first.model.rank(Instance(["a"]))
    assert first.status == "ready"
    log.away = False
    assert (await first.submit([learn("b", "y", "one")]))[0].seq == 2


async def test_a_store_that_does_not_answer_is_not_waited_for_longer_than_allowed(impatient):
    with impatient.store.before_append.shut() as gate:
        under_way = asyncio.create_task(impatient.submit([learn("a", "x", "one")]))
        await gate.reached()
        waiting = asyncio.create_task(impatient.submit([learn("b", "y", "two")]))
        with pytest.raises(CommitOutcomeUnknown):
            await under_way
        with pytest.raises(StoreUnavailable) as caught:
            await waiting
        assert not isinstance(caught.value, CommitOutcomeUnknown)
        assert impatient.stats().queued_events == 0
    await impatient.reached(1, PATIENCE)  # the first event was on its way
    assert await impatient.submit([learn("a", "x", "one")]) == [Result(1, True, None, False)]
    assert await impatient.submit([learn("b", "y", "two")]) == [Result(2, False, None, True)]
    assert impatient.model.learner.learned == 2


async def test_a_lost_reply_is_uncertain_and_a_retry_is_learned_once(first, second):
    first.store.lost_replies = 1
    event = learn("a", "x", "one")
    with pytest.raises(CommitOutcomeUnknown):
        await first.submit([event])
    assert first.stats().uncertain == 1
    assert await second.submit([event]) == [Result(1, True, None, False)]
    await equal(first, second)


async def test_an_event_not_read_back_is_not_acknowledged(impatient):
    with impatient.store.follows.shut() as gate:
        await gate.reached()
        with pytest.raises(CommitOutcomeUnknown):
            await impatient.submit([learn("a", "x")])
        assert impatient.model.seq == 0
    assert await impatient.reached(1, PATIENCE)


async def test_a_start_waits_for_an_unreachable_store(log):
    log.away = True
    async with engine_on(log, "A", ready=False) as engine:
        await asyncio.sleep(0.1)
        assert engine.status == "recovering"
        log.away = False
        await until(lambda: engine.status == "ready")


async def test_close_while_the_start_waits_for_the_store(log):
    log.away = True
    async with engine_on(log, "A", ready=False) as engine:
        await asyncio.sleep(0.05)
    assert engine.status == "closed"


async def test_close_while_the_store_is_unreachable(log):
    async with engine_on(log, "A") as engine:
        await engine.submit([learn("a", "x")])
        log.away = True
    assert engine.status == "closed"


async def test_a_retry_is_not_acknowledged_before_what_it_repeats_is_durable(log, first, second):
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


async def test_an_event_that_comes_before_the_reply_is_answered_after_it(first):
    with first.store.after_append.shut():
        answer = first.admit([learn("a", "x")])
        assert await first.reached(1, PATIENCE)
        await many_turns()
        assert not answer.done()
    assert (await answer)[0].seq == 1


async def test_close_when_the_event_came_before_the_reply(log):
    async with engine_on(log, "A") as engine:
        with engine.store.after_append.shut():
            answer = engine.admit([learn("a", "x")])
            assert await engine.reached(1, PATIENCE)
            closing = asyncio.create_task(engine.close())
            await many_turns()
        await asyncio.wait_for(closing, PATIENCE)
        assert (await answer)[0].seq == 1


async def test_a_retry_set_aside_does_not_join_what_follows_to_another_request(log, first, second):
    known = learn("k", "k", "known")
    await first.submit([known])
    await first.submit([known, learn("a", "x", "one"), learn("b", "y", "two")])
    logged = [Event.from_bytes(data).joined for _, data in log.inner.read(0)]
    assert logged == [False, False, True]
    await equal(first, second)


async def test_abandoned_requests_are_not_kept(impatient):
    event = learn("a", "x", "one")
    for _ in range(5):
        await impatient.submit([event])
    assert impatient._pipeline.group_commit._landing == {}
    with impatient.store.follows.shut() as gate:
        await gate.reached()
        with pytest.raises(CommitOutcomeUnknown):
            await impatient.submit([learn("b", "y")])
        await until(lambda: impatient._pipeline.group_commit._landing == {})
    assert await impatient.reached(2, PATIENCE)


async def test_other_errors_of_a_shared_store_leave_the_outcome_unknown(first):
    first.store.append_errors = [ZeroDivisionError()]
    with pytest.raises(CommitOutcomeUnknown, match="the store failed"):
        await first.submit([learn("a", "x")])


# --- batches of plain events ----------------------------------------------------------------------


async def test_batches_and_events_of_processes_have_one_order(first, second):
    one, two = lessons(40), lessons(40, 40)
    batches = [first.admit_batch(batch_of(*one[at : at + 8])) for at in range(0, 40, 8)]
    answers = [second.admit([event]) for event in two]
    numbers = [result.seq for [result] in await asyncio.gather(*answers)]
    for batch in await asyncio.gather(*batches):
        numbers += range(batch.first_seq, batch.first_seq + len(batch))
    assert sorted(numbers) == list(range(1, 81))
    await equal(first, second)


async def test_a_batch_whose_reply_is_lost_is_uncertain(first, second):
    first.store.lost_replies = 1
    with pytest.raises(CommitOutcomeUnknown):
        await first.admit_batch(batch_of(*lessons(3)))
    assert first.stats().uncertain == 1
    assert await first.reached(3, PATIENCE)
    await equal(first, second)


async def test_a_batch_that_comes_before_the_reply_is_answered_after_it(first):
    with first.store.after_append.shut():
        answer = first.admit_batch(batch_of(*lessons(3)))
        assert await first.reached(3, PATIENCE)
        await many_turns()
        assert not answer.done()
    assert (await answer).first_seq == 1


async def test_a_batch_does_not_wait_longer_for_the_store_than_allowed(impatient):
    with impatient.store.before_append.shut() as gate:
        under_way = impatient.admit_batch(batch_of(*lessons(3)))
        await gate.reached()
        waiting = impatient.admit_batch(batch_of(*lessons(3, 3)))
        with pytest.raises(CommitOutcomeUnknown):
            await under_way
        with pytest.raises(StoreUnavailable) as caught:
            await waiting
        assert not isinstance(caught.value, CommitOutcomeUnknown)
        assert impatient.stats().queued_events == 0
    assert await impatient.reached(3, PATIENCE)
    assert impatient.model.learner.learned == 3


# --- snapshots ------------------------------------------------------------------------------------


async def test_another_process_takes_the_snapshots_after_the_leader(log):
    async with engine_on(log, "B", snapshot_events=5, snapshot_keep=2) as second:
        log.leader = None
        async with engine_on(log, "A", snapshot_events=5, snapshot_keep=2) as first:
            await until(lambda: first.stats().is_leader != second.stats().is_leader)
            leader = first if first.stats().is_leader else second
            for n in range(30):
                await (first, second)[n % 2].submit([learn("a", f"c{n}")])
                await asyncio.sleep(0.005)
            await until(lambda: len(log.inner.snapshots()) == 2)
            taken = log.inner.snapshots()[0].seq
            await until(lambda: first.newest_snapshot == second.newest_snapshot)
            with pytest.raises(LogTrimmed):
                list(log.inner.read(0))
        if leader is second:
            return
        await until(lambda: second.stats().is_leader)
        await second.submit([learn("a", "y")] * 10)
        await until(lambda: log.inner.snapshots()[0].seq > taken)


async def test_going_back_to_a_snapshot_is_followed_by_all(log):
    async with engines_on(log, "AB") as (first, second):
        await first.submit([learn("a", "x", "one")])
        await first.take_snapshot()
        await second.submit([learn("a", "y", "two"), learn("b", "y")])
        assert await second.restore(1) == 4
        await equal(first, second)
        assert [name for name, _ in first.model.rank(Instance(["a", "b"]))] == ["x"]
        again = await first.submit([learn("a", "y", "two"), learn("a", "x", "one")])
        assert [result.duplicate for result in again] == [False, True]
        await equal(first, second)
    async with engine_on(log, "C") as third:
        assert third.model.digest() == second.model.digest()


async def test_a_snapshot_that_a_mark_has_named_meanwhile_is_not_deleted(log):
    async with engines_on(log, "AB", snapshot_keep=1) as (first, second):
        leader, other = await leader_first(first, second)
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


async def test_no_snapshot_is_kept_of_a_state_that_the_log_has_lost(log, first):
    for n in range(4):
        await first.submit([learn("a", f"c{n}")])
    with first.store.before_save.shut() as gate:
        taking = asyncio.create_task(first.take_snapshot())
        await gate.reached()
        log.lose_after(2)
        await until(lambda: first.stats().rewinds == 1)
        await until(lambda: first.status == "ready")
        await first.submit([learn("new", "new")])
    with pytest.raises(StoreUnavailable, match="lost events"):
        await taking
    assert log.inner.last_seq == 3
    assert first.model.rank(Instance(["new"]))
    assert first.newest_snapshot.seq <= 2
    assert (await first.take_snapshot()).seq == 3

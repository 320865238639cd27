"""The cluster: heartbeats, leadership, rewound logs, and releases with other rules."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from manyclass.core import rules
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.model import Model
from manyclass.service import cluster
from manyclass.service import engine as engine_module
from manyclass.service.errors import NotReady
from manyclass.service.log.request import Result
from manyclass.service.store.errors import LogRewound, StoreUnavailable
from tests.service.engines import engine_on, engines_on, equal, leader_first, until
from tests.service.faulty import PATIENCE, Gate, learn, many_turns
from tests.service.shared import SharedMemoryStore

pytestmark = pytest.mark.usefixtures("short_waits")

# --- how far each is ------------------------------------------------------------------------------


async def test_reached_waits_for_an_event(first, second):
    assert await second.reached(0, 0)
    assert not await second.reached(1, 0.05)
    waiting = asyncio.create_task(second.reached(1, PATIENCE))
    await first.submit([learn("a", "x")])
    assert await waiting
    assert second.model.seq >= 1


async def test_the_lag_counts_what_is_in_the_log_of_others(first, second):
    with second.store.follows.shut() as gate:
        await gate.reached()
        await first.submit([learn("a", "x")] * 7)
        await until(lambda: second.stats().log_lag == 7)
    await until(lambda: second.stats().log_lag == 0)
    await until(lambda: second.stats().processes == 2)


async def test_the_store_is_said_to_be_away(log, first, monkeypatch):
    await until(lambda: first.cluster.heartbeat is not None)
    assert first.stats().store_unreachable_seconds == 0
    log.away = True
    await until(lambda: first.stats().store_unreachable_seconds > 0.1)
    assert not first.stats().is_leader
    log.away = False
    await until(lambda: first.stats().store_unreachable_seconds == 0)


# --- a log that lost its end, or its beginning ----------------------------------------------------


async def test_all_go_back_when_the_log_has_lost_events(log, first, second, caplog):
    await first.submit([learn("a", "x", "one")])
    await first.submit([learn("b", "y", "two")])
    await equal(first, second)
    log.lose_after(1)
    await until(lambda: (first.stats().rewinds, second.stats().rewinds) == (1, 1))
    await until(lambda: first.status == second.status == "ready")
    assert first.model.seq == 1
    assert any("no longer has event 2" in record.message for record in caplog.records)
    assert await second.submit([learn("b", "z", "two")]) == [Result(2, False, None, True)]
    await equal(first, second)


async def test_ranking_goes_on_while_the_state_is_restored_anew(log, first):
    await first.submit([learn("a", "x")])
    await first.take_snapshot()
    await first.submit([learn("b", "y")])
    log.away = True
    log.lose_after(1)
    await until(lambda: first.status == "recovering")
    assert first.model.rank(Instance(["b"]))
    with pytest.raises(NotReady):
        await first.submit([learn("c", "z")])
    log.away = False
    await until(lambda: first.status == "ready")
    assert not first.model.rank(Instance(["b"]))


async def test_a_process_behind_a_trimmed_log_loads_a_snapshot(log):
    async with engines_on(log, "AB", snapshot_keep=1) as (first, second):
        leader, other = await leader_first(first, second)
        with other.store.follows.shut() as gate:
            await gate.reached()
            for n in range(5):
                await leader.submit([learn("a", f"c{n}")])
            await leader.take_snapshot()
        await until(lambda: other.model.seq == 5)
        await until(lambda: other.status == "ready")
        await equal(first, second)
        assert other.stats().rewinds == 0  # nothing was lost


async def test_an_event_of_a_later_version_stops_learning_and_not_ranking(log, first):
    await first.submit([learn("a", "x")])
    log.store("newer").append([b"\x09" + bytes(20)], 1)
    await until(lambda: first.status == "failed")
    assert "event 1" in first.failure
    assert first.model.rank(Instance(["a"]))
    with pytest.raises(NotReady):
        await first.submit([learn("a", "x")])


async def test_after_a_failure_nothing_more_is_applied_and_nobody_waits_for_it(log):
    async with engine_on(log, "A", snapshot_keep=1) as failing:
        await until(lambda: failing.stats().is_leader)
        await failing.submit([learn("a", "x")])
        stranger = log.store("newer")
        stranger.append([b"\x09" + bytes(20)])
        stranger.append([bytes(learn("b", "y"))])
        await until(lambda: failing.status == "failed")
        await many_turns()
        assert failing.model.seq == 1
        assert not failing.model.rank(Instance(["b"]))
        assert not await failing.reached(3, 0)
        assert not failing.stats().is_leader
        assert failing.stats().store_unreachable_seconds == 0
        heartbeats = failing.store.heartbeats
        await asyncio.sleep(0.1)
        assert failing.store.heartbeats == heartbeats


async def test_a_log_rewound_during_a_restore_is_read_again(log, first, monkeypatch):
    for n in range(4):
        await first.submit([learn("a", f"c{n}")])
    reads, read = [], SharedMemoryStore.read

    def lose_once(self, after):
        reads.append(after)
        if len(reads) == 1:
            raise LogRewound(3)
        return read(self, after)

    monkeypatch.setattr(SharedMemoryStore, "read", lose_once)
    log.lose_after(2)
    await until(lambda: len(reads) == 2)
    await until(lambda: first.status == "ready")
    assert first.model.seq == 2


async def test_damage_that_is_found_when_the_state_is_restored_anew_is_mended(log):
    async with engine_on(log, "A", snapshot_keep=3) as engine:
        for n in range(3):
            await engine.submit([learn("a", f"c{n}")])
            await engine.take_snapshot()
        info, _ = log.inner._snapshots[2]
        log.inner._snapshots[2] = (info, [b"rubbish"])
        log.lose_after(2)
        await until(lambda: engine.stats().rewinds == 1 and engine.status == "ready")
        assert engine.recovery.snapshot.seq == 1
        await until(lambda: b"".join(log.inner.open_snapshot(2)) != b"rubbish")
        assert Model.load(log.inner.open_snapshot(2)).digest() == engine.model.digest()


async def test_a_store_that_is_away_is_told_of_once(log, first, caplog):
    log.away = True
    await until(lambda: first.stats().store_unreachable_seconds > 0.2)
    told = [r.message for r in caplog.records if "the store does not answer" in r.message]
    assert len(told) == 1
    log.away = False
    await until(lambda: first.stats().store_unreachable_seconds == 0)


# --- a full store ---------------------------------------------------------------------------------


async def test_the_leader_of_a_full_store_keeps_one_snapshot_and_no_log_before_it(log):
    async with engines_on(log, "AB", snapshot_keep=3) as (first, second):
        await until(lambda: first.stats().is_leader or second.stats().is_leader)
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
        assert second.stats().store_full
        log.full = False
        await until(lambda: not (first.stats().store_full or second.stats().store_full))
        await second.submit([learn("a", "d")])
        await equal(first, second)
        assert [info.seq for info in log.inner.snapshots()] == [4]  # the schedule asks for none


# --- two releases ---------------------------------------------------------------------------------


async def test_the_last_to_stop_leaves_a_snapshot_though_another_led(log, monkeypatch):
    async with engine_on(log, "A") as leader:
        await until(lambda: leader.stats().is_leader)
        monkeypatch.setattr(
            engine_module, "TICK_SECONDS", 60
        )  # no heartbeat reports that A is gone
        async with engine_on(log, "B") as last:
            await leader.close()
            await last.submit([learn("a", "c")])
            assert not last.stats().is_leader
        assert log.inner.snapshots()[0].seq == log.inner.last_seq


async def test_rules_are_raised_by_one_event_and_by_one_engine(log, monkeypatch):
    present = rules.RULES
    async with engine_on(log, "A") as older:
        await older.submit([learn("a", "c")])
        await until(lambda: older.stats().is_leader)
    monkeypatch.setattr(rules, "RULES", present + 1)
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
        assert engines[0].model.rules == present + 1


async def test_rules_are_not_raised_while_an_older_process_lives(log, monkeypatch):
    present = rules.RULES
    async with engine_on(log, "A") as older:
        await older.submit([learn("a", "c")])
        await older.take_snapshot()
        elder = log.store("elder")
        elder.heartbeat(1)
    monkeypatch.setattr(rules, "RULES", present + 1)
    async with engine_on(log, "B", ready=False) as newer:
        await until(lambda: newer.cluster.waiting is not None)
        await asyncio.sleep(0.1)
        assert "older release" in newer.cluster.waiting
        assert newer.model.rank(Instance({"a": 1})) != []  # meanwhile it ranks
        with pytest.raises(NotReady):
            await newer.submit([learn("a", "d")])
        assert not newer.stats().is_leader
        assert log.leader is not newer.store
        elder.close()
        await until(lambda: newer.status == "ready")
        assert newer.model.rules == present + 1


# --- starts ---------------------------------------------------------------------------------------


async def test_a_log_that_breaks_while_the_engine_starts_is_mended(log, monkeypatch):
    follows, follow = [], SharedMemoryStore.follow

    def break_once(self, after):
        follows.append(after)
        if len(follows) == 1:
            raise LogRewound(after)
        yield from follow(self, after)

    monkeypatch.setattr(SharedMemoryStore, "follow", break_once)
    async with engine_on(log, "A", ready=False) as engine:
        await until(lambda: engine.status == "ready" and engine.stats().rewinds == 1)
        assert await engine.submit([learn("a", "x")]) == [Result(1, False, None, True)]


async def test_a_log_that_cannot_be_followed_at_all_fails_the_engine(log, monkeypatch):
    def refuse(self, after):
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(SharedMemoryStore, "follow", refuse)
    async with engine_on(log, "A", ready=False) as engine:
        await until(lambda: engine.status == "failed")
        assert "a defect" in engine.failure
        with pytest.raises(NotReady):
            await engine.submit([learn("a", "x")])


async def test_a_start_that_failed_sends_no_more_heartbeats(log):
    async with (
        engine_on(log, "A", learner="svm(rating=3)"),
        engine_on(log, "B", ready=False, learner="svm(rating=5)") as failed,
    ):
        await until(lambda: failed.status == "failed")
        heartbeats = failed.store.heartbeats
        await asyncio.sleep(0.1)
        assert failed.store.heartbeats == heartbeats


async def test_a_heartbeat_without_an_answer_pauses_learning(log, monkeypatch):
    async with engines_on(log, "A") as (engine,):
        gate = Gate()
        heartbeat = engine.store.heartbeat

        def hangs(*given):
            gate.pass_through()
            return heartbeat(*given)

        monkeypatch.setattr(engine.store, "heartbeat", hangs)
        with gate.shut(), monkeypatch.context() as patched:
            patched.setattr(cluster, "SLOW_SECONDS", -1.0)
            polling = asyncio.ensure_future(engine.cluster.poll())
            await gate.reached()
            assert engine.pause.reason == "store_unavailable"
        await polling
        await until(lambda: engine.pause is None)

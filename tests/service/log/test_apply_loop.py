"""ApplyLoop applies the events of the log in its order, equally in every process."""

import asyncio
from unittest.mock import Mock

import pytest

from manyclass.core.errors import EventConflict, EventError, LearnerHalfChanged
from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.log import apply_loop
from manyclass.service.log.apply_loop import ApplyLoop
from manyclass.service.log.hooks import Hooks
from manyclass.service.log.live_model import LiveModel
from manyclass.service.log.request import BatchRequest, Request, Result
from manyclass.service.store.errors import SnapshotMissing
from manyclass.service.store.protocol import Batch
from tests.service.faulty import PATIENCE, learn, many_turns


class Loader:
    """A store of snapshots that are loaded by the given function."""

    def __init__(self, load):
        self._load = load

    async def load_state(self, needed):
        return await self._load(needed.mark.restored)


class Applying:
    """An ApplyLoop with the outcomes of its requests and its model."""

    def __init__(self, load=None):
        self.outcomes = []
        self.live = LiveModel()
        self.live.use(Model(Options()))
        self.loop = ApplyLoop(self.live, Loader(load or self._nothing))

    async def _nothing(self, seq):
        raise SnapshotMissing(seq)

    @property
    def model(self):
        return self.live.model

    def request(self, *events):
        return Request(events, self.outcomes.append)

    async def done(self):
        async with asyncio.timeout(PATIENCE):
            while not self.loop.idle:
                await self.loop.progress()

    async def broken(self):
        return await asyncio.wait_for(asyncio.shield(self.loop.broken), PATIENCE)


@pytest.fixture
async def applying():
    return Applying()


def batch(first_seq, *events):
    return Batch(first_seq, [bytes(event) for event in events], 0)


async def test_requests_and_batches_are_applied_in_order(applying):
    one, two, three = learn("a", "x", "one"), learn("b", "y"), learn("a", "x", "one")
    applying.loop.extend([applying.request(one), batch(2, two), applying.request(three)])
    await applying.done()
    assert applying.outcomes == [[Result(1, False, None, True)], [Result(1, True, None, False)]]
    assert applying.model.seq == 3


async def test_a_conflict_keeps_a_whole_request_out_of_a_batch_and_no_other(applying):
    conflict = learn("c", "z", "one").join()
    applying.loop.extend(
        [batch(1, learn("a", "x", "one"), learn("b", "y", "two"), conflict, learn("d", "w"))]
    )
    await applying.done()
    model = applying.model
    assert (model.seq, model.learner.learned) == (4, 2)
    assert model.seen("two") is None


async def test_the_outcome_of_an_awaited_request_is_delivered(applying):
    applying.loop.extend([applying.request(learn("a", "x", "one"))])
    applying.loop.extend([applying.request(learn("b", "y"), learn("a", "z", "one"))])
    await applying.done()
    [_, conflict] = applying.outcomes
    assert isinstance(conflict, EventConflict)
    assert conflict.position == 1


class NoMemory:
    """Says whether memory is set aside for the next change."""

    def __init__(self, monkeypatch):
        self.lacks = True
        self.asked = 0
        monkeypatch.setattr(apply_loop, "PublishedLearner", self)
        monkeypatch.setattr(apply_loop, "MEMORY_SECONDS", 0)

    def has_memory(self):
        self.asked += 1
        return not self.lacks


async def test_events_wait_for_memory_and_are_applied_once_there_is_some(applying, monkeypatch):
    memory, told = NoMemory(monkeypatch), []
    applying.loop = ApplyLoop(
        applying.live, Loader(None), Hooks(on_short=lambda: told.append(None))
    )
    applying.loop.extend([batch(1, learn("a", "x")), applying.request(learn("b", "y"))])
    for _ in range(20):
        await asyncio.sleep(0)
    assert (applying.model.seq, applying.outcomes, applying.loop.broken.done()) == (0, [], False)
    assert len(told) == memory.asked > 1
    assert applying.loop.pause.reason == "memory"
    applying.loop.extend([applying.request(learn("c", "z"))], soon=True)
    memory.lacks = False
    await applying.done()
    assert applying.outcomes == [[Result(2, False, None, True)], [Result(3, False, None, True)]]
    assert applying.live.is_current
    assert applying.loop.pause is None


async def test_a_batch_goes_on_behind_the_events_it_had_memory_for(applying, monkeypatch):
    memory = NoMemory(monkeypatch)
    memory.lacks = False
    applied, counted = [], []
    applying.loop = ApplyLoop(
        applying.live,
        Loader(None),
        Hooks(on_learned=lambda _, ranks, __: counted.append(len(ranks))),
    )
    batch_of = EventBatch()
    for name in "abcd":
        batch_of.add(Instance([name]), [f"class {name}"])
    apply_batch = applying.model.apply_batch

    def fails_behind_one(given, _):
        apply_batch(given, 0)
        memory.lacks = True
        raise MemoryError

    monkeypatch.setattr(applying.model, "apply_batch", fails_behind_one)
    applying.loop.extend([BatchRequest(batch_of, lambda: applied.append(batch_of.learned))])
    await many_turns()
    assert (applying.model.seq, applied) == (1, [])
    memory.lacks = False
    monkeypatch.setattr(applying.model, "apply_batch", apply_batch)
    await applying.done()
    assert (applying.model.seq, applied, sum(counted)) == (4, [4], 4)


async def test_an_index_half_changed_for_want_of_memory_is_not_learned_on(applying, monkeypatch):
    NoMemory(monkeypatch).lacks = False
    batch_of = EventBatch()
    batch_of.add(Instance(["a"]), ["x"])
    errors = [MemoryError(), LearnerHalfChanged()]
    monkeypatch.setattr(applying.model, "apply_batch", Mock(side_effect=errors))
    applying.loop.extend([BatchRequest(batch_of, lambda: None)])
    assert isinstance(await applying.broken(), LearnerHalfChanged)
    assert not applying.live.is_current


async def test_a_batch_out_of_its_place_is_not_applied(applying):
    applying.loop.extend([batch(2, learn("a", "x"))])
    assert isinstance(await applying.broken(), EventError)
    assert not applying.live.is_current
    assert applying.model.seq == 0
    assert applying.loop.idle


@pytest.mark.parametrize(
    "events",
    [
        [learn("a", "x", "one")] * 500,
        [learn("a", "x", "one"), *(learn("b", "y", "one") for _ in range(499))],
        [learn("a", "x", "one").join()] * 500,
    ],
    ids=["retries", "conflicts", "one request"],
)
async def test_other_tasks_run_between_all_kinds_of_events(applying, monkeypatch, events):
    monkeypatch.setattr(apply_loop, "STRETCH_SECONDS", 0.0)
    applying.loop.extend([batch(1, *events)])
    turns = 0
    while not applying.loop.idle:
        await asyncio.sleep(0)
        turns += 1
    assert turns > 300
    assert applying.model.seq == 500


async def test_soon_arrivals_are_applied_in_a_later_turn(applying, monkeypatch):
    monkeypatch.setattr(apply_loop, "STRETCH_SECONDS", 0.0)
    for seq in range(1, 101):
        applying.loop.extend([batch(seq, learn("a", "x"))], soon=True)
    assert applying.model.seq == 0
    await asyncio.sleep(0)
    assert 1 <= applying.model.seq < 10
    await applying.done()
    assert applying.model.seq == 100


# --- waiting for an event -------------------------------------------------------------------------


async def test_each_waiter_is_woken_by_its_event(applying, monkeypatch):
    monkeypatch.setattr(apply_loop, "STRETCH_SECONDS", 0.0)
    woken = []

    async def wait(seq):
        await applying.loop.reached(seq)
        woken.append((seq, applying.model.seq))

    order = [5, 1, 9, 1, 3, 0]
    waiting = [asyncio.create_task(wait(seq)) for seq in order]
    await many_turns()
    applying.loop.extend([batch(1, *[learn("a", "x")] * 9)])
    await asyncio.wait_for(asyncio.gather(*waiting), PATIENCE)
    assert [seq for seq, _ in woken] == sorted(order)
    assert all(seq <= at <= seq + 3 for seq, at in woken)


async def test_cancelled_waiters_are_forgotten(applying):
    staying = asyncio.create_task(applying.loop.reached(3))
    for seq in range(10, 400):
        waiting = asyncio.create_task(applying.loop.reached(seq))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert len(applying.loop._awaited) < 10
    applying.loop.extend([batch(1, *[learn("a", "x")] * 3)])
    await asyncio.wait_for(staying, PATIENCE)


# --- restoring ------------------------------------------------------------------------------------


async def test_events_behind_a_mark_wait_for_its_snapshot():
    asked = asyncio.get_running_loop().create_future()
    loaded = asyncio.get_running_loop().create_future()

    async def load(seq):
        asked.set_result(seq)
        return await loaded

    applying = Applying(load)
    applying.loop.extend([batch(1, learn("a", "x"), Event.restore(0), learn("b", "y"))])
    assert await asked == 0
    await many_turns()
    assert applying.model.seq == 1
    loaded.set_result(Model(Options()))
    await applying.done()
    model = applying.model
    assert (model.seq, model.learner.learned, model.restores) == (3, 1, [(2, 0)])


async def test_a_mark_whose_snapshot_is_gone_stops_it(applying):
    applying.loop.extend([batch(1, learn("a", "x"), Event.restore(0), learn("b", "y"))])
    assert isinstance(await applying.broken(), SnapshotMissing)
    assert applying.model.seq == 1
    assert applying.loop.idle


async def test_events_cleared_during_a_load_are_not_applied_later():
    loaded = asyncio.get_running_loop().create_future()

    async def load(seq):
        return await loaded

    applying = Applying(load)
    applying.loop.extend([batch(1, Event.restore(0), learn("b", "y"))])
    await many_turns()
    applying.loop.resume(Model(Options()))
    applying.loop.extend([batch(1, learn("c", "z"))])
    await applying.done()
    assert applying.model.seq == 1
    assert applying.model.restores == []
    assert applying.live.is_current


async def test_after_an_error_nothing_is_applied_until_it_resumes(applying):
    applying.loop.extend([batch(2, learn("a", "x"))])
    await applying.broken()
    applying.loop.extend([batch(1, learn("a", "x"))])
    assert applying.loop.idle
    applying.loop.resume(Model(Options()))
    applying.loop.extend([batch(1, learn("b", "y"))])
    await applying.done()
    assert applying.model.seq == 1
    assert applying.live.is_current

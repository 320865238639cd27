"""Batches of plain events in the log: answered, refused and applied as their events alone are."""

import asyncio
from itertools import pairwise

import pytest

from manyclass.core.errors import LearnerHalfChanged, RulesDiffer
from manyclass.core.event import Event
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.service.errors import NotReady, QueueFull
from manyclass.service.log import apply_loop
from manyclass.service.log import group_commit as group_commit_module
from manyclass.service.log.request import Result
from manyclass.service.observability.metrics import Metrics
from manyclass.service.store.errors import StoreError, StoreFull, StoreUnavailable
from manyclass.service.store.memory import MemoryStore
from tests.core.streams import lessons
from tests.service.batches import batch_of
from tests.service.faulty import PATIENCE, many_turns
from tests.service.log.parts import assert_holds_just, committing


def results(batch):
    """Return the outcomes of a batch as the results of its events."""
    outcomes = zip(batch.ranks(), batch.updated(), strict=True)
    return [
        Result(batch.first_seq + at, False, rank or None, updated)
        for at, (rank, updated) in enumerate(outcomes)
    ]


async def test_a_batch_is_answered_with_the_results_of_its_events(parts, group_commit):
    events = lessons(30)
    batch = batch_of(*events)
    assert await group_commit.admit_batch(batch) is batch
    async with committing() as (_, other):
        assert results(batch) == await other.admit(events)
    assert_holds_just(parts, *events)


async def test_batches_and_events_share_an_append_in_their_order(parts, group_commit):
    events = lessons(9)
    answers = [
        group_commit.admit([events[0]]),
        group_commit.admit_batch(batch_of(*events[1:4])),
        group_commit.admit(events[4:6]),
        group_commit.admit_batch(batch_of(*events[6:])),
    ]
    found = await asyncio.gather(*answers)
    assert [found[1].first_seq, found[3].first_seq] == [2, 7]
    assert [result.seq for result in (*found[0], *found[2])] == [1, 5, 6]
    assert parts.store.appends == [9]
    assert_holds_just(parts, *events)


@pytest.mark.parametrize(
    "prepare",
    [
        Event.configure(ModelSet(Options(), (Options.of("pa"),)).to_dict()),
        Event.place({"c1": "family"}),
    ],
    ids=["shadow", "taxonomy"],
)
async def test_a_model_that_learns_no_batches_learns_the_events(prepare):
    counted = Metrics(), Metrics()
    events = lessons(20)
    async with (
        committing(on_applied=counted[0].applied, on_learned=counted[0].learned) as (_, group),
        committing(on_applied=counted[1].applied) as (parts, other),
    ):
        for each in (group, other):
            await each.admit([prepare])
        batch = await group.admit_batch(batch_of(*events))
        assert results(batch) == await other.admit(events)
        assert_holds_just(parts, prepare, *events)
    assert counted[0].learn_events == counted[1].learn_events
    for one, other in zip(counted[0].scores(), counted[1].scores(), strict=True):
        assert (one[:2], one[2].hits()) == (other[:2], other[2].hits())


async def test_a_batch_counts_as_its_events():
    counted = Metrics(), Metrics()
    events = lessons(50)
    async with (
        committing(on_applied=counted[0].applied, on_learned=counted[0].learned) as (_, group),
        committing(on_applied=counted[1].applied) as (_, other),
    ):
        await group.admit_batch(batch_of(*events))
        await other.admit(events)
    assert counted[0].learn_events == counted[1].learn_events
    [(_, _, one)], [(_, _, score)] = (list(each.scores()) for each in counted)
    assert (one.examples, one.hits()) == (score.examples, score.hits())
    assert one.reciprocal_ranks == score.reciprocal_ranks
    assert one.seconds > 0
    families = {each.name: each for each in counted[0].collect()}
    samples = families["manyclass_learn_duration_seconds"].samples
    assert next(each.value for each in samples if each.name.endswith("_count")) == 50


# --- refusals ------------------------------------------------------------------------------------


async def test_a_full_queue_refuses_a_whole_batch():
    events = lessons(5)
    async with committing(max_events=3) as (parts, group_commit):
        with parts.store.before_append.shut() as gate:
            first = group_commit.admit_batch(batch_of(*events[:2]))
            await gate.reached()
            with pytest.raises(QueueFull):
                group_commit.admit_batch(batch_of(*events[2:4]))
            size = sum(len(bytes(event)) for event in events[:2])
            assert (group_commit.events, group_commit.bytes) == (2, size)
            second = group_commit.admit_batch(batch_of(events[4]))
        await asyncio.gather(first, second)
        assert_holds_just(parts, *events[:2], events[4])


@pytest.mark.parametrize(
    "error", [StoreFull("no room", "make some"), StoreUnavailable("away"), OSError("worse")]
)
async def test_a_refusing_store_leaves_everything_as_it_was(parts, group_commit, error):
    events = lessons(3)
    parts.store.append_errors = [error]
    with pytest.raises(StoreError):
        await group_commit.admit_batch(batch_of(*events))
    assert_holds_just(parts)
    again = await group_commit.admit_batch(batch_of(*events))
    assert again.first_seq == 1
    assert_holds_just(parts, *events)


async def test_an_append_is_bounded_between_batches(parts, group_commit, monkeypatch):
    monkeypatch.setattr(group_commit_module, "COMMIT_EVENTS", 3)
    sizes = (2, 2, 1, 5)
    await asyncio.gather(*(group_commit.admit_batch(batch_of(*lessons(size))) for size in sizes))
    assert parts.store.appends == [2, 3, 5]


async def test_a_log_that_numbers_otherwise_refuses_batches(parts, group_commit):
    MemoryStore.append(parts.store, [b"from somebody else"])
    answers = [group_commit.admit_batch(batch_of(*lessons(2))) for _ in range(2)]
    for answer in answers:
        with pytest.raises(NotReady, match="numbered"):
            await answer
    with pytest.raises(NotReady, match="numbered"):
        group_commit.admit_batch(batch_of(*lessons(1)))
    assert parts.model.seq == 0


async def test_a_failed_apply_acknowledges_none_of_a_batch(parts, group_commit, monkeypatch):
    def broken(self, batch, seconds):
        raise LearnerHalfChanged

    monkeypatch.setattr(Model, "apply_batch", broken)
    answer = group_commit.admit_batch(batch_of(*lessons(3)))
    assert isinstance(await parts.apply_loop.broken, LearnerHalfChanged)
    monkeypatch.undo()
    await many_turns()
    assert not answer.done()
    assert not parts.live.is_current
    group_commit.fail("a test wants it so")
    with pytest.raises(NotReady, match="a test wants it so"):
        await answer


async def test_other_rules_stop_the_log_before_a_batch(parts, group_commit):
    parts.model.rules -= 1
    answer = group_commit.admit_batch(batch_of(*lessons(3)))
    assert isinstance(await parts.apply_loop.broken, RulesDiffer)
    assert parts.model.seq == 0
    group_commit.fail("the end")
    with pytest.raises(NotReady):
        await answer


async def test_a_restored_state_refuses_batches_that_are_not_applied(parts, group_commit):
    with parts.store.before_append.shut() as gate:
        sent = group_commit.admit_batch(batch_of(*lessons(2)))
        await gate.reached()
        waiting = group_commit.admit_batch(batch_of(*lessons(2)))
        group_commit.resume(Model(Options()))
        for answer in (sent, waiting):
            with pytest.raises(StoreUnavailable):
                await answer
        assert (group_commit.events, group_commit.bytes) == (0, 0)


async def test_an_abandoned_batch_is_learned(parts, group_commit):
    events = lessons(3)
    with parts.store.before_append.shut() as gate:
        answer = group_commit.admit_batch(batch_of(*events))
        await gate.reached()
        answer.cancel()
    await group_commit.drain()
    assert_holds_just(parts, *events)


async def test_close_works_off_batches():
    async with committing() as (parts, group_commit):
        answers = [group_commit.admit_batch(batch_of(*lessons(4))) for _ in range(3)]
    assert [answer.result().first_seq for answer in answers] == [1, 5, 9]
    assert parts.model.seq == 12


# --- turns of the event loop ---------------------------------------------------------------------


async def test_others_have_their_turn_while_a_batch_is_applied(parts, group_commit, monkeypatch):
    monkeypatch.setattr(apply_loop, "STRETCH_SECONDS", 0.0)
    answer = group_commit.admit_batch(batch_of(*lessons(30)))
    seen = [0]
    while not answer.done():
        seen.append(parts.model.seq)
        await asyncio.sleep(0)
    assert {after - before for before, after in pairwise([*seen, 30])} <= {0, 1}


async def test_waiters_are_woken_within_a_batch(parts, group_commit, monkeypatch):
    monkeypatch.setattr(apply_loop, "STRETCH_SECONDS", 0.0)
    waiting = asyncio.create_task(parts.apply_loop.reached(3))
    answer = group_commit.admit_batch(batch_of(*lessons(30)))
    await asyncio.wait_for(waiting, PATIENCE)
    assert 3 <= parts.model.seq < 10
    assert not answer.done()
    await answer


async def test_the_model_is_not_held_amid_a_batch(parts, group_commit, monkeypatch):
    monkeypatch.setattr(apply_loop, "STRETCH_SECONDS", 0.0)
    answer = group_commit.admit_batch(batch_of(*lessons(30)))
    await parts.apply_loop.reached(3)
    async with parts.apply_loop.quiet() as model:
        assert model.seq == 30
        assert answer.done()

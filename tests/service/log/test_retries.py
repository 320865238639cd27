"""GroupCommit: events that come twice, callers that went away, and pauses of learning."""

import asyncio

import pytest

from manyclass.core.errors import EventConflict
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.log import apply_loop
from manyclass.service.log.request import Result
from manyclass.service.store.errors import StoreUnavailable
from tests.service.faulty import PATIENCE, appending, learn, many_turns
from tests.service.log.parts import assert_holds_just

# --- retries -------------------------------------------------------------------------------------


async def test_a_retry_is_answered_with_the_number_of_the_first(parts, group_commit):
    event, other = learn("a", "x", "one"), learn("b", "y")
    await group_commit.admit([event])
    results = await group_commit.admit([event, other, event])
    assert results == [
        Result(1, True, None, False),
        Result(2, False, None, True),
        Result(1, True, None, False),
    ]
    assert_holds_just(parts, event, other)


async def test_a_retry_is_answered_while_the_store_is_away(parts, group_commit):
    event = learn("a", "x", "one")
    await group_commit.admit([event])
    parts.store.append_error = StoreUnavailable("away")
    assert await group_commit.admit([event]) == [Result(1, True, None, False)]


async def test_a_retry_waits_for_the_first_one_in_flight(parts, group_commit):
    event = learn("a", "x", "one")
    async with appending(parts.store, group_commit, event) as first:
        retry = group_commit.admit([event])
        await asyncio.sleep(0)
        assert not retry.done()
    assert await first == [Result(1, False, None, True)]
    assert await retry == [Result(1, True, None, False)]
    assert_holds_just(parts, event, event)


async def test_a_retry_of_a_durable_event_that_is_not_applied_yet(parts, group_commit, monkeypatch):
    monkeypatch.setattr(apply_loop, "STRETCH_SECONDS", 0.0)
    before = [learn("b", "y")] * 50
    event = learn("a", "x", "one")
    first = group_commit.admit([*before, event])
    while group_commit.appended == 0:
        await parts.apply_loop.progress()
    assert parts.model.seq < 51
    retry = group_commit.admit([event])
    assert (await first)[-1].seq == 51
    assert await retry == [Result(51, True, None, False)]
    assert_holds_just(parts, *before, event, event)


async def test_retries_among_those_that_wait_go_the_way_of_the_first(parts, group_commit):
    event = learn("a", "x", "one")
    parts.store.append_error = StoreUnavailable("away")
    async with appending(parts.store, group_commit, learn("z", "z")) as head:
        both = [group_commit.admit([event]), group_commit.admit([event])]
    failed = await asyncio.gather(head, *both, return_exceptions=True)
    assert all(isinstance(error, StoreUnavailable) for error in failed)
    parts.store.append_error = None
    other = learn("b", "y")
    results = await asyncio.gather(*(group_commit.admit([each]) for each in (other, event, event)))
    assert [(result.seq, result.duplicate) for [result] in results] == [
        (1, False),
        (2, False),
        (2, True),
    ]
    assert_holds_just(parts, other, event, event)


async def test_an_id_with_other_content_is_a_conflict(parts, group_commit):
    event = learn("a", "x", "one")
    await group_commit.admit([event])
    with pytest.raises(EventConflict) as caught:
        await group_commit.admit([learn("b", "y"), learn("a", "z", "one")])
    assert (caught.value.position, caught.value.event_id, caught.value.seq) == (1, "one", 1)
    assert_holds_just(parts, event)
    assert group_commit.conflicts == 1


async def test_a_conflict_within_one_request_keeps_all_of_it_out(parts, group_commit):
    with pytest.raises(EventConflict):
        await group_commit.admit([learn("a", "x", "one"), learn("a", "z", "one")])
    assert_holds_just(parts)
    event = learn("a", "z", "one")
    assert await group_commit.admit([event]) == [Result(1, False, None, True)]


async def test_a_conflict_does_not_harm_other_requests(parts, group_commit):
    event, other = learn("a", "x", "one"), learn("b", "y", "two")
    async with appending(parts.store, group_commit, learn("z", "z")) as head:
        first = group_commit.admit([event])
        conflict = group_commit.admit([learn("c", "c", "three"), learn("a", "z", "one")])
        retry = group_commit.admit([event])
        last = group_commit.admit([other])
    with pytest.raises(EventConflict):
        await conflict
    assert await first == [Result(2, False, None, True)]
    assert await retry == [Result(2, True, None, False)]
    assert await last == [Result(6, False, None, True)]
    await head
    expected = Model(Options())
    expected.apply(1, learn("z", "z"))
    expected.apply(2, event)
    expected.seq = 5  # two of the conflict and the retry are in the log and change nothing
    expected.apply(6, other)
    assert parts.model.digest() == expected.digest()
    assert parts.store.last_seq == 6
    assert group_commit.conflicts == 1


async def test_a_conflict_alone_is_worked_off_too(group_commit):
    await group_commit.admit([learn("a", "x", "one")])
    conflict = group_commit.admit([learn("b", "y", "one")])
    await asyncio.wait_for(group_commit.drain(), PATIENCE)
    assert isinstance(conflict.exception(), EventConflict)


# --- disconnected senders ------------------------------------------------------------------------


async def test_events_of_a_sender_that_went_away_are_learned_once(parts, group_commit):
    event = learn("a", "x", "one")

    async def send():
        return await group_commit.admit([event])

    with parts.store.before_append.shut() as gate:
        sender = asyncio.create_task(send())
        await gate.reached()
        sender.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sender
    assert await group_commit.admit([event]) == [Result(1, True, None, False)]
    assert_holds_just(parts, event, event)


async def test_a_sender_that_went_away_may_also_be_refused(parts, group_commit):
    parts.store.append_error = StoreUnavailable("away")
    group_commit.admit([learn("a", "x")]).cancel()
    await group_commit.drain()
    assert_holds_just(parts)


# --- quiet ---------------------------------------------------------------------------------------


async def test_in_quiet_nothing_changes_and_what_comes_waits(parts, group_commit, monkeypatch):
    monkeypatch.setattr(apply_loop, "STRETCH_SECONDS", 0.0)
    before = group_commit.admit([learn("a", "x")] * 30)
    while parts.model.seq == 0:
        await asyncio.sleep(0)
    async with parts.apply_loop.quiet():
        assert before.done()
        assert parts.model.seq == 30
        after = group_commit.admit([learn("b", "y")])
        while group_commit.appended < 31:
            await many_turns()
        await many_turns()
        assert parts.model.seq == 30
        assert not after.done()
    assert (await after)[0].seq == 31


async def test_exclusive_operations_take_turns(parts, group_commit):
    inside = 0

    async def hold():
        nonlocal inside
        async with parts.apply_loop.quiet():
            inside += 1
            assert inside == 1
            seq = parts.model.seq
            await many_turns()
            assert parts.model.seq == seq
            inside -= 1

    holding = [asyncio.create_task(hold()) for _ in range(3)]
    await asyncio.sleep(0)
    answer = group_commit.admit([learn("a", "x")])
    await asyncio.gather(*holding)
    assert (await answer)[0].seq == 1


async def test_quiet_ends_also_with_an_error(parts, group_commit):
    with pytest.raises(ZeroDivisionError):
        async with parts.apply_loop.quiet():
            raise ZeroDivisionError
    assert (await group_commit.admit([learn("a", "x")]))[0].seq == 1

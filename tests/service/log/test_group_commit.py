"""GroupCommit: a 200 means durable and applied, atomically and once."""

import asyncio
from contextlib import asynccontextmanager
from itertools import count, pairwise

import pytest

from manyclass.core.errors import EventConflict, UnknownName
from manyclass.core.event import Event, Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.errors import NotReady, QueueFull
from manyclass.service.log import apply_loop
from manyclass.service.log import group_commit as group_commit_module
from manyclass.service.log.apply_loop import STRETCH_SECONDS, ApplyLoop
from manyclass.service.log.group_commit import GroupCommit
from manyclass.service.log.live_model import LearnerCounts, LiveModel
from manyclass.service.log.request import Result
from manyclass.service.log.snapshot_loader import SnapshotLoader
from manyclass.service.store.errors import StoreError, StoreFull, StoreUnavailable
from manyclass.service.store.memory import MemoryStore
from tests.service.faulty import PATIENCE, FaultyStore, learn, many_turns


class Parts:
    """A GroupCommit over a store in memory, and its collaborators."""

    def __init__(self, store, max_events, max_bytes, on_applied):
        self.store = store
        self.live = LiveModel()
        self.live.use(Model(Options()))
        self.apply_loop = ApplyLoop(self.live, SnapshotLoader(store), on_applied)
        self.group_commit = GroupCommit(store, self.live, self.apply_loop, max_events, max_bytes)

    @property
    def model(self):
        return self.live.model


@asynccontextmanager
async def committing(store=None, max_events=1000, max_bytes=2**20, on_applied=None):
    """Yield the parts and their GroupCommit; close it at the end."""
    parts = Parts(store or FaultyStore(), max_events, max_bytes, on_applied)
    try:
        yield parts, parts.group_commit
    finally:
        await parts.group_commit.close()


def assert_holds_just(parts, *events):
    """Assert that the log holds exactly these events and the model has applied each once."""
    expected = Model(Options())
    for seq, event in enumerate(events, start=1):
        if event.event_id is not None and expected.seen(event.event_id):
            expected.seq = seq
        else:
            expected.apply(seq, event)
    assert parts.model.digest() == expected.digest()
    logged = [Event.from_bytes(data) for _, data in parts.store.read(0)]
    assert [event.join() for event in events] == [event.join() for event in logged]
    group_commit = parts.group_commit
    assert group_commit.appended == len(events)
    assert (group_commit.events, group_commit.bytes) == (0, 0)


# --- answers -------------------------------------------------------------------------------------


async def test_answers_with_number_and_rank_before_learning():
    async with committing() as (parts, group_commit):
        first, second = learn("a b", "x"), learn("a b", "x")
        assert await group_commit.admit([first]) == [Result(1, False, None, True)]
        assert await group_commit.admit([second]) == [Result(2, False, 1, False)]
        assert_holds_just(parts, first, second)


async def test_answers_many_in_order():
    async with committing() as (parts, group_commit):
        events = [learn("a", "x"), learn("b", "y"), learn("c", "z")]
        results = await group_commit.admit(events)
        assert [result.seq for result in results] == [1, 2, 3]
        assert_holds_just(parts, *events)


async def test_nothing_submitted_is_answered_with_nothing():
    async with committing() as (parts, group_commit):
        assert await group_commit.admit([]) == []
        assert parts.store.appends == []


async def test_reports_each_applied_event():
    applied = []
    async with committing(on_applied=lambda *args: applied.append(args)) as (_, group_commit):
        events = [learn("a", "x"), learn("a", "x")]
        await group_commit.admit(events)
    assert [event for event, _, _ in applied] == events
    assert [(outcome.seq, outcome.rank) for _, outcome, _ in applied] == [(1, None), (2, 1)]
    assert all(seconds >= 0 for _, _, seconds in applied)


# --- atomic requests -----------------------------------------------------------------------------


async def test_one_bad_event_keeps_all_of_them_out():
    async with committing() as (parts, group_commit):
        with pytest.raises(UnknownName):
            group_commit.admit([learn("a", "x"), Event.forget_class("nobody")])
        assert_holds_just(parts)


async def test_a_refusing_store_leaves_everything_as_it_was(caplog):
    async with committing() as (parts, group_commit):
        parts.store.append_error = StoreFull("no room", "make some")
        caplog.clear()
        answers = [
            group_commit.admit([learn("a", "x", "one")]),
            group_commit.admit([learn("b", "y")]),
        ]
        for answer in answers:
            with pytest.raises(StoreFull, match="no room"):
                await answer
        assert_holds_just(parts)
        assert (group_commit.commits, group_commit.failed_commits) == (0, 1)
        assert [record.message for record in caplog.records] == [
            "the store takes no events: no room; make some"
        ]


async def test_goes_on_when_the_store_does():
    async with committing() as (parts, group_commit):
        event = learn("a", "x", "one")
        parts.store.append_error = StoreUnavailable("away")
        with pytest.raises(StoreUnavailable):
            await group_commit.admit([event])
        parts.store.append_error = None
        assert await group_commit.admit([event]) == [Result(1, False, None, True)]
        assert_holds_just(parts, event)


@pytest.mark.parametrize(
    "error", [StoreError("odd", "mend it"), OSError("worse"), ZeroDivisionError()]
)
async def test_every_error_of_the_store_is_unavailable_to_the_sender(error):
    async with committing() as (parts, group_commit):
        parts.store.append_error = error
        with pytest.raises(StoreUnavailable) as caught:
            await group_commit.admit([learn("a", "x")])
        assert caught.value.__cause__ is error
        assert caught.value.hint == getattr(error, "hint", "")
        assert_holds_just(parts)


async def test_what_waits_is_not_lost_when_the_append_before_it_fails():
    async with committing() as (parts, group_commit):
        later = learn("b", "y", "two")
        parts.store.append_errors = [StoreUnavailable("away")]
        with parts.store.before_append.shut() as gate:
            failing = group_commit.admit([learn("a", "x", "one")])
            await gate.reached()
            waiting = group_commit.admit([later])
        with pytest.raises(StoreUnavailable):
            await failing
        assert await waiting == [Result(1, False, None, True)]
        assert_holds_just(parts, later)


async def test_a_failing_store_is_logged_once_and_so_is_its_return(caplog):
    async with committing() as (parts, group_commit):
        parts.store.append_errors = [StoreUnavailable("away")] * 3
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                await group_commit.admit([learn("a", "x")])
        for _ in range(3):
            await group_commit.admit([learn("a", "x")])
    assert [record.message for record in caplog.records] == [
        "the store takes no events: away",
        "the store takes events again",
    ]


# --- one append for all pending ------------------------------------------------------------------


async def test_what_comes_during_an_append_shares_the_next():
    async with committing() as (parts, group_commit):
        events = [learn(f"f{n}", "x") for n in range(11)]
        with parts.store.before_append.shut() as gate:
            answers = [group_commit.admit([events[0]])]
            await gate.reached()
            answers += [group_commit.admit([event]) for event in events[1:]]
        await asyncio.gather(*answers)
        assert parts.store.appends == [1, 10]
        assert group_commit.commits == 2
        assert_holds_just(parts, *events)


async def test_what_comes_in_the_same_turn_of_the_loop_goes_together():
    async with committing() as (parts, group_commit):
        await asyncio.gather(*(group_commit.admit([learn("a", "x")]) for _ in range(5)))
        assert parts.store.appends == [5]


@pytest.mark.parametrize(("events", "size"), [(2, 2**20), (1000, 60)])
async def test_one_append_is_bounded_but_takes_what_came_together(monkeypatch, events, size):
    monkeypatch.setattr(group_commit_module, "COMMIT_EVENTS", events)
    monkeypatch.setattr(group_commit_module, "COMMIT_BYTES", size)
    async with committing() as (parts, group_commit):
        one = learn("a", "x")
        assert 2 * len(bytes(one)) <= 60 < 3 * len(bytes(one))
        await asyncio.gather(
            *(group_commit.admit([one]) for _ in range(3)), group_commit.admit([one] * 5)
        )
        assert parts.store.appends == [2, 1, 5]


async def test_the_next_append_begins_before_the_last_is_applied():
    store = FaultyStore()

    def wait_for_the_second(event, outcome, seconds):
        if outcome.seq == 1:
            assert store.begun.acquire(timeout=PATIENCE)
            assert store.begun.acquire(timeout=PATIENCE)

    async with committing(store, on_applied=wait_for_the_second) as (_, group_commit):
        with store.before_append.shut() as gate:
            first = group_commit.admit([learn("a", "x")])
            await gate.reached()
            second = group_commit.admit([learn("b", "y")])
        assert (await first)[0].seq == 1
        assert (await second)[0].seq == 2


async def test_others_have_their_turn_while_a_long_batch_is_applied(monkeypatch):
    def takes_its_time(event, outcome, seconds):
        nonlocal now
        now += 0.3 * STRETCH_SECONDS

    now = 0.0
    monkeypatch.setattr(apply_loop, "perf_counter", lambda: now)
    async with committing(on_applied=takes_its_time) as (parts, group_commit):
        events = [learn("a b c", "x")] * 50
        answers = [group_commit.admit(events), *(group_commit.admit(events[:1]) for _ in range(50))]
        seen = [0]
        while not answers[-1].done():
            seen.append(parts.model.seq)
            await asyncio.sleep(0)
        seen.append(100)
        steps = [after - before for before, after in pairwise(seen) if after > before]
        # the clock is read before each event, so the pause may come one event late
        assert set(steps[:-1]) <= {4, 5}
        assert_holds_just(parts, *events * 2)


async def test_an_event_that_takes_longer_than_a_stretch_is_applied_alone(monkeypatch):
    ticks = count(step=10 * STRETCH_SECONDS)
    monkeypatch.setattr(apply_loop, "perf_counter", lambda: next(ticks))
    async with committing() as (parts, group_commit):
        events = [learn("a", "x")] * 5
        answer = group_commit.admit(events)
        seen = [0]
        while not answer.done():
            seen.append(parts.model.seq)
            await asyncio.sleep(0)
        assert {after - before for before, after in pairwise([*seen, 5])} <= {0, 1}
        assert_holds_just(parts, *events)


# --- retries -------------------------------------------------------------------------------------


async def test_a_retry_is_answered_with_the_number_of_the_first():
    async with committing() as (parts, group_commit):
        event, other = learn("a", "x", "one"), learn("b", "y")
        await group_commit.admit([event])
        results = await group_commit.admit([event, other, event])
        assert results == [
            Result(1, True, None, False),
            Result(2, False, None, True),
            Result(1, True, None, False),
        ]
        assert_holds_just(parts, event, other)


async def test_a_retry_is_answered_while_the_store_is_away():
    async with committing() as (parts, group_commit):
        event = learn("a", "x", "one")
        await group_commit.admit([event])
        parts.store.append_error = StoreUnavailable("away")
        assert await group_commit.admit([event]) == [Result(1, True, None, False)]


async def test_a_retry_waits_for_the_first_one_in_flight():
    async with committing() as (parts, group_commit):
        event = learn("a", "x", "one")
        with parts.store.before_append.shut() as gate:
            first = group_commit.admit([event])
            await gate.reached()
            retry = group_commit.admit([event])
            await asyncio.sleep(0)
            assert not retry.done()
        assert await first == [Result(1, False, None, True)]
        assert await retry == [Result(1, True, None, False)]
        assert_holds_just(parts, event, event)


async def test_a_retry_of_what_is_durable_but_not_yet_applied_is_recognised(monkeypatch):
    monkeypatch.setattr(apply_loop, "STRETCH_SECONDS", 0.0)
    async with committing() as (parts, group_commit):
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


async def test_retries_among_those_that_wait_go_the_way_of_the_first():
    async with committing() as (parts, group_commit):
        event = learn("a", "x", "one")
        parts.store.append_error = StoreUnavailable("away")
        with parts.store.before_append.shut() as gate:
            head = group_commit.admit([learn("z", "z")])
            await gate.reached()
            both = [group_commit.admit([event]), group_commit.admit([event])]
        failed = await asyncio.gather(head, *both, return_exceptions=True)
        assert all(isinstance(error, StoreUnavailable) for error in failed)
        parts.store.append_error = None
        other = learn("b", "y")
        results = await asyncio.gather(
            *(group_commit.admit([each]) for each in (other, event, event))
        )
        assert [(result.seq, result.duplicate) for [result] in results] == [
            (1, False),
            (2, False),
            (2, True),
        ]
        assert_holds_just(parts, other, event, event)


async def test_an_id_with_other_content_is_a_conflict():
    async with committing() as (parts, group_commit):
        event = learn("a", "x", "one")
        await group_commit.admit([event])
        with pytest.raises(EventConflict) as caught:
            await group_commit.admit([learn("b", "y"), learn("a", "z", "one")])
        assert (caught.value.position, caught.value.event_id, caught.value.seq) == (1, "one", 1)
        assert_holds_just(parts, event)
        assert group_commit.conflicts == 1


async def test_a_conflict_within_one_request_keeps_all_of_it_out():
    async with committing() as (parts, group_commit):
        with pytest.raises(EventConflict):
            await group_commit.admit([learn("a", "x", "one"), learn("a", "z", "one")])
        assert_holds_just(parts)
        event = learn("a", "z", "one")
        assert await group_commit.admit([event]) == [Result(1, False, None, True)]


async def test_a_conflict_does_not_harm_other_requests():
    async with committing() as (parts, group_commit):
        event, other = learn("a", "x", "one"), learn("b", "y", "two")
        with parts.store.before_append.shut() as gate:
            head = group_commit.admit([learn("z", "z")])
            await gate.reached()
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


async def test_a_conflict_alone_is_worked_off_too():
    async with committing() as (_, group_commit):
        await group_commit.admit([learn("a", "x", "one")])
        conflict = group_commit.admit([learn("b", "y", "one")])
        await asyncio.wait_for(group_commit.drain(), PATIENCE)
        assert isinstance(conflict.exception(), EventConflict)


# --- limits --------------------------------------------------------------------------------------


async def test_refuses_more_events_than_may_wait():
    async with committing(max_events=3) as (parts, group_commit):
        with parts.store.before_append.shut() as gate:
            answers = [group_commit.admit([learn("a", "x")])]
            await gate.reached()
            answers.append(group_commit.admit([learn("b", "x"), learn("c", "x")]))
            with pytest.raises(QueueFull) as caught:
                group_commit.admit([learn("d", "x")])
        assert caught.value.events == 3
        assert caught.value.retry_after > 0
        await asyncio.gather(*answers)
        assert (await group_commit.admit([learn("d", "x")]))[0].seq == 4


async def test_refuses_more_bytes_than_may_wait():
    event = learn("a", "x")
    async with committing(max_bytes=2 * len(bytes(event))) as (parts, group_commit):
        with parts.store.before_append.shut():
            answers = [group_commit.admit([event]), group_commit.admit([event])]
            with pytest.raises(QueueFull) as caught:
                group_commit.admit([event])
        assert caught.value.bytes == 2 * len(bytes(event))
        await asyncio.gather(*answers)


async def test_an_empty_queue_takes_a_request_of_any_size():
    async with committing(max_events=2, max_bytes=10) as (_, group_commit):
        assert len(await group_commit.admit([learn("a", "x")] * 5)) == 5


async def test_reports_when_there_may_be_room_again():
    async with committing(max_events=1) as (parts, group_commit):
        with parts.store.before_append.shut() as gate:
            answer = group_commit.admit([learn("a", "x")])
            progress = asyncio.ensure_future(parts.apply_loop.progress())
            await gate.reached()
            assert not progress.done()
        await progress
        assert answer.done()
        await group_commit.admit([learn("b", "x")])


async def test_counts_go_on_over_a_change_of_model():
    async with committing() as (parts, group_commit):
        for text in ("a b", "a b c"):
            await group_commit.admit([learn(text, "x")])
        before = parts.live.counts()
        assert before == LearnerCounts.of(parts.model.learner)
        assert before.active_features_ranked == 5
        other = Model(Options())
        other.apply(1, learn("d", "y"))
        assert other.learner.active_features_ranked == 1
        parts.live.use(other)
        assert parts.live.counts() == before
        other.rank(Instance(["d"]), 1)
        assert parts.live.counts() == before._replace(
            active_features_ranked=before.active_features_ranked + 1,
            edges_touched=before.edges_touched + 1,
        )


# --- disconnected senders ------------------------------------------------------------------------


async def test_events_of_a_sender_that_went_away_are_learned_once():
    async with committing() as (parts, group_commit):
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


async def test_a_sender_that_went_away_may_also_be_refused():
    async with committing() as (parts, group_commit):
        parts.store.append_error = StoreUnavailable("away")
        group_commit.admit([learn("a", "x")]).cancel()
        await group_commit.drain()
        assert_holds_just(parts)


# --- quiet ---------------------------------------------------------------------------------------


async def test_in_quiet_nothing_changes_and_what_comes_waits(monkeypatch):
    monkeypatch.setattr(apply_loop, "STRETCH_SECONDS", 0.0)
    async with committing() as (parts, group_commit):
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


async def test_exclusive_operations_take_turns():
    async with committing() as (parts, group_commit):
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


async def test_quiet_ends_also_with_an_error():
    async with committing() as (parts, group_commit):
        with pytest.raises(ZeroDivisionError):
            async with parts.apply_loop.quiet():
                raise ZeroDivisionError
        assert (await group_commit.admit([learn("a", "x")]))[0].seq == 1


# --- the end -------------------------------------------------------------------------------------


async def test_close_works_off_what_was_admitted():
    store = FaultyStore()
    async with committing(store) as (_, group_commit):
        answers = [group_commit.admit([learn("a", "x")]) for _ in range(3)]
    assert [answer.result()[0].seq for answer in answers] == [1, 2, 3]


async def test_stops_when_the_log_numbers_otherwise():
    async with committing() as (parts, group_commit):
        await group_commit.admit([learn("a", "x")])
        MemoryStore.append(parts.store, [b"from somebody else"])
        answer, waiting = (
            group_commit.admit([learn("b", "y", "two")]),
            group_commit.admit([learn("c", "z")]),
        )
        for refused in (answer, waiting):
            with pytest.raises(NotReady, match="numbered"):
                await refused
        with pytest.raises(NotReady, match="numbered"):
            group_commit.admit([learn("d", "x")])
        assert parts.model.seq == 1


async def test_after_an_event_that_cannot_be_applied_none_is_answered_as_learned(monkeypatch):
    def broken(self, seq, event, clock):
        raise MemoryError("no more")

    async with committing() as (parts, group_commit):
        monkeypatch.setattr(Model, "apply", broken)
        answer = group_commit.admit([learn("a", "x")])
        assert isinstance(await parts.apply_loop.broken, MemoryError)
        assert not parts.live.is_current
        monkeypatch.undo()
        later = group_commit.admit([learn("b", "y")])
        while parts.store.last_seq < 2:
            await many_turns()
        await many_turns()
        assert not answer.done()
        assert not later.done()
        group_commit.fail("a test wants it so")
        for refused in (answer, later):
            with pytest.raises(NotReady, match="a test wants it so"):
                await refused
        with pytest.raises(NotReady):
            group_commit.admit([learn("c", "z")])
        assert parts.model.seq == 0

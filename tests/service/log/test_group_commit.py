"""The writer: 200 means durable and applied, whole or nothing, once."""

import asyncio
from contextlib import asynccontextmanager
from itertools import count, pairwise

import pytest

from manyclass.core.errors import EventConflict, UnknownName
from manyclass.core.event import Event, Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.errors import NotReady, QueueFull
from manyclass.service.log import apply_loop, group_commit
from manyclass.service.log.apply_loop import STRETCH_SECONDS, Counts, Result
from manyclass.service.log.group_commit import GroupCommit
from manyclass.service.store.errors import StoreError, StoreFull, StoreUnavailable
from tests.service.faulty import PATIENCE, FaultyStore, in_loop, learn, many_turns


@asynccontextmanager
async def writing(store=None, max_events=1000, max_bytes=2**20, on_applied=None):
    """A writer over a store in memory, closed in the end."""
    store = store or FaultyStore()
    writer = GroupCommit(store, Model(Options()), max_events, max_bytes, on_applied)
    try:
        yield writer, store
    finally:
        await writer.close()


def assert_holds_just(writer, store, *events):
    """The log holds these events and no other, and the model is the one they make, each once."""
    expected = Model(Options())
    for seq, event in enumerate(events, start=1):
        if event.event_id is not None and expected.seen(event.event_id):
            expected.seq = seq
        else:
            expected.apply(seq, event)
    assert writer.model.digest() == expected.digest()
    logged = [Event.from_bytes(data) for _, data in store.read(0)]
    assert [event.join() for event in events] == [event.join() for event in logged]
    assert writer.appended == len(events)
    assert (writer.events, writer.bytes) == (0, 0)


# --- answers -------------------------------------------------------------------------------------


@in_loop
async def test_answers_with_number_and_rank_before_learning():
    async with writing() as (writer, store):
        first, second = learn("a b", "x"), learn("a b", "x")
        assert await writer.admit([first]) == [Result(1, False, None, True)]
        assert await writer.admit([second]) == [Result(2, False, 1, False)]
        assert_holds_just(writer, store, first, second)


@in_loop
async def test_answers_many_in_order():
    async with writing() as (writer, store):
        events = [learn("a", "x"), learn("b", "y"), learn("c", "z")]
        results = await writer.admit(events)
        assert [result.seq for result in results] == [1, 2, 3]
        assert_holds_just(writer, store, *events)


@in_loop
async def test_nothing_submitted_is_answered_with_nothing():
    async with writing() as (writer, store):
        assert await writer.admit([]) == []
        assert store.appends == []


@in_loop
async def test_tells_about_each_applied_event():
    heard = []
    async with writing(on_applied=lambda *args: heard.append(args)) as (writer, _):
        events = [learn("a", "x"), learn("a", "x")]
        await writer.admit(events)
    assert [event for event, _, _ in heard] == events
    assert [(outcome.seq, outcome.rank) for _, outcome, _ in heard] == [(1, None), (2, 1)]
    assert all(seconds >= 0 for _, _, seconds in heard)


# --- whole or nothing ----------------------------------------------------------------------------


@in_loop
async def test_one_bad_event_keeps_all_of_them_out():
    async with writing() as (writer, store):
        with pytest.raises(UnknownName):
            writer.admit([learn("a", "x"), Event.forget_class("nobody")])
        assert_holds_just(writer, store)


@in_loop
async def test_a_refusing_store_leaves_everything_as_it_was(caplog):
    async with writing() as (writer, store):
        store.append_error = StoreFull("no room", "make some")
        caplog.clear()
        answers = [writer.admit([learn("a", "x", "one")]), writer.admit([learn("b", "y")])]
        for answer in answers:
            with pytest.raises(StoreFull, match="no room"):
                await answer
        assert_holds_just(writer, store)
        assert (writer.commits, writer.failed_commits) == (0, 1)
        assert [record.message for record in caplog.records] == [
            "the store takes no events: no room; make some"
        ]


@in_loop
async def test_goes_on_when_the_store_does():
    async with writing() as (writer, store):
        event = learn("a", "x", "one")
        store.append_error = StoreUnavailable("away")
        with pytest.raises(StoreUnavailable):
            await writer.admit([event])
        store.append_error = None
        assert await writer.admit([event]) == [Result(1, False, None, True)]
        assert_holds_just(writer, store, event)


@pytest.mark.parametrize(
    "error", [StoreError("odd", "mend it"), OSError("worse"), ZeroDivisionError()]
)
@in_loop
async def test_whatever_the_store_raises_is_unavailable_to_the_sender(error):
    async with writing() as (writer, store):
        store.append_error = error
        with pytest.raises(StoreUnavailable) as caught:
            await writer.admit([learn("a", "x")])
        assert caught.value.__cause__ is error
        assert caught.value.hint == getattr(error, "hint", "")
        assert_holds_just(writer, store)


@in_loop
async def test_what_waits_is_not_lost_when_the_append_before_it_fails():
    async with writing() as (writer, store):
        later = learn("b", "y", "two")
        store.append_errors = [StoreUnavailable("away")]
        with store.before_append.shut() as gate:
            failing = writer.admit([learn("a", "x", "one")])
            await gate.reached()
            waiting = writer.admit([later])
        with pytest.raises(StoreUnavailable):
            await failing
        assert await waiting == [Result(1, False, None, True)]
        assert_holds_just(writer, store, later)


@in_loop
async def test_a_failing_store_is_logged_once_and_so_is_its_return(caplog):
    async with writing() as (writer, store):
        store.append_errors = [StoreUnavailable("away")] * 3
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                await writer.admit([learn("a", "x")])
        for _ in range(3):
            await writer.admit([learn("a", "x")])
    assert [record.message for record in caplog.records] == [
        "the store takes no events: away",
        "the store takes events again",
    ]


# --- one append for all that waits ---------------------------------------------------------------


@in_loop
async def test_what_comes_during_an_append_shares_the_next():
    async with writing() as (writer, store):
        events = [learn(f"f{n}", "x") for n in range(11)]
        with store.before_append.shut() as gate:
            answers = [writer.admit([events[0]])]
            await gate.reached()
            answers += [writer.admit([event]) for event in events[1:]]
        await asyncio.gather(*answers)
        assert store.appends == [1, 10]
        assert writer.commits == 2
        assert_holds_just(writer, store, *events)


@in_loop
async def test_what_comes_in_the_same_turn_of_the_loop_goes_together():
    async with writing() as (writer, store):
        await asyncio.gather(*(writer.admit([learn("a", "x")]) for _ in range(5)))
        assert store.appends == [5]


@pytest.mark.parametrize(("events", "size"), [(2, 2**20), (1000, 60)])
@in_loop
async def test_one_append_is_bounded_but_takes_what_came_together(monkeypatch, events, size):
    monkeypatch.setattr(group_commit, "COMMIT_EVENTS", events)
    monkeypatch.setattr(group_commit, "COMMIT_BYTES", size)
    async with writing() as (writer, store):
        one = learn("a", "x")
        assert 2 * len(bytes(one)) <= 60 < 3 * len(bytes(one))
        await asyncio.gather(*(writer.admit([one]) for _ in range(3)), writer.admit([one] * 5))
        assert store.appends == [2, 1, 5]


@in_loop
async def test_the_next_append_begins_before_the_last_is_applied():
    store = FaultyStore()

    def wait_for_the_second(event, outcome, seconds):
        if outcome.seq == 1:
            assert store.begun.acquire(timeout=PATIENCE)
            assert store.begun.acquire(timeout=PATIENCE)

    async with writing(store, on_applied=wait_for_the_second) as (writer, _):
        with store.before_append.shut() as gate:
            first = writer.admit([learn("a", "x")])
            await gate.reached()
            second = writer.admit([learn("b", "y")])
        assert (await first)[0].seq == 1
        assert (await second)[0].seq == 2


@in_loop
async def test_others_have_their_turn_while_a_long_batch_is_applied(monkeypatch):
    def takes_its_time(event, outcome, seconds):
        nonlocal now
        now += 0.3 * STRETCH_SECONDS

    now = 0.0
    monkeypatch.setattr(apply_loop, "perf_counter", lambda: now)
    async with writing(on_applied=takes_its_time) as (writer, store):
        events = [learn("a b c", "x")] * 50
        answers = [writer.admit(events), *(writer.admit(events[:1]) for _ in range(50))]
        seen = [0]
        while not answers[-1].done():
            seen.append(writer.model.seq)
            await asyncio.sleep(0)
        seen.append(100)
        steps = [after - before for before, after in pairwise(seen) if after > before]
        # the clock was read before this event made it go on, so it is one event late
        assert set(steps[:-1]) <= {4, 5}
        assert_holds_just(writer, store, *events * 2)


@in_loop
async def test_an_event_that_takes_longer_than_a_stretch_is_applied_alone(monkeypatch):
    ticks = count(step=10 * STRETCH_SECONDS)
    monkeypatch.setattr(apply_loop, "perf_counter", lambda: next(ticks))
    async with writing() as (writer, store):
        events = [learn("a", "x")] * 5
        answer = writer.admit(events)
        seen = [0]
        while not answer.done():
            seen.append(writer.model.seq)
            await asyncio.sleep(0)
        assert {after - before for before, after in pairwise([*seen, 5])} <= {0, 1}
        assert_holds_just(writer, store, *events)


# --- retries -------------------------------------------------------------------------------------


@in_loop
async def test_a_retry_is_answered_with_the_number_of_the_first():
    async with writing() as (writer, store):
        event, other = learn("a", "x", "one"), learn("b", "y")
        await writer.admit([event])
        results = await writer.admit([event, other, event])
        assert results == [
            Result(1, True, None, False),
            Result(2, False, None, True),
            Result(1, True, None, False),
        ]
        assert_holds_just(writer, store, event, other)


@in_loop
async def test_a_retry_is_answered_while_the_store_is_away():
    async with writing() as (writer, store):
        event = learn("a", "x", "one")
        await writer.admit([event])
        store.append_error = StoreUnavailable("away")
        assert await writer.admit([event]) == [Result(1, True, None, False)]


@in_loop
async def test_a_retry_waits_for_the_first_one_in_flight():
    async with writing() as (writer, store):
        event = learn("a", "x", "one")
        with store.before_append.shut() as gate:
            first = writer.admit([event])
            await gate.reached()
            retry = writer.admit([event])
            await asyncio.sleep(0)
            assert not retry.done()
        assert await first == [Result(1, False, None, True)]
        assert await retry == [Result(1, True, None, False)]
        assert_holds_just(writer, store, event, event)


@in_loop
async def test_a_retry_of_what_is_durable_but_not_yet_applied_is_recognised(monkeypatch):
    monkeypatch.setattr(apply_loop, "STRETCH_SECONDS", 0.0)
    async with writing() as (writer, store):
        before = [learn("b", "y")] * 50
        event = learn("a", "x", "one")
        first = writer.admit([*before, event])
        while writer.appended == 0:
            await writer.applier.progress()
        assert writer.model.seq < 51
        retry = writer.admit([event])
        assert (await first)[-1].seq == 51
        assert await retry == [Result(51, True, None, False)]
        assert_holds_just(writer, store, *before, event, event)


@in_loop
async def test_retries_among_those_that_wait_go_the_way_of_the_first():
    async with writing() as (writer, store):
        event = learn("a", "x", "one")
        store.append_error = StoreUnavailable("away")
        with store.before_append.shut() as gate:
            head = writer.admit([learn("z", "z")])
            await gate.reached()
            both = [writer.admit([event]), writer.admit([event])]
        failed = await asyncio.gather(head, *both, return_exceptions=True)
        assert all(isinstance(error, StoreUnavailable) for error in failed)
        store.append_error = None
        other = learn("b", "y")
        results = await asyncio.gather(*(writer.admit([each]) for each in (other, event, event)))
        assert [(result.seq, result.duplicate) for [result] in results] == [
            (1, False),
            (2, False),
            (2, True),
        ]
        assert_holds_just(writer, store, other, event, event)


@in_loop
async def test_an_id_with_other_content_is_a_conflict():
    async with writing() as (writer, store):
        event = learn("a", "x", "one")
        await writer.admit([event])
        with pytest.raises(EventConflict) as caught:
            await writer.admit([learn("b", "y"), learn("a", "z", "one")])
        assert (caught.value.position, caught.value.event_id, caught.value.seq) == (1, "one", 1)
        assert_holds_just(writer, store, event)
        assert writer.conflicts == 1


@in_loop
async def test_a_conflict_within_one_request_keeps_all_of_it_out():
    async with writing() as (writer, store):
        with pytest.raises(EventConflict):
            await writer.admit([learn("a", "x", "one"), learn("a", "z", "one")])
        assert_holds_just(writer, store)
        event = learn("a", "z", "one")
        assert await writer.admit([event]) == [Result(1, False, None, True)]


@in_loop
async def test_a_conflict_harms_nobody_else():
    async with writing() as (writer, store):
        event, other = learn("a", "x", "one"), learn("b", "y", "two")
        with store.before_append.shut() as gate:
            head = writer.admit([learn("z", "z")])
            await gate.reached()
            first = writer.admit([event])
            conflict = writer.admit([learn("c", "c", "three"), learn("a", "z", "one")])
            retry = writer.admit([event])
            last = writer.admit([other])
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
        assert writer.model.digest() == expected.digest()
        assert store.last_seq == 6
        assert writer.conflicts == 1


@in_loop
async def test_a_conflict_alone_is_worked_off_too():
    async with writing() as (writer, _):
        await writer.admit([learn("a", "x", "one")])
        conflict = writer.admit([learn("b", "y", "one")])
        await asyncio.wait_for(writer.drain(), PATIENCE)
        assert isinstance(conflict.exception(), EventConflict)


# --- limits --------------------------------------------------------------------------------------


@in_loop
async def test_refuses_more_events_than_may_wait():
    async with writing(max_events=3) as (writer, store):
        with store.before_append.shut() as gate:
            answers = [writer.admit([learn("a", "x")])]
            await gate.reached()
            answers.append(writer.admit([learn("b", "x"), learn("c", "x")]))
            with pytest.raises(QueueFull) as caught:
                writer.admit([learn("d", "x")])
        assert caught.value.events == 3
        assert caught.value.retry_after > 0
        await asyncio.gather(*answers)
        assert (await writer.admit([learn("d", "x")]))[0].seq == 4


@in_loop
async def test_refuses_more_bytes_than_may_wait():
    event = learn("a", "x")
    async with writing(max_bytes=2 * len(bytes(event))) as (writer, store):
        with store.before_append.shut():
            answers = [writer.admit([event]), writer.admit([event])]
            with pytest.raises(QueueFull) as caught:
                writer.admit([event])
        assert caught.value.bytes == 2 * len(bytes(event))
        await asyncio.gather(*answers)


@in_loop
async def test_an_empty_queue_takes_a_request_of_any_size():
    async with writing(max_events=2, max_bytes=10) as (writer, _):
        assert len(await writer.admit([learn("a", "x")] * 5)) == 5


@in_loop
async def test_tells_when_there_may_be_room_again():
    async with writing(max_events=1) as (writer, store):
        with store.before_append.shut() as gate:
            answer = writer.admit([learn("a", "x")])
            progress = asyncio.ensure_future(writer.applier.progress())
            await gate.reached()
            assert not progress.done()
        await progress
        assert answer.done()
        await writer.admit([learn("b", "x")])


@in_loop
async def test_counts_go_on_over_a_change_of_model():
    async with writing() as (writer, _):
        for text in ("a b", "a b c"):
            await writer.admit([learn(text, "x")])
        before = writer.applier.counts()
        assert before == Counts.of(writer.model)
        assert before.active_features_ranked == 5
        other = Model(Options())
        other.apply(1, learn("d", "y"))
        assert other.learner.active_features_ranked == 1
        async with writer.applier.quiet():
            writer.applier.use(other)
        assert writer.applier.counts() == before
        other.rank(Instance(["d"]), 1)
        assert writer.applier.counts() == before._replace(
            active_features_ranked=before.active_features_ranked + 1,
            edges_touched=before.edges_touched + 1,
        )


# --- senders that go away ------------------------------------------------------------------------


@in_loop
async def test_events_of_a_sender_that_went_away_are_learned_once():
    async with writing() as (writer, store):
        event = learn("a", "x", "one")

        async def send():
            return await writer.admit([event])

        with store.before_append.shut() as gate:
            sender = asyncio.create_task(send())
            await gate.reached()
            sender.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sender
        assert await writer.admit([event]) == [Result(1, True, None, False)]
        assert_holds_just(writer, store, event, event)


@in_loop
async def test_a_sender_that_went_away_may_also_be_refused():
    async with writing() as (writer, store):
        store.append_error = StoreUnavailable("away")
        writer.admit([learn("a", "x")]).cancel()
        await writer.drain()
        assert_holds_just(writer, store)


# --- quiet ---------------------------------------------------------------------------------------


@in_loop
async def test_in_quiet_nothing_changes_and_what_comes_waits(monkeypatch):
    monkeypatch.setattr(apply_loop, "STRETCH_SECONDS", 0.0)
    async with writing() as (writer, _):
        before = writer.admit([learn("a", "x")] * 30)
        while writer.model.seq == 0:
            await asyncio.sleep(0)
        async with writer.applier.quiet():
            assert before.done()
            assert writer.model.seq == 30
            after = writer.admit([learn("b", "y")])
            while writer.appended < 31:
                await many_turns()
            await many_turns()
            assert writer.model.seq == 30
            assert not after.done()
        assert (await after)[0].seq == 31


@in_loop
async def test_those_who_want_it_quiet_take_turns():
    async with writing() as (writer, _):
        inside = 0

        async def hold():
            nonlocal inside
            async with writer.applier.quiet():
                inside += 1
                assert inside == 1
                seq = writer.model.seq
                await many_turns()
                assert writer.model.seq == seq
                inside -= 1

        holding = [asyncio.create_task(hold()) for _ in range(3)]
        await asyncio.sleep(0)
        answer = writer.admit([learn("a", "x")])
        await asyncio.gather(*holding)
        assert (await answer)[0].seq == 1


@in_loop
async def test_quiet_ends_also_with_an_error():
    async with writing() as (writer, _):
        with pytest.raises(ZeroDivisionError):
            async with writer.applier.quiet():
                raise ZeroDivisionError
        assert (await writer.admit([learn("a", "x")]))[0].seq == 1


# --- the end -------------------------------------------------------------------------------------


@in_loop
async def test_close_works_off_what_was_admitted():
    store = FaultyStore()
    async with writing(store) as (writer, _):
        answers = [writer.admit([learn("a", "x")]) for _ in range(3)]
    assert [answer.result()[0].seq for answer in answers] == [1, 2, 3]


@in_loop
async def test_stops_when_the_log_numbers_otherwise():
    async with writing() as (writer, store):
        await writer.admit([learn("a", "x")])
        store.inner.append([b"from somebody else"])
        answer, waiting = writer.admit([learn("b", "y", "two")]), writer.admit([learn("c", "z")])
        for refused in (answer, waiting):
            with pytest.raises(NotReady, match="numbered"):
                await refused
        with pytest.raises(NotReady, match="numbered"):
            writer.admit([learn("d", "x")])
        assert writer.model.seq == 1


@in_loop
async def test_stops_when_an_event_cannot_be_applied(monkeypatch):
    def broken(self, seq, event, clock):
        raise MemoryError("no more")

    async with writing() as (writer, store):
        monkeypatch.setattr(Model, "apply", broken)
        with pytest.raises(NotReady, match=r"event 1 .* no more"):
            await writer.admit([learn("a", "x")])
        assert writer.failure
        assert store.last_seq == 1
        monkeypatch.undo()
        with pytest.raises(NotReady):
            writer.admit([learn("b", "y")])

"""GroupCommit: a 200 means durable and applied, atomically and once."""

import asyncio
from itertools import count, pairwise

import pytest

from manyclass.core.errors import UnknownName
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.service.errors import NotReady, QueueFull
from manyclass.service.log import apply_loop
from manyclass.service.log import group_commit as group_commit_module
from manyclass.service.log.apply_loop import STRETCH_SECONDS
from manyclass.service.log.live_model import LearnerCounts
from manyclass.service.log.request import Result
from manyclass.service.log.submission import NAME_BYTES
from manyclass.service.store.errors import StoreError, StoreFull, StoreUnavailable
from manyclass.service.store.memory import MemoryStore
from tests.service.faulty import PATIENCE, FaultyStore, appending, learn, many_turns
from tests.service.log.parts import assert_holds_just, committing

# --- answers -------------------------------------------------------------------------------------


async def test_answers_with_number_and_rank_before_learning(parts, group_commit):
    first, second = learn("a b", "x"), learn("a b", "x")
    assert await group_commit.admit([first]) == [Result(1, False, None, True)]
    assert await group_commit.admit([second]) == [Result(2, False, 1, False)]
    assert_holds_just(parts, first, second)


async def test_answers_many_in_order(parts, group_commit):
    events = [learn("a", "x"), learn("b", "y"), learn("c", "z")]
    results = await group_commit.admit(events)
    assert [result.seq for result in results] == [1, 2, 3]
    assert_holds_just(parts, *events)


async def test_an_empty_submission_has_an_empty_answer(parts, group_commit):
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


async def test_a_bad_event_keeps_the_whole_request_out(parts, group_commit):
    with pytest.raises(UnknownName):
        group_commit.admit([learn("a", "x"), Event.forget_class("nobody")])
    assert_holds_just(parts)


async def test_a_refusing_store_leaves_everything_as_it_was(parts, group_commit, caplog):
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
        "the store accepts no events: no room; make some"
    ]


async def test_goes_on_when_the_store_does(parts, group_commit):
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
async def test_every_error_of_the_store_is_unavailable_to_the_sender(parts, group_commit, error):
    parts.store.append_error = error
    with pytest.raises(StoreUnavailable) as caught:
        await group_commit.admit([learn("a", "x")])
    assert caught.value.__cause__ is error
    assert caught.value.hint == getattr(error, "hint", "")
    assert_holds_just(parts)


async def test_waiting_events_survive_the_failure_of_the_append_before(parts, group_commit):
    later = learn("b", "y", "two")
    parts.store.append_errors = [StoreUnavailable("away")]
    async with appending(parts.store, group_commit, learn("a", "x", "one")) as failing:
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
        "the store accepts no events: away",
        "the store accepts events again",
    ]


# --- one append for all pending ------------------------------------------------------------------


async def test_events_that_arrive_during_an_append_share_the_next(parts, group_commit):
    events = [learn(f"f{n}", "x") for n in range(11)]
    with parts.store.before_append.shut() as gate:
        answers = [group_commit.admit([events[0]])]
        await gate.reached()
        answers += [group_commit.admit([event]) for event in events[1:]]
    await asyncio.gather(*answers)
    assert parts.store.appends == [1, 10]
    assert group_commit.commits == 2
    assert_holds_just(parts, *events)


async def test_events_of_one_turn_of_the_loop_share_an_append(parts, group_commit):
    await asyncio.gather(*(group_commit.admit([learn("a", "x")]) for _ in range(5)))
    assert parts.store.appends == [5]


@pytest.mark.parametrize(("events", "size"), [(2, 2**20), (1000, 60)])
async def test_an_append_is_bounded_between_requests(
    parts, group_commit, monkeypatch, events, size
):
    monkeypatch.setattr(group_commit_module, "COMMIT_EVENTS", events)
    monkeypatch.setattr(group_commit_module, "COMMIT_BYTES", size)
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
        async with appending(store, group_commit, learn("a", "x")) as first:
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


async def test_a_slow_event_is_applied_alone(parts, group_commit, monkeypatch):
    ticks = count(step=10 * STRETCH_SECONDS)
    monkeypatch.setattr(apply_loop, "perf_counter", lambda: next(ticks))
    events = [learn("a", "x")] * 5
    answer = group_commit.admit(events)
    seen = [0]
    while not answer.done():
        seen.append(parts.model.seq)
        await asyncio.sleep(0)
    assert {after - before for before, after in pairwise([*seen, 5])} <= {0, 1}
    assert_holds_just(parts, *events)


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
    held = len(bytes(event)) + len("x") + NAME_BYTES  # the class is an object too
    async with committing(max_bytes=2 * held) as (parts, group_commit):
        with parts.store.before_append.shut():
            answers = [group_commit.admit([event]), group_commit.admit([event])]
            with pytest.raises(QueueFull) as caught:
                group_commit.admit([event])
        assert caught.value.bytes == 2 * held
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


async def test_counts_go_on_over_a_change_of_model(parts, group_commit):
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


# --- the end -------------------------------------------------------------------------------------


async def test_close_works_off_what_was_admitted():
    store = FaultyStore()
    async with committing(store) as (_, group_commit):
        answers = [group_commit.admit([learn("a", "x")]) for _ in range(3)]
    assert [answer.result()[0].seq for answer in answers] == [1, 2, 3]


async def test_stops_when_the_log_numbers_otherwise(parts, group_commit):
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


async def test_a_failed_apply_acknowledges_nothing_later(parts, group_commit, monkeypatch):
    def broken(self, seq, event, clock):
        raise MemoryError("no more")

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

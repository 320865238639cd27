"""Counts of errors: how long one is kept, and how it ends."""

import asyncio
from threading import Event as Signal
from types import SimpleNamespace

import pytest

from manyclass.service.history.error_count import FRESH_SECONDS, ErrorCounts
from manyclass.service.store.errors import StoreUnavailable
from tests.service.engines import model_of
from tests.service.faulty import PATIENCE, Clock, learn


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
async def counts(clock):
    made = ErrorCounts(clock)
    yield made
    await made.close()


class History:
    """A history without events, which counts how often it is read."""

    def __init__(self):
        self.reads = 0
        self.error = None
        self.live = SimpleNamespace(model=SimpleNamespace(restores=[]))
        self.reader = SimpleNamespace(first_seq=1)

    def behind(self, after, last_seq):
        yield from ()

    def newest(self, last):
        self.reads += 1
        if self.error is not None:
            raise self.error
        yield from ()


async def test_a_count_is_kept_for_some_seconds_for_those_who_do_not_wait_for_newer(counts, clock):
    history, model = History(), model_of(learn("a", "x"))
    first = await counts.of(history, model, 10, 1.0)
    assert first.is_done
    model.apply(2, learn("b", "x"))
    clock.now += FRESH_SECONDS - 1
    assert await counts.of(history, model, 10, 1.0) is first
    clock.now += 1
    newer = await counts.of(history, model, 10, 1.0)
    assert (newer.seq, first.seq) == (2, 1)


async def test_a_call_that_waits_gets_a_count_of_its_events(counts):
    history, model = History(), model_of(learn("a", "x"))
    first = await counts.of(history, model, 10, None)
    assert await counts.of(history, model, 10, None) is first
    model.apply(2, learn("b", "x"))
    assert (await counts.of(history, model, 10, None)).seq == 2


@pytest.mark.parametrize("seconds", [None, 1.0])
async def test_a_count_of_another_number_of_events_or_another_model_is_made_anew(counts, seconds):
    history, model = History(), model_of(learn("a", "x"))
    first = await counts.of(history, model, 10, seconds)
    assert await counts.of(history, model, 20, seconds) is not first
    other = model_of(learn("a", "x"))
    assert (await counts.of(history, other, 20, seconds)).is_by(other)


async def test_a_count_that_failed_is_an_error_and_is_not_kept(counts):
    history, model = History(), model_of(learn("a", "x"))
    history.error = StoreUnavailable("away", "wait")
    with pytest.raises(StoreUnavailable):
        await counts.of(history, model, 10, None)
    history.error = None
    assert (await counts.of(history, model, 10, 1.0)).is_done
    assert history.reads == 2


async def test_closing_ends_the_count_under_way_and_starts_no_other():
    counts, model = ErrorCounts(Clock()), model_of(learn("a", "x"))
    began, goes_on = Signal(), Signal()

    def newest(last):
        began.set()
        assert goes_on.wait(PATIENCE)
        yield SimpleNamespace(outcome=1, classes=())

    history = History()
    history.newest = newest
    running = asyncio.ensure_future(counts.of(history, model, 10, None))
    await asyncio.to_thread(began.wait, PATIENCE)
    closing = asyncio.ensure_future(counts.close())
    await asyncio.sleep(0)
    goes_on.set()
    await closing
    assert not (await running).is_done
    began.clear()
    assert not (await counts.of(history, model, 10, None)).is_done
    assert not began.is_set()

"""The follower: all of the log, in order, at the pace it is worked off."""

import asyncio

import pytest

from manyclass.service.log import log_tailer
from manyclass.service.log.log_tailer import LogTailer
from manyclass.service.store.errors import LogRewound
from manyclass.service.store.protocol import Batch
from tests.service.faulty import PATIENCE, in_loop, many_turns
from tests.service.shared import SharedLog


class Desk:
    """What a follower brings."""

    def __init__(self, log, after=0):
        self.store = log.store("A")
        self.batches, self.letters, self.ends = [], [], []
        self.follower = LogTailer(
            self.store, after, self.batches.append, self.letters.append, self.ends.append
        )

    async def until(self, condition):
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await asyncio.sleep(0.005)


@in_loop
async def test_brings_batches_and_letters_and_then_nothing_more():
    log = SharedLog()
    desk = Desk(log)
    other = log.store("B")
    other.append([b"1", b"2"])
    desk.store.append([b"3"], 7)
    other.post([("A", b"hello")])
    await desk.until(lambda: len(desk.batches) == 2 and desk.letters)
    assert desk.batches == [Batch(1, [b"1", b"2"], 0), Batch(3, [b"3"], 7)]
    assert [(letter.sender, letter.body) for letter in desk.letters] == [("B", b"hello")]
    await desk.follower.stop()
    other.append([b"4"])
    await many_turns()
    assert len(desk.batches) == 2
    assert desk.ends == []


@in_loop
async def test_begins_amid_a_batch():
    log = SharedLog()
    log.store("B").append([b"1", b"2", b"3"])
    desk = Desk(log, after=1)
    await desk.until(lambda: desk.batches)
    assert desk.batches == [Batch(2, [b"2", b"3"], 0)]
    await desk.follower.stop()


@in_loop
async def test_waits_until_there_is_room(monkeypatch):
    monkeypatch.setattr(log_tailer, "MOST_AHEAD_BYTES", 2000)
    log = SharedLog()
    desk = Desk(log)
    for _ in range(20):
        log.store("B").append([bytes(300)])
    await desk.until(lambda: len(desk.batches) >= 3)
    await many_turns()
    brought = len(desk.batches)
    assert brought < 6
    desk.follower.applied(desk.batches[0])
    await desk.until(lambda: len(desk.batches) == brought + 1)
    await many_turns()
    assert len(desk.batches) == brought + 1
    await desk.follower.stop()  # also while it waits


@pytest.mark.parametrize("error", [LogRewound(2), ZeroDivisionError()])
@in_loop
async def test_says_why_it_cannot_go_on(monkeypatch, error):
    log = SharedLog()

    def follow(self, after):
        yield Batch(1, [b"1"], 0)
        raise error

    monkeypatch.setattr("tests.service.shared.SharedMemoryStore.follow", follow)
    desk = Desk(log)
    await desk.until(lambda: desk.ends)
    assert desk.ends == [error]
    assert desk.batches == [Batch(1, [b"1"], 0)]
    await desk.follower.stop()

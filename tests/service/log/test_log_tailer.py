"""LogTailer: the whole log, in order, at the pace at which it is applied."""

import asyncio

import pytest

from manyclass.service.log import log_tailer
from manyclass.service.log.log_tailer import LogTailer
from manyclass.service.store.errors import LogRewound
from manyclass.service.store.protocol import Batch
from tests.service.engines import until
from tests.service.faulty import PATIENCE, many_turns


class Receiver:
    """A tailer, and everything it delivered."""

    def __init__(self, log, after=0):
        self.store = log.store("A")
        self.batches, self.applied, self.messages = [], [], []
        self.tailer = LogTailer(self.store, after, self.deliver, self.messages.append)

    def deliver(self, batch, applied):
        self.batches.append(batch)
        self.applied.append(applied)


async def test_brings_batches_and_messages_and_then_nothing_more(log):
    receiver = Receiver(log)
    other = log.store("B")
    other.append([b"1", b"2"])
    receiver.store.append([b"3"], 7)
    other.post([("A", b"hello")])
    await until(lambda: len(receiver.batches) == 2 and receiver.messages)
    assert receiver.batches == [Batch(1, [b"1", b"2"], 0), Batch(3, [b"3"], 7)]
    assert [(message.sender, message.body) for message in receiver.messages] == [("B", b"hello")]
    await receiver.tailer.stop()
    other.append([b"4"])
    await many_turns()
    assert len(receiver.batches) == 2
    assert not receiver.tailer.ended.done()


async def test_begins_amid_a_batch(log):
    log.store("B").append([b"1", b"2", b"3"])
    receiver = Receiver(log, after=1)
    await until(lambda: receiver.batches)
    assert receiver.batches == [Batch(2, [b"2", b"3"], 0)]
    await receiver.tailer.stop()


async def test_waits_until_there_is_room(log, monkeypatch):
    monkeypatch.setattr(log_tailer, "MOST_AHEAD_BYTES", 2000)
    receiver = Receiver(log)
    for _ in range(20):
        log.store("B").append([bytes(300)])
    await until(lambda: len(receiver.batches) >= 3)
    await many_turns()
    brought = len(receiver.batches)
    assert brought < 6
    receiver.applied[0]()
    await until(lambda: len(receiver.batches) == brought + 1)
    await many_turns()
    assert len(receiver.batches) == brought + 1
    await receiver.tailer.stop()  # also while it waits


@pytest.mark.parametrize("error", [LogRewound(2), ZeroDivisionError()])
async def test_says_why_it_cannot_go_on(log, monkeypatch, error):

    def follow(self, after):
        yield Batch(1, [b"1"], 0)
        raise error

    monkeypatch.setattr("tests.service.shared.SharedMemoryStore.follow", follow)
    receiver = Receiver(log)
    assert await asyncio.wait_for(receiver.tailer.ended, PATIENCE) is error
    assert receiver.batches == [Batch(1, [b"1"], 0)]
    await receiver.tailer.stop()

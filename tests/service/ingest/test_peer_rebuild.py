"""A rebuild that another process than the leader is asked for."""

import asyncio

import pytest

from manyclass.service.errors import RebuildRefused
from manyclass.service.history.rebuild import Rebuilt
from manyclass.service.ingest import peer_rebuild
from manyclass.service.ingest.peer_messages import opened
from manyclass.service.ingest.peer_rebuild import PeerRebuild
from manyclass.service.store.errors import StoreUnavailable
from manyclass.service.store.protocol import Heartbeat, Process

DONE = Rebuilt(7, 0, 5, 1, 1, 0, 0.25, 1000.5)


class Mail:
    """The mail between processes of these names; the first one leads."""

    def __init__(self, *names):
        self.names = names
        self.rebuilds = {}
        self.lost = False
        self.loop = asyncio.get_running_loop()

    def process(self, name, rebuild):
        self.rebuilds[name] = PeerRebuild(FakeCluster(self, name), rebuild)
        return self.rebuilds[name]

    def post(self, sender, messages):
        for to, body in messages:
            if not self.lost:
                receiver = self.rebuilds[to]
                self.loop.call_soon_threadsafe(receiver.on_message, sender, opened(body))


class FakeCluster:
    def __init__(self, mail, name):
        self.mail, self.name = mail, name
        self.shared = self

    @property
    def is_leader(self):
        return self.mail.names[:1] == (self.name,)

    def peers(self):
        return [each for each in self.mail.names if each != self.name]

    async def poll(self):
        names = self.mail.names
        return Heartbeat(7, False, [], [Process(each, 7, each == names[0], 1.0) for each in names])

    def post(self, messages):
        self.mail.post(self.name, messages)


async def never():
    raise AssertionError("this process does not lead")


async def test_the_leader_rebuilds_and_the_answer_comes_back():
    async def rebuild():
        return DONE

    mail = Mail("a", "b")
    leader, other = mail.process("a", rebuild), mail.process("b", never)
    assert await other.run() == DONE
    assert await leader.run() == DONE


async def test_a_refusal_comes_back_as_one_and_a_failure_as_unavailable():
    errors = [
        RebuildRefused("a rebuild is under way"),
        StoreUnavailable("the store is away", "wait"),
        ValueError("secret"),
    ]

    async def rebuild():
        raise errors.pop(0)

    mail = Mail("a", "b")
    mail.process("a", rebuild)
    other = mail.process("b", never)
    with pytest.raises(RebuildRefused, match="under way"):
        await other.run()
    with pytest.raises(StoreUnavailable, match="the store is away"):
        await other.run()
    with pytest.raises(StoreUnavailable, match="the rebuild failed"):
        await other.run()


async def test_without_an_answer_the_caller_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(peer_rebuild, "BEGUN_SECONDS", 0.05)
    mail = Mail("a", "b")
    mail.process("a", never)
    other = mail.process("b", never)
    mail.lost = True
    with pytest.raises(StoreUnavailable, match="did not answer"):
        await other.run()


async def test_a_leader_that_goes_away_amid_the_rebuild_is_noticed():
    mail = Mail("a", "b")

    async def rebuild():
        mail.names = ("b",)
        await asyncio.sleep(60)

    leader = mail.process("a", rebuild)
    other = mail.process("b", never)
    with pytest.raises(StoreUnavailable, match="went away"):
        await other.run()
    for task in leader._answering:
        task.cancel()

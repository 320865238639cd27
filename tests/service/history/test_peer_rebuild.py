"""A rebuild that another process than the leader is asked for."""

import asyncio
from functools import partial

import pytest

from manyclass.core.text import TextAnalysis
from manyclass.service.errors import NotReady, RebuildRefused
from manyclass.service.history import peer_rebuild
from manyclass.service.history.peer_rebuild import PeerRebuild
from manyclass.service.history.rebuild import RebuildReport, RebuildStatus
from manyclass.service.ingest.peer_messages import opened
from manyclass.service.store.errors import StoreUnavailable
from manyclass.service.store.protocol import Heartbeat, Process

DONE = RebuildReport(7, 0, 5, 1, 1, 0, "words", 0.25, 1000.5)


class Mail:
    """The mail between processes of these names; the first one leads."""

    def __init__(self, *names):
        self.names = names
        self.rebuilds = {}
        self.lost = False
        self.serving = []
        self.loop = asyncio.get_running_loop()

    def process(self, name, rebuild):
        rebuilds = self.rebuilds[name] = PeerRebuild(FakeCluster(self, name))
        status = partial(status_of, name)
        self.serving.append(asyncio.create_task(rebuilds.serve(rebuild, status)))
        return partial(rebuilds.run, rebuild)

    async def end(self):
        for each in self.serving:
            each.cancel()
        await asyncio.wait(self.serving)

    def post(self, sender, messages):
        for to, body in messages:
            if not self.lost:
                receiver = self.rebuilds[to]
                self.loop.call_soon_threadsafe(receiver.on_message, sender, opened(body))


@pytest.fixture
async def posted():
    """Yield mail of two processes; end them at the end."""
    mail = Mail("a", "b")
    yield mail
    await mail.end()


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
        return Heartbeat(
            7, False, [], [Process(each, 7, each == names[0], 1.0, 1) for each in names]
        )

    def post(self, messages):
        self.mail.post(self.name, messages)


def status_of(name):
    return RebuildStatus(running=True, learned=len(name), waiting=ord(name), last=DONE)


async def never(learner, text):
    raise AssertionError("this process does not lead")


async def test_the_leader_rebuilds_and_the_answer_comes_back(posted):
    async def rebuild(learner, text):
        return DONE

    leader, other = posted.process("a", rebuild), posted.process("b", never)
    assert await other() == DONE
    assert await leader() == DONE


async def test_a_refusal_comes_back_as_one_and_a_failure_as_unavailable(posted):
    errors = [
        RebuildRefused("a rebuild is in progress"),
        StoreUnavailable("the store is away", "wait"),
        ValueError("secret"),
    ]

    async def rebuild(learner, text):
        raise errors.pop(0)

    posted.process("a", rebuild)
    other = posted.process("b", never)
    with pytest.raises(RebuildRefused, match="in progress"):
        await other()
    with pytest.raises(StoreUnavailable, match="the store is away"):
        await other()
    with pytest.raises(StoreUnavailable, match="the rebuild failed"):
        await other()


async def test_without_an_answer_the_caller_does_not_wait_for_ever(posted, monkeypatch):
    monkeypatch.setattr(peer_rebuild, "ANSWER_SECONDS", 0.05)
    posted.process("a", never)
    other = posted.process("b", never)
    posted.lost = True
    with pytest.raises(StoreUnavailable, match="did not answer"):
        await other()


async def test_a_leader_that_goes_away_amid_the_rebuild_is_noticed(posted):
    async def rebuild(learner, text):
        posted.names = ("b",)
        await asyncio.sleep(60)

    posted.process("a", rebuild)
    other = posted.process("b", never)
    with pytest.raises(StoreUnavailable, match="stopped during"):
        await other()


async def test_a_learner_and_an_analysis_of_the_question_reach_the_leader(posted):
    asked = []

    async def rebuild(learner, text):
        asked.append((learner, text))
        return DONE

    posted.process("a", rebuild)
    other = posted.process("b", never)
    wide = TextAnalysis.parse("words+characters")
    await other("svm(replay=4)")
    await other(None, wide)
    await other()
    assert asked == [("svm(replay=4)", None), (None, wide), (None, None)]


async def test_the_status_is_that_of_the_leader(posted):
    posted.process("a", never)
    posted.process("b", never)
    for name in ("a", "b"):
        assert await posted.rebuilds[name].status(partial(status_of, name)) == status_of("a")


async def test_a_leader_without_a_state_has_no_status(posted):
    leader = PeerRebuild(FakeCluster(posted, "a"))
    posted.rebuilds["a"] = leader

    def not_ready():
        raise NotReady("recovering", None)

    posted.serving.append(asyncio.create_task(leader.serve(never, not_ready)))
    posted.process("b", never)
    with pytest.raises(StoreUnavailable, match="no status"):
        await posted.rebuilds["b"].status(partial(status_of, "b"))

"""Rebuilds by the leader at the request of another process."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count

import msgspec

from manyclass.core.errors import OptionError
from manyclass.core.text import TextAnalysis
from manyclass.service.cluster import Cluster
from manyclass.service.errors import (
    HistoryOff,
    MemoryShort,
    NotReady,
    RebuildRefused,
    with_hint,
)
from manyclass.service.history.rebuild import RebuildReport, RebuildStatus
from manyclass.service.history.rebuild_messages import (
    RebuildAnswer,
    RebuildMessage,
    RebuildQuestion,
    RebuildStatusQuestion,
)
from manyclass.service.sealing import sealed
from manyclass.service.store.errors import StoreError, StoreUnavailable

log = logging.getLogger(__name__)

ANSWER_SECONDS = 10.0  # until the leader answers that it has begun, or with its status
# a rebuild in this process: for a learner, with another text analysis
Rebuilding = Callable[[str | None, TextAnalysis | None], Awaitable[RebuildReport]]
Reading = Callable[[], RebuildStatus]  # of the state of rebuilds in this process
Asked = RebuildQuestion | RebuildStatusQuestion
SEE_GET = "GET /rebuild shows when the last rebuild ended"


class PeerRebuild:
    """The part that asks the leader for a rebuild, and answers such questions as the leader.

        another process ── question ──► leader ── begun ──► ── done or refused ──►

    If the leader stops, the caller gets an error, and the next leader settles the rebuild. Belongs
    to the event loop's thread. `serve` runs as long as the service.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._numbers = count(1)
        self._answers: dict[int, asyncio.Queue[RebuildAnswer]] = {}
        self._questions: asyncio.Queue[tuple[str, Asked]] = asyncio.Queue()  # sender and question

    async def run(
        self, rebuild: Rebuilding, learner: str | None = None, text: TextAnalysis | None = None
    ) -> RebuildReport:
        """Return the result of a rebuild by `rebuild` in this process, or by the leader.

        Raises RebuildRefused, OptionError, MemoryShort and StoreError.
        """
        if self._cluster.is_leader:
            return await rebuild(learner, text)
        named = None if text is None else str(text)
        question = RebuildQuestion(next(self._numbers), learner, named)
        async with self._ask(question) as (leader, answers):
            answer = await _first(answers)
            while answer.rebuilt is None:
                if answer.refused:
                    raise RebuildRefused(answer.refused)
                if answer.failed:
                    raise StoreUnavailable(answer.failed, "see the log of the leader")
                answer = await self._last(answers, leader)
            return msgspec.convert(answer.rebuilt, RebuildReport)

    async def status(self, here: Reading) -> RebuildStatus:
        """Return the status of rebuilds from `here`, or from the leader. Raises StoreError."""
        if self._cluster.is_leader:
            return here()
        async with self._ask(RebuildStatusQuestion(next(self._numbers))) as (_, answers):
            answer = await _first(answers)
        if answer.failed:
            raise StoreUnavailable(answer.failed, "try again")
        return msgspec.convert(answer.status, RebuildStatus)

    @asynccontextmanager
    async def _ask(
        self, question: Asked
    ) -> AsyncIterator[tuple[str, "asyncio.Queue[RebuildAnswer]"]]:
        """Send a question to the leader; yield its name and its answers."""
        heartbeat = await self._cluster.poll()
        processes = [] if heartbeat is None else heartbeat.processes
        leader = next((each.name for each in processes if each.is_leader), None)
        if leader is None:
            raise StoreUnavailable("no process leads now", "try again in a few seconds")
        answers = self._answers[question.number] = asyncio.Queue()
        try:
            await self._send(leader, question)
            yield leader, answers
        finally:
            del self._answers[question.number]

    async def _last(self, answers: "asyncio.Queue[RebuildAnswer]", leader: str) -> RebuildAnswer:
        """Return the next answer of a leader that has begun, however long it takes."""
        while True:
            try:
                return await asyncio.wait_for(answers.get(), 1.0)
            except TimeoutError:
                if leader not in self._cluster.peers():
                    raise StoreUnavailable(
                        "the leader stopped during the rebuild", SEE_GET
                    ) from None

    def on_message(self, sender: str, message: RebuildMessage) -> None:
        """Handle a message of another process."""
        if not isinstance(message, RebuildAnswer):
            self._questions.put_nowait((sender, message))
        elif message.number in self._answers:
            self._answers[message.number].put_nowait(message)

    async def serve(self, rebuild: Rebuilding, status: Reading) -> None:
        """Answer the questions of other processes, until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                sender, question = await self._questions.get()
                if isinstance(question, RebuildQuestion):
                    group.create_task(self._reply(sender, question, rebuild))
                else:
                    group.create_task(self._reply_status(sender, question.number, status))

    async def _reply(self, sender: str, question: RebuildQuestion, rebuild: Rebuilding) -> None:
        await self._tell(sender, RebuildAnswer(question.number))
        await self._tell(sender, await self._result(question, rebuild))

    async def _reply_status(self, sender: str, number: int, status: Reading) -> None:
        answer = RebuildAnswer(number, failed="the leader has no status of rebuilds yet")
        if self._cluster.is_leader:
            with suppress(NotReady, HistoryOff):
                answer = RebuildAnswer(number, status=msgspec.to_builtins(status()))
        await self._tell(sender, answer)

    async def _result(self, question: RebuildQuestion, rebuild: Rebuilding) -> RebuildAnswer:
        number = question.number
        if not self._cluster.is_leader:
            return RebuildAnswer(number, failed="the process that was asked no longer leads")
        try:
            text = None if question.text is None else TextAnalysis.parse(question.text)
            report = await rebuild(question.learner, text)
        except (RebuildRefused, OptionError) as error:
            return RebuildAnswer(number, refused=str(error))
        except Exception as error:  # logged by the rebuild; the other process must not wait
            known = isinstance(error, StoreError | MemoryShort)
            return RebuildAnswer(number, failed=with_hint(error) if known else "the rebuild failed")
        return RebuildAnswer(number, rebuilt=msgspec.to_builtins(report))

    async def _tell(self, process: str, answer: RebuildAnswer) -> None:
        try:
            await self._send(process, answer)
        except StoreError as error:
            log.error("cannot answer process %s about a rebuild: %s", process, with_hint(error))

    async def _send(self, process: str, message: RebuildMessage) -> None:
        shared = self._cluster.shared
        assert shared is not None, "one process alone leads"
        await asyncio.to_thread(shared.post, [(process, sealed(message))])


async def _first(answers: "asyncio.Queue[RebuildAnswer]") -> RebuildAnswer:
    """Return the first answer, which comes soon."""
    try:
        return await asyncio.wait_for(answers.get(), ANSWER_SECONDS)
    except TimeoutError:
        raise StoreUnavailable("the leader did not answer", "try again") from None

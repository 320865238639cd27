"""Has the leader rebuild the state when another process is asked to."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from itertools import count

import msgspec

from manyclass.service.cluster import Cluster
from manyclass.service.errors import MemoryShort, RebuildRefused, with_hint
from manyclass.service.history.rebuild import Rebuilt
from manyclass.service.ingest.peer_messages import RebuildAnswer, RebuildQuestion, sealed
from manyclass.service.store.errors import StoreError, StoreUnavailable

log = logging.getLogger(__name__)

BEGUN_SECONDS = 10.0  # until the leader says that it has begun
Rebuilding = Callable[[], Awaitable[Rebuilt]]  # rebuilds in this process
SEE_GET = "GET /rebuild says when the last one ended"


class PeerRebuild:
    """Asks the leader for a rebuild, and answers as the leader.

        another process ── question ──► leader ── begun ──► ── done or refused ──►

    A leader that goes away answers no more: the caller then gets an error, and the next leader
    settles what was begun. Belongs to the event loop's thread. `serve` runs as long as the service.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._numbers = count(1)
        self._asked: dict[int, asyncio.Queue[RebuildAnswer]] = {}
        self._questions: asyncio.Queue[tuple[str, int]] = asyncio.Queue()  # sender, number

    async def run(self, rebuild: Rebuilding) -> Rebuilt:
        """Return the result of a rebuild: of `rebuild` here, or of the leader.

        Raise RebuildRefused, MemoryShort, StoreError.
        """
        if self._cluster.is_leader:
            return await rebuild()
        heartbeat = await self._cluster.poll()
        processes = [] if heartbeat is None else heartbeat.processes
        leader = next((each.name for each in processes if each.is_leader), None)
        if leader is None:
            raise StoreUnavailable("no process leads now", "try again in some seconds")
        number = next(self._numbers)
        self._asked[number] = asyncio.Queue()
        try:
            await self._send(leader, RebuildQuestion(number))
            return await self._answer(leader, self._asked[number])
        finally:
            del self._asked[number]

    async def _answer(self, leader: str, answers: asyncio.Queue[RebuildAnswer]) -> Rebuilt:
        timeout: float | None = BEGUN_SECONDS
        while True:
            try:
                answer = await asyncio.wait_for(answers.get(), timeout or 1.0)
            except TimeoutError:
                if timeout is not None:
                    raise StoreUnavailable("the leader did not answer", "try again") from None
                if leader not in self._cluster.peers():
                    raise StoreUnavailable(
                        "the leader went away amid the rebuild", SEE_GET
                    ) from None
                continue
            if answer.rebuilt is not None:
                return msgspec.convert(answer.rebuilt, Rebuilt)
            if answer.refused:
                raise RebuildRefused(answer.refused)
            if answer.failed:
                raise StoreUnavailable(answer.failed, "the log of the leader says more")
            timeout = None  # it has begun

    def on_message(self, sender: str, message: RebuildQuestion | RebuildAnswer) -> None:
        """Handle a message of another process."""
        if isinstance(message, RebuildAnswer):
            if message.number in self._asked:
                self._asked[message.number].put_nowait(message)
            return
        self._questions.put_nowait((sender, message.number))

    async def serve(self, rebuild: Rebuilding) -> None:
        """Answer the questions of other processes, until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                sender, number = await self._questions.get()
                group.create_task(self._reply(sender, number, rebuild))

    async def _reply(self, sender: str, number: int, rebuild: Rebuilding) -> None:
        try:
            await self._send(sender, RebuildAnswer(number))
            await self._send(sender, await self._result(number, rebuild))
        except StoreError as error:
            log.error("process %s is not told of the rebuild: %s", sender, with_hint(error))

    async def _result(self, number: int, rebuild: Rebuilding) -> RebuildAnswer:
        if not self._cluster.is_leader:
            return RebuildAnswer(number, failed="the process that was asked leads no more")
        try:
            rebuilt = await rebuild()
        except RebuildRefused as error:
            return RebuildAnswer(number, refused=str(error))
        except Exception as error:  # logged by the rebuild; the other process must not wait
            known = isinstance(error, StoreError | MemoryShort)
            return RebuildAnswer(number, failed=with_hint(error) if known else "the rebuild failed")
        return RebuildAnswer(number, rebuilt=msgspec.to_builtins(rebuilt))

    async def _send(self, process: str, message: RebuildQuestion | RebuildAnswer) -> None:
        shared = self._cluster.shared
        assert shared is not None, "one process alone leads"
        await asyncio.to_thread(shared.post, [(process, sealed(message))])

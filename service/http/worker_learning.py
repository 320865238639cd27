"""Learning for workers: their plain events go through the log, their connections get the answers.

worker ──► queue ──► take ──► group commit ──► answers ──► worker
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from time import perf_counter

from uvicorn.server import ServerState

from manyclass.core.event import Event
from manyclass.service.engine import Engine
from manyclass.service.http.plain_learning import PlainLearning
from manyclass.service.http.workers import TakenEvents, Workers
from manyclass.service.log.request import Result

STOP_SECONDS = 10.0  # longer than a store may take to answer


class WorkerLearning:
    """Learns the events of workers, those without ids of a turn of the event loop together.

    Belongs to the event loop.
    """

    def __init__(
        self, workers: Workers, engine: Engine, learning: PlainLearning, server_state: ServerState
    ) -> None:
        self._workers = workers
        self._engine = engine
        self._learning = learning
        self._server_state = server_state
        self._under_way = set[asyncio.Future[list[Result]]]()

    def start(self) -> None:
        """Take events from now on."""
        self._workers.set_learning(True)
        asyncio.get_running_loop().add_reader(self._workers.learn_fileno(), self._take)

    async def stop(self) -> None:
        """Let the workers queue no more events, and send all answers."""
        self._workers.set_learning(False)
        asyncio.get_running_loop().remove_reader(self._workers.learn_fileno())
        self._take()
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=STOP_SECONDS)
            await asyncio.sleep(0)  # the callbacks of the last one run

    def _take(self) -> None:
        began = perf_counter()
        taken = self._workers.taken_events()
        first = 0
        for has_id, group in groupby(taken.events, lambda event: event.event_id is not None):
            events = list(group)
            # A conflict of an id refuses its whole submission; without room there may be some.
            if has_id or not self._engine.has_room(events):
                for place, event in enumerate(events, first):
                    self._learn(taken, place, [event], began)
            else:
                self._learn(taken, first, events, began)
            first += len(events)

    def _learn(self, taken: TakenEvents, first: int, events: Sequence[Event], began: float) -> None:
        """Learn some of the events taken, which begin with number `first`."""
        answer = partial(self._answer, taken, first, len(events), began)
        try:
            results = self._engine.admit(events)
        except Exception as error:
            self._refuse(taken, first, len(events), began, error)
            return
        self._under_way.add(results)
        results.add_done_callback(answer)

    def _answer(
        self,
        taken: TakenEvents,
        first: int,
        count: int,
        began: float,
        results: "asyncio.Future[list[Result]]",
    ) -> None:
        self._under_way.discard(results)
        error = results.exception()
        if error is None:
            self._learning.count(results.result(), "worker")
            taken.answer(first, results.result())
        else:
            self._refuse(taken, first, count, began, error)

    def _refuse(
        self, taken: TakenEvents, first: int, count: int, began: float, error: BaseException
    ) -> None:
        headers = self._server_state.default_headers
        refused = error if isinstance(error, Exception) else RuntimeError(repr(error))
        taken.refuse(first, [self._learning.refusal(refused, began, headers) for _ in range(count)])

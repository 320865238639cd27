"""Learning for workers: their plain events go through the log, their connections get the answers.

worker ──► queue ──► take ──► group commit ──► answers ──► worker
"""

import asyncio
from functools import partial
from time import perf_counter

from uvicorn.server import ServerState

from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.service.engine import Engine
from manyclass.service.http.plain_learning import PlainLearning
from manyclass.service.http.workers import TakenEvents, Workers
from manyclass.service.log.request import Result

STOP_SECONDS = 10.0  # longer than a store may take to answer


class WorkerLearning:
    """Learns the events of workers: those of a turn of the event loop together, but for those with
    an id or a weight.

    Belongs to the event loop.
    """

    def __init__(
        self, workers: Workers, engine: Engine, learning: PlainLearning, server_state: ServerState
    ) -> None:
        self._workers = workers
        self._engine = engine
        self._learning = learning
        self._server_state = server_state
        self._under_way = set[asyncio.Future[list[Result]] | asyncio.Future[EventBatch]]()

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
        try:
            if self._learning.lacks_memory:
                raise MemoryError
            parts = taken.parts()
        except MemoryError as error:
            self._refuse(taken, 0, len(taken), began, error)
            return
        first = 0
        for part in parts:
            if isinstance(part, Event):  # it may be refused, and nothing with it
                self._learn(taken, first, part, began)
                first += 1
            elif self._engine.has_room(part):
                self._learn_batch(taken, first, part, began)
                first += len(part)
            else:  # there may be some for a few
                for place, event in enumerate(part.events(), first):
                    self._learn(taken, place, event, began)
                first += len(part)

    def _learn_batch(self, taken: TakenEvents, first: int, batch: EventBatch, began: float) -> None:
        """Learn a batch of the events taken, which begins with number `first`."""
        try:
            learned = self._engine.admit_batch(batch)
        except Exception as error:
            self._refuse(taken, first, len(batch), began, error)
            return
        self._under_way.add(learned)
        learned.add_done_callback(partial(self._answer_batch, taken, first, batch, began))

    def _answer_batch(
        self,
        taken: TakenEvents,
        first: int,
        batch: EventBatch,
        began: float,
        learned: "asyncio.Future[EventBatch]",
    ) -> None:
        self._under_way.discard(learned)
        error = learned.exception()
        if error is None:
            self._learning.count(len(batch), 0, "worker")
            taken.answer_batch(first, batch)
        else:
            self._refuse(taken, first, len(batch), began, error)

    def _learn(self, taken: TakenEvents, place: int, event: Event, began: float) -> None:
        """Learn one of the events taken, number `place`, by itself."""
        try:
            results = self._engine.admit([event])
        except Exception as error:
            self._refuse(taken, place, 1, began, error)
            return
        self._under_way.add(results)
        results.add_done_callback(partial(self._answer, taken, place, began))

    def _answer(
        self, taken: TakenEvents, place: int, began: float, results: "asyncio.Future[list[Result]]"
    ) -> None:
        self._under_way.discard(results)
        error = results.exception()
        if error is None:
            [result] = results.result()
            self._learning.count(1, result.duplicate, "worker")
            taken.answer(place, [result])
        else:
            self._refuse(taken, place, 1, began, error)

    def _refuse(
        self, taken: TakenEvents, first: int, count: int, began: float, error: BaseException
    ) -> None:
        headers = self._server_state.default_headers
        refused = error if isinstance(error, Exception) else RuntimeError(repr(error))
        taken.refuse(first, [self._learning.refusal(refused, began, headers) for _ in range(count)])

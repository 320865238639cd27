"""The reader of a growing shared log, which passes events to the event loop."""

import asyncio
import logging
import threading
from collections.abc import Callable
from functools import partial

from manyclass.service.log.hooks import OnMessage
from manyclass.service.store.protocol import Batch, SharedStore

log = logging.getLogger(__name__)

# The limit of events that are read but not yet applied; beyond it the thread waits, so a process
# that lags behind reads the log at its speed of learning.
MOST_AHEAD_BYTES = 16 * 2**20
BATCH_BYTES = 400  # memory of a batch without its events
EVENT_BYTES = 80  # memory of an event besides its own bytes

Deliver = Callable[[Batch, Callable[[], None]], None]  # a batch, and a call when it is applied


class LogTailer:
    """A thread that reads the log after an event, until `stop`.

        store.follow ──► thread ──► event loop ──► deliver, on_message
                           ▲                           │
                           └── waits for room ◄── applied

    `deliver` and `on_message` are called in the order of the log, on the event loop in which the
    tailer was made. `ended` receives the error that ended it.
    """

    def __init__(
        self, store: SharedStore, after: int, deliver: Deliver, on_message: OnMessage
    ) -> None:
        self._store = store
        self._deliver = deliver
        self._on_message = on_message
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[Exception] = self._loop.create_future()
        self._stopped = threading.Event()
        self._room = threading.Condition()
        self._ahead = 0  # bytes delivered but not yet applied
        self._thread = threading.Thread(target=self._run, args=(after,), name="follow")
        self._thread.start()

    async def stop(self) -> None:
        """Stop delivering, and wait until the thread has ended."""
        self._stopped.set()
        with self._room:
            self._room.notify()
        await asyncio.to_thread(self._thread.join)

    def _applied(self, size: int) -> None:
        """Make room for further batches."""
        with self._room:
            self._ahead -= size
            self._room.notify()

    def _run(self, after: int) -> None:
        try:
            for found in self._store.follow(after):
                if self._stopped.is_set():
                    return
                if isinstance(found, Batch):
                    self._hand_over(found)
                elif found is not None:
                    self._call(partial(self._on_message, found))
        except Exception as error:  # the loop must know that the tailer has ended
            if not self._stopped.is_set():
                self._call(partial(self.ended.set_result, error))

    def _hand_over(self, batch: Batch) -> None:
        size = _size(batch)
        with self._room:
            while self._ahead > MOST_AHEAD_BYTES and not self._stopped.is_set():
                self._room.wait()
            self._ahead += size
        self._call(partial(self._deliver, batch, partial(self._applied, size)))

    def _call(self, call: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(self._unless_stopped, call)

    def _unless_stopped(self, call: Callable[[], None]) -> None:
        if not self._stopped.is_set():
            call()


def _size(batch: Batch) -> int:
    """Return the approximate memory of a batch; small events take more than their bytes."""
    return BATCH_BYTES + sum(EVENT_BYTES + len(event) for event in batch.events)

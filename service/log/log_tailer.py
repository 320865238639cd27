"""Brings what is in a shared log to the event loop, as it comes."""

import asyncio
import logging
import threading
from collections.abc import Callable

from manyclass.service.store.protocol import Batch, PeerMessage, SharedStore

log = logging.getLogger(__name__)

# Read from the log and not applied yet, at most; then the thread waits. So a process that is
# behind reads the log at the pace it can learn.
MOST_AHEAD_BYTES = 16 * 2**20
BATCH_BYTES = 400  # of memory, beside its events
EVENT_BYTES = 80  # beside its own bytes


class LogTailer:
    """A thread that follows the log from one event on, until it is told to stop.

    What it reads is handed over, in order, on the event loop it was made in: `on_batch`,
    `on_letter`, and at last `on_end` when the log cannot be followed any more, with the reason.
    """

    def __init__(
        self,
        store: SharedStore,
        after: int,
        on_batch: Callable[[Batch], None],
        on_letter: Callable[[PeerMessage], None],
        on_end: Callable[[Exception], None],
    ) -> None:
        self._store = store
        self._on_batch = on_batch
        self._on_letter = on_letter
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._stopped = threading.Event()
        self._room = threading.Condition()
        self._ahead = 0  # bytes handed over and not applied
        self._thread = threading.Thread(target=self._run, args=(after,), name="follow")
        self._thread.start()

    def applied(self, batch: Batch) -> None:
        """Make room for more: this one is worked off. From any thread."""
        with self._room:
            self._ahead -= _size(batch)
            self._room.notify()

    async def stop(self) -> None:
        """Return when the thread has ended; nothing is handed over any more."""
        self._stopped.set()
        with self._room:
            self._room.notify()
        await asyncio.to_thread(self._thread.join)

    def _run(self, after: int) -> None:
        try:
            for found in self._store.follow(after):
                if self._stopped.is_set():
                    return
                if isinstance(found, Batch):
                    self._hand_over(found)
                elif found is not None:
                    self._loop.call_soon_threadsafe(self._unless_stopped, self._on_letter, found)
        except Exception as error:  # whatever it is, the loop has to know that nothing more comes
            if not self._stopped.is_set():
                self._loop.call_soon_threadsafe(self._unless_stopped, self._on_end, error)

    def _hand_over(self, batch: Batch) -> None:
        with self._room:
            while self._ahead > MOST_AHEAD_BYTES and not self._stopped.is_set():
                self._room.wait()
            self._ahead += _size(batch)
        self._loop.call_soon_threadsafe(self._unless_stopped, self._on_batch, batch)

    def _unless_stopped(self, tell: Callable[..., None], what: object) -> None:
        if not self._stopped.is_set():
            tell(what)


def _size(batch: Batch) -> int:
    """What it takes in memory, about: that of small events is mostly not their bytes."""
    return BATCH_BYTES + sum(EVENT_BYTES + len(event) for event in batch.events)

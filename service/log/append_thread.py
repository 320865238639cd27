"""The thread that appends: a store's `append` waits for the disk or the network."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread


class AppendThread:
    """Runs calls one after another in a thread of its own.

    Threads: any may call `run`; one calls `close`, once.
    """

    def __init__(self) -> None:
        self._calls = SimpleQueue[Callable[[], None] | None]()
        self._thread = Thread(target=self._run, name="append", daemon=True)
        self._thread.start()

    def run(self, call: Callable[[], None]) -> None:
        """Have a call made, which raises nothing, after all earlier ones."""
        self._calls.put(call)

    def close(self) -> None:
        """Return when all calls are made and the thread has ended."""
        self._calls.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            call()

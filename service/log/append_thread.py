"""The thread that appends to the log, because `append` waits for the disk or the network."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread


class AppendThread:
    """A thread that runs calls one after another.

    Threads: any may call `run`; one calls `close`, once.
    """

    def __init__(self) -> None:
        self._calls = SimpleQueue[Callable[[], None] | None]()
        self._thread = Thread(target=self._run, name="append", daemon=True)
        self._thread.start()

    def run(self, call: Callable[[], None]) -> None:
        """Queue a call, which must not raise, behind all earlier ones."""
        self._calls.put(call)

    def close(self) -> None:
        """Return when all calls are made and the thread has ended."""
        self._calls.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            call()

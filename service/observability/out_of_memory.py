"""The record of failed allocations, and the check whether there is memory again."""

import logging
import time
from collections.abc import Callable
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap

log = logging.getLogger(__name__)

NOT_READY_SECONDS = 30.0  # after memory ran out, so that a proxy sends traffic elsewhere
LOG_SECONDS = 10.0  # between two log messages
ROOM_BYTES = 32 * 2**20  # more than a request of a FastAPI route and the stack of a thread take


class OutOfMemory:
    """A count of the requests that failed because memory ran out, and a check for free memory.

    Rust's allocator, used by FastAPI's routes, ends the process when an allocation fails. So these
    routes need free memory before they begin; after a failure, all calls do until memory is free.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        has_room: Callable[[], bool] | None = None,
    ) -> None:
        self.count = 0
        self._clock = clock
        self._has_room = has_room or _has_room
        self._is_short = False
        self._last = float("-inf")
        self._logged = float("-inf")

    def note(self, error: BaseException) -> None:
        """Count the error if it means that memory ran out."""
        if isinstance(error, MemoryError):
            self.count += 1
            self.run_short()

    def require_room(self) -> None:
        """Raise MemoryError unless there is room for a request of any kind."""
        if self._has_room():
            self._is_short = False
        else:
            self.run_short()
            raise MemoryError

    @property
    def is_short(self) -> bool:
        """True if memory ran out and there is no room yet."""
        if self._is_short:
            self._is_short = not self._has_room()
        return self._is_short

    @property
    def is_recent(self) -> bool:
        """True if memory ran out within the last NOT_READY_SECONDS."""
        return self._clock() - self._last < NOT_READY_SECONDS

    def run_short(self) -> None:
        """Note that memory is short."""
        self._is_short = True
        self._last = self._clock()
        if self._last - self._logged >= LOG_SECONDS:
            self._logged = self._last
            log.error("memory ran out; %d requests have failed because of it", self.count)


def _has_room() -> bool:
    """Return whether the system can give as much memory as a request may need."""
    try:
        mmap(-1, ROOM_BYTES, MAP_PRIVATE | MAP_ANONYMOUS).close()
    except (OSError, MemoryError):
        return False
    return True

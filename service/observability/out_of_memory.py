"""The count and the time of failed allocations."""

import logging
import time
from collections.abc import Callable

log = logging.getLogger(__name__)

NOT_READY_SECONDS = 30.0  # after memory ran out: traffic goes elsewhere
LOG_SECONDS = 10.0  # between two lines


class OutOfMemory:
    """Counts the requests that failed because memory ran out, and remembers when that last was."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.count = 0
        self._clock = clock
        self._last = float("-inf")
        self._logged = float("-inf")

    def note(self, error: BaseException) -> None:
        """Count the error if it says that memory ran out."""
        if not isinstance(error, MemoryError):
            return
        self.count += 1
        self._last = self._clock()
        if self._last - self._logged >= LOG_SECONDS:
            self._logged = self._last
            log.error("memory ran out; %d requests have failed of it", self.count)

    @property
    def is_recent(self) -> bool:
        """True when memory ran out a moment ago."""
        return self._clock() - self._last < NOT_READY_SECONDS

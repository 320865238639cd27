"""The log of client faults: few and short lines."""

import logging
import time
from collections.abc import Callable

log = logging.getLogger(__name__)

INTERVAL_SECONDS = 1.0  # between two lines
LONGEST_LINE = 120  # characters; with time and logger, a line has at most 200 bytes


class FaultLog:
    """A log of client faults, at most one line per interval, which counts the omitted faults."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next_line = float("-inf")
        self._left_out = 0

    def add(self, text: str) -> None:
        """Log a fault, or count it for the next line."""
        now = self._clock()
        if now < self._next_line:
            self._left_out += 1
            return
        self._next_line = now + INTERVAL_SECONDS
        more = f"; {self._left_out} more before" if self._left_out else ""
        self._left_out = 0
        printable = text.encode("ascii", "backslashreplace").decode()
        log.warning("%s%s", printable[: LONGEST_LINE - len(more)], more)

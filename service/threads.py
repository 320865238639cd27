"""Threads of low priority, for work that must not delay rankings."""

import logging
import os
import sys
import threading
import time

log = logging.getLogger(__name__)

# At this priority the work does not change the 99th percentile of ranking. The lowest priority, 19,
# brings nothing more, but the work takes ten times as long on a busy machine.
LOW_PRIORITY = 10

# A thread that wants the interpreter takes it from one that computes after 5 ms, and has to do so
# anew after each read of the store: an answer of twenty reads would wait for 100 ms.
WORK_SECONDS = 0.001  # of computing before a pause
PAUSE_SECONDS = 0.00005


def lower_priority() -> None:
    """Lower the priority of the current thread, so that other threads run first."""
    if sys.platform != "linux":  # elsewhere a priority belongs to the whole process
        return
    thread = threading.get_native_id()
    try:
        # Only ever lower it: a process started at a lower priority may not raise it.
        if os.getpriority(os.PRIO_PROCESS, thread) < LOW_PRIORITY:
            os.setpriority(os.PRIO_PROCESS, thread, LOW_PRIORITY)
    except OSError as error:  # an error here would break the thread pool
        log.warning("cannot lower the priority of a background thread: %s", error)


class Pause:
    """The pauses of a thread that computes for seconds, in which others take the interpreter."""

    def __init__(self) -> None:
        self._due = time.perf_counter() + WORK_SECONDS

    def take(self) -> None:
        """Pause for a moment, if the last pause is a while ago."""
        if time.perf_counter() >= self._due:
            time.sleep(PAUSE_SECONDS)
            self._due = time.perf_counter() + WORK_SECONDS

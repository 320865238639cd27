"""Threads of low priority, for work that must not delay rankings."""

import logging
import os
import sys
import threading

log = logging.getLogger(__name__)

# At this priority the work does not change the 99th percentile of ranking. The lowest priority, 19,
# brings nothing more, but the work takes ten times as long on a busy machine.
LOW_PRIORITY = 10


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

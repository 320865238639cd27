"""Threads of low priority, for work that must not delay rankings."""

import logging
import os
import sys
import threading

log = logging.getLogger(__name__)

# Leaves the 99th percentile of ranking as it is without the work. The lowest priority, 19, does no
# better, but takes ten times as long on a busy machine.
LOW_PRIORITY = 10


def lower_priority() -> None:
    """Lower the priority of the current thread, so that others have the processor first."""
    if sys.platform != "linux":  # elsewhere a priority belongs to the whole process
        return
    thread = threading.get_native_id()
    try:
        # Only ever lower: a process may have been started lower still, and may not go back up.
        if os.getpriority(os.PRIO_PROCESS, thread) < LOW_PRIORITY:
            os.setpriority(os.PRIO_PROCESS, thread, LOW_PRIORITY)
    except OSError as error:  # an error here would break the thread pool
        log.warning("this thread runs at the priority of the service: %s", error)

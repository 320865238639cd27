"""The processor cores that this process may use."""

import os
from contextlib import suppress
from pathlib import Path

_QUOTA_V2 = Path("/sys/fs/cgroup/cpu.max")  # "QUOTA PERIOD", or "max PERIOD"
_QUOTA_V1 = Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")  # -1: none
_PERIOD_V1 = Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us")


def usable_cores(
    quota_v2: Path = _QUOTA_V2, quota_v1: Path = _QUOTA_V1, period_v1: Path = _PERIOD_V1
) -> int:
    """Return the number of cores allowed by affinity and by the control group, at least 1."""
    cores = len(os.sched_getaffinity(0))
    quota = _quota_of(quota_v2)
    if quota is None:
        quota = _quota_of(quota_v1, period_v1)
    return cores if quota is None else max(1, min(cores, int(quota)))


def default_workers() -> int:
    """Return the number of cores less one, which the event loop uses, at least 1."""
    return max(1, usable_cores() - 1)


def _quota_of(*files: Path) -> float | None:
    with suppress(OSError, ValueError):
        quota, period = " ".join(file.read_text() for file in files).split()
        if float(quota) > 0 and float(period) > 0:
            return float(quota) / float(period)
    return None

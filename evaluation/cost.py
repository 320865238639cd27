"""Measures CPU seconds."""

from collections.abc import Callable
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import TypeVar

Result = TypeVar("Result")

SHORTEST = 0.2  # CPU seconds; shorter measurements are mostly noise


def cpu_seconds() -> float:
    """Return the CPU seconds of all threads of this process and its awaited child processes."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN))
    )


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of the work and its CPU seconds."""
    begin = cpu_seconds()
    result = work()
    return result, cpu_seconds() - begin


def mean_seconds_of(work: Callable[[], object]) -> float:
    """Return the mean CPU seconds of the work, repeated for at least SHORTEST seconds."""
    begin, times = cpu_seconds(), 0
    while True:
        work()
        times += 1
        spent = cpu_seconds() - begin
        if spent >= SHORTEST:
            return spent / times

"""What work costs, in CPU seconds."""

from collections.abc import Callable
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import TypeVar

Result = TypeVar("Result")

SHORTEST = 0.2  # seconds of work below which a rate would mostly be noise


def cpu_seconds() -> float:
    """CPU seconds of this process so far: all its threads, and the children it has waited for."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN))
    )


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What the work returns, and the CPU seconds it takes."""
    begin = cpu_seconds()
    result = work()
    return result, cpu_seconds() - begin


def timed_on_average(work: Callable[[], Result]) -> tuple[Result, float]:
    """What the work returns, and the CPU seconds it takes: the mean of as many times as make up
    the SHORTEST."""
    begin, times = cpu_seconds(), 0
    while True:
        result = work()
        times += 1
        spent = cpu_seconds() - begin
        if spent >= SHORTEST:
            return result, spent / times


def mean_seconds_of(work: Callable[[], object]) -> float:
    """The same seconds, where the result is of no use."""
    return timed_on_average(work)[1]

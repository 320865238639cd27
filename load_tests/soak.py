"""Teaches each learner millions of new features and classes, in a process of its own.

python load_tests/soak.py [LEARNER ...] [--events 5000000] [--megabytes 64]

Prints for each tenth of the events the memory of the process and the CPU time of learning and of
ranking. Beside them stands the median time of a yardstick, NumPy reading 1,000 numbers all over
32 MiB: it shows what other programs took of the caches meanwhile. A learner holds when its memory
stays within what the process had before plus twice its limit, and when learning and ranking at the
99th percentile, by the yardstick, take at most 1.2 times in the last tenth what they took in the
second. Ends with status 1 when one does not hold.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time_ns
from typing import NamedTuple

import numpy as np

from manyclass.core.dedup_window import REMEMBERED
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model

# Taught all events; the others a tenth. `ind` keeps every edge: its rows grow until the limit is
# met, which is in the third tenth of a short run.
LONG = ["svm", "ff", "oplt", "ind"]
SHORT = ["ema", "ooz", "pa", "mmp", "arow", "frequency", "iplt"]
COMMITTEE = "committee(members=ff+pa(shuffle=100)+arow)"
TENTHS = 10
RANKED_EACH = 4  # events between two rankings that are timed
MEASURED_EACH = 64  # events between two uses of the yardstick
MOST_GROWTH, MOST_SLOWDOWN = 2.0, 1.2


class Tenth(NamedTuple):
    """The figures of one tenth of the events: resident MiB, and microseconds at p50 and p99."""

    resident: float
    learn: tuple[float, float]
    rank: tuple[float, float]
    yardstick: tuple[float, float]


def events(count: int) -> Iterator[Event]:
    """Instances of some features met before and some that are new, as are half of the classes."""
    random, block = np.random.default_rng(0), 10_000
    for begin in range(0, count, block):
        common = random.zipf(1.3, (block, 6)) % 5000
        past = random.random((block, 3))
        for row in range(min(block, count - begin)):
            number = begin + row
            features = {f"common {feature}": 1.0 for feature in common[row].tolist()}
            features |= {f"new {number} {part}": 1.0 for part in range(6)}
            recent = number - int(past[row, 0] * min(number, 50_000))
            features |= {f"new {recent} 0": 1.0, f"new {recent} 1": 1.0}
            cls = number if past[row, 1] < 0.5 else recent
            event_id = f"event {number}" if past[row, 2] < 0.5 else None
            yield Event.learn(Instance(features), [f"class {cls}"], event_id, number)


def resident() -> float:
    """Return the resident MiB of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


class Times:
    """The CPU times of one tenth, in memory that is taken before anything is measured."""

    def __init__(self, most: int) -> None:
        """Make room for `most` times."""
        self._nanoseconds = np.zeros(most, np.int64)
        self._nanoseconds.fill(1)  # zeros alone take no memory
        self._count = 0

    def add(self, nanoseconds: int) -> None:
        """Take one time in."""
        self._nanoseconds[self._count] = nanoseconds
        self._count += 1

    def percentiles(self) -> tuple[float, float]:
        """Return p50 and p99 in microseconds, and begin the next tenth."""
        times = self._nanoseconds[: self._count]
        times.sort()
        self._count = 0
        p50, p99 = (float(times[int(len(times) * share)]) / 1000 for share in (0.5, 0.99))
        return p50, p99


class Yardstick:
    """A fixed piece of work that waits for memory, as an index does."""

    def __init__(self) -> None:
        """Take the memory."""
        random = np.random.default_rng(0)
        self._numbers = np.ones(2**22, np.int64)
        self._places = random.integers(0, len(self._numbers), (64, 1000))
        self._turn = 0

    def use(self) -> int:
        """Return the nanoseconds of CPU that the work takes now."""
        self._turn = (self._turn + 1) % len(self._places)
        began = process_time_ns()
        self._numbers[self._places[self._turn]].sum()
        return process_time_ns() - began


def soak(specification: str, count: int, limit: int) -> bool:
    """Teach one learner in this process; whether it holds."""
    model = Model(Options.parse(specification, max_bytes=limit))
    tenths: list[Tenth] = []
    learn, rank, yard = (Times(-(-count // TENTHS)) for _ in range(3))
    yardstick = Yardstick()
    for event in events(1000):  # the memory of the process with a small index
        model.apply(model.seq + 1, event)
    model = Model(Options.parse(specification, max_bytes=limit))
    for number in range(REMEMBERED):  # a full window of event ids, which has a size of its own
        model.recent.add(f"before {number}", number, 0)
    base = resident()
    print(f"{specification}: {count} events, limit {limit / 2**20:.0f} MiB, base {base:.0f} MiB")
    print(
        "tenth     RSS MiB   learn p50     p99 us    rank p50     p99 us   yardstick"
        "    counted MiB  evicted"
    )
    for number, event in enumerate(events(count), 1):
        if number % MEASURED_EACH == 0:
            yard.add(yardstick.use())
        if number % RANKED_EACH == 0:
            began = process_time_ns()
            model.rank(event.instance, 5)
            rank.add(process_time_ns() - began)
        began = process_time_ns()
        model.apply(number, event)
        learn.add(process_time_ns() - began)
        if number * TENTHS // count > (number - 1) * TENTHS // count:
            tenths.append(
                Tenth(resident(), learn.percentiles(), rank.percentiles(), yard.percentiles())
            )
            print_tenth(len(tenths), tenths[-1], model)
    return verdict(tenths, base, limit / 2**20)


def print_tenth(number: int, tenth: Tenth, model: Model) -> None:
    """Print the line of a tenth."""
    learner = model.learner
    shown = (*tenth.learn, *tenth.rank, tenth.yardstick[0])
    times = "".join(f"{time:12.1f}" for time in shown)
    evicted = learner.evicted_features + learner.evicted_classes
    counted = learner.bytes / 2**20
    print(f"{number:5}{tenth.resident:12.1f}{times}{counted:13.1f}{evicted:10}", flush=True)


def verdict(tenths: list[Tenth], base: float, limit: float) -> bool:
    """Print what held and what did not; whether all of it did."""
    most = max(tenth.resident for tenth in tenths)
    allowed = base + MOST_GROWTH * limit
    second, last = tenths[1], tenths[-1]
    busier = last.yardstick[0] / second.yardstick[0]
    slower = {
        "learning": last.learn[1] / second.learn[1] / busier,
        "ranking": last.rank[1] / second.rank[1] / busier,
    }
    held = [(most <= allowed, f"RSS {most:.0f} MiB, at most {allowed:.0f} allowed")]
    for what, ratio in slower.items():
        held.append(
            (
                ratio <= MOST_SLOWDOWN,
                f"p99 of {what} {ratio:.2f} times the second tenth, by the yardstick",
            )
        )
    for holds, what in held:
        print(f"  {'held' if holds else 'BROKEN'}: {what}")
    return all(holds for holds, _ in held)


def main() -> None:
    """Run a process for each learner, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("learners", nargs="*", help="specifications; by default every learner")
    parser.add_argument("--events", type=int, default=5_000_000, help="of svm, ff, oplt and ind")
    parser.add_argument("--megabytes", type=int, default=64, help="the limit of each learner")
    parser.add_argument("--here", action="store_true", help="one learner, in this process")
    chosen = parser.parse_args()
    if chosen.here:
        (specification,) = chosen.learners
        sys.exit(not soak(specification, chosen.events, chosen.megabytes * 2**20))
    broken = []
    for specification in chosen.learners or [*LONG, *SHORT, COMMITTEE]:
        count = chosen.events if chosen.learners or specification in LONG else chosen.events // 10
        own = ["--here", f"--events={count}", f"--megabytes={chosen.megabytes}", specification]
        if subprocess.run([sys.executable, __file__, *own], check=False).returncode:
            broken.append(specification)
    print(f"broken: {', '.join(broken)}" if broken else "all held")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()

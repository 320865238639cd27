"""The longest event at the limits, and the delay of other threads by listings.

A learner at its limit learns events of ever-new features (or classes): the CPU time of the longest
event, the 99.9th percentile and the median are shown. Then one thread learns, one lists all names,
and a third, which only reads the clock, records the longest gap between two readings. The
gap without a listing is shown too, because on a busy machine it is also long.

To compare with another build, give the folder it was built in: `--beside ../other`. Both run in
turns in processes of their own, and ratios stand beside the figures.
"""

import gc
import threading
from argparse import SUPPRESS, ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path
from time import perf_counter, thread_time

from benchmarks.beside import WORKER, Worker, answer_tasks
from benchmarks.report import Cell, Figures, Report, add_json_option
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options

FEATURES = [400_000, 10_000_000]
EVENTS = 20_000
NEW = 3  # features of an event that were never seen before
LISTING_SECONDS = 5.0
PAGE = 1000


def ring(kind: str, limit: int, events: int) -> Figures:
    """Return CPU milliseconds of events with new names, at the limit."""
    options = {"max_features": limit} if kind == "features" else {"max_classes": limit}
    learner = Learner(Options.of("ff", rating=0, margin_threshold=100.0, **options))
    if kind == "features":
        for begin in range(0, limit, 1000):
            learner.learn([f"feature {n}" for n in range(begin, min(begin + 1000, limit))], ["c"])
    else:
        for n in range(limit):
            learner.learn([f"feature {n % 400_000}", f"feature {n * 7 % 400_000}"], [f"class {n}"])
    times = []
    gc.disable()  # a collection is a cost of the interpreter, not of the event
    for event in range(events):
        if kind == "features":
            features = [f"new {event} {n}" for n in range(NEW)]
            classes = [f"c{event % 100}"]
        else:
            features, classes = [f"feature {event * 7 % 400_000}"], [f"new {event}"]
        begin = thread_time()
        learner.learn(features, classes)
        times.append((thread_time() - begin) * 1e3)
    times.sort()
    return {
        "longest, ms": times[-1],
        "p99.9, ms": times[-1 - events // 1000],
        "median, ms": times[events // 2],
    }


def gaps(features: int, seconds: float) -> Figures:
    """Return the longest gap of a third thread, with and without a listing."""
    alone, _ = gap(features, seconds, lists=False)
    longest, listed = gap(features, seconds, lists=True)
    return {
        "longest gap, ms": longest,
        "without a listing, ms": alone,
        "names listed a second": listed / seconds,
    }


def gap(features: int, seconds: float, lists: bool) -> tuple[float, int]:
    """Return the longest gap of a third thread, in ms, and the number of listed names."""
    learner = Learner(Options.of("ff"))
    for begin in range(0, features, 1000):
        learner.learn([f"feature {n}" for n in range(begin, begin + 1000)], ["c"])
    end = perf_counter() + seconds
    listed = 0

    def learn() -> None:
        n = 0
        while perf_counter() < end:
            learner.learn([f"feature {n}", f"feature {n + 1}"], [f"c{n % 100}"])
            n += 1
            threading.Event().wait(0.001)

    def list_names() -> None:
        nonlocal listed
        after = ""
        while perf_counter() < end:
            page = learner.feature_page("", after, PAGE)
            listed += len(page)
            after = page[-1][0] if len(page) == PAGE else ""

    threads = [threading.Thread(target=learn)]
    if lists:
        threads.append(threading.Thread(target=list_names))
    for thread in threads:
        thread.start()
    longest, last = 0.0, perf_counter()
    while last < end:
        now = perf_counter()
        longest, last = max(longest, now - last), now
    for thread in threads:
        thread.join()
    return longest * 1e3, listed


def measured(source: Path | None, *task: object) -> Figures:
    """Measure with the package in `source`, in a new process."""
    with closing(Worker("benchmarks.eviction", source=source)) as worker:
        return worker.measure(*task)


def compare(report: Report, kind: str, size: int, much: float, beside: Path | None) -> None:
    """Print the figures of a task, those of the other build, and the ratios."""
    figures = measured(None, kind, size, much)
    others = measured(beside / "src", kind, size, much) if beside else {}
    rows: list[dict[str, Cell]] = [{"": name, "here": here} for name, here in figures.items()]
    for row, there in zip(rows, others.values(), strict=False):
        row |= {"beside": there, "ratio": figures[str(row[""])] / there}
    report.table(f"{kind}, {size:,}", rows)


def parsed() -> Namespace:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--beside", type=Path, help="folder of another build to compare with")
    parser.add_argument("--features", type=int, nargs="*", default=FEATURES)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument(WORKER, action="store_true", help=SUPPRESS)
    add_json_option(parser)
    return parser.parse_args()


def main() -> None:
    given = parsed()
    if given.worker:
        answer_tasks(lambda kind, *task: gaps(*task) if kind == "listing" else ring(kind, *task))
        return
    report = Report(given)
    for features in given.features:
        compare(report, "features", features, given.events, given.beside)
    compare(report, "classes", 100_000, given.events, given.beside)
    compare(report, "listing", 400_000, LISTING_SECONDS, given.beside)
    report.close()


if __name__ == "__main__":
    main()

"""Server costs of a request, beside a bare ASGI application in the same run.

Server on one core, load on another. The bare application reads the same bodies and answers as
many bytes. Rounds alternate between the two, so that a busy machine is busy for both; figures are
medians of the rounds. CPU time of the server process is the steady figure. Ranking and learning are
measured with each learner that is named; snapshots are taken of what the first has learned, and
other libraries that are installed are measured beside it (serving_peers.py).
"""

import json
import os
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from threading import Event, Thread

import numpy as np

from benchmarks import load
from benchmarks.process import ServerProcess, pin, service_on_sqlite
from benchmarks.report import Cell, Figures, Report, add_json_option, over_rounds
from benchmarks.serving_peers import PREBUILT, peer_rows
from deploy.ports import free_port
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.evaluation import readers
from manyclass.evaluation.datasets import WORDS_AND_PAIRS

ACTIVE = 80  # features of an instance: a body of about 1.2 KB
BATCH = 100
RANK_CONNECTIONS, BATCH_CONNECTIONS, LEARN_CONNECTIONS = 30, 4, 32
MILLION = 1_000_000
# CPU time a request, beside a bare application; a batch's is that of an instance.
LIMITS = {
    DEFAULT_LEARNER: {"/rank": 0.9, "batch": 0.3, "/learn": 2.6},
    "ff": {"/rank": 0.8, "batch": 0.3, "/learn": 1.3},
}
SNAPSHOTS = 10
LEARNERS = (DEFAULT_LEARNER, "ff")
UNLIMITED = 1000  # rankings at once: the cost of a request is measured, not shedding


@dataclass(frozen=True)
class Instance:
    """A labelled instance of a JSON body."""

    features: dict[str, float]
    classes: list[str]

    def ranked(self) -> dict[str, object]:
        return {"features": self.features}

    def learned(self) -> dict[str, object]:
        return {"features": self.features, "classes": self.classes}


def instances_of(posts: Iterable[tuple[str, list[str]]]) -> Iterator[Instance]:
    """Return 80 features of each post with enough: half words, half pairs of neighbouring words."""
    for text, classes in posts:
        counts = Counter(WORDS_AND_PAIRS.features_of(text))
        words = [name for name in counts if " " not in name][: ACTIVE // 2]
        pairs = [name for name in counts if " " in name][: ACTIVE // 2]
        if len(words) + len(pairs) == ACTIVE:
            yield Instance({name: counts[name] for name in words + pairs}, classes)


def encoded(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


# --- the two servers ----------------------------------------------------------------------------


def service_of(learner: str, options: Namespace) -> AbstractContextManager[ServerProcess]:
    return service_on_sqlite(
        *({options.server_core}, options.folder),
        learner=learner,
        max_concurrent=UNLIMITED,
        native=options.native,
        workers=options.workers,
    )


def bare(core: int, answer_bytes: int) -> ServerProcess:
    port = free_port()
    return ServerProcess(["benchmarks.bare", str(port), str(answer_bytes)], port, {core}, {})


def teach(server: ServerProcess, events: Sequence[dict[str, object]]) -> None:
    for begin in range(0, len(events), 1000):
        server.request("POST", "/learn", encoded({"events": events[begin : begin + 1000]}))


def teach_edges(server: ServerProcess, events: Sequence[dict[str, object]], wanted: int) -> int:
    """Send thousands of events until the edges are enough; return the number of edges."""
    edges = 0
    for begin in range(0, len(events), 1000):
        if edges >= wanted:
            break
        teach(server, events[begin : begin + 1000])
        edges = json.loads(server.request("GET", "/stats"))["edges"]
    return edges


# --- one kind of request --------------------------------------------------------------------------


def one_round(
    server: ServerProcess,
    requests: Sequence[bytes],
    connections: int,
    seconds: float,
    rate: float | None = None,
) -> Figures:
    """Return the figures of the load of one round on one server; CPU time is the server's."""
    before = server.cpu_seconds()
    measured = load.run(server.port, requests, connections, seconds, rate)
    return {
        "CPU µs/request": (server.cpu_seconds() - before) / measured.count * 1e6,
        "requests": measured.count,
        "requests/s": measured.rate,
        "p50 ms": measured.milliseconds(50),
        "p99 ms": measured.milliseconds(99),
        "failed": measured.failed,
    }


def beside_bare(
    server: ServerProcess,
    requests: Sequence[bytes],
    connections: int,
    options: Namespace,
) -> tuple[Figures, Figures]:
    """Measure the service and a bare application with the same requests, in turns."""
    answer_bytes = load.run(server.port, requests, connections, 0.5).answer_bytes
    ours, theirs = [], []
    with bare(options.server_core, answer_bytes) as other:
        load.run(other.port, requests, connections, 0.5)
        for _ in range(options.rounds):
            theirs.append(one_round(other, requests, connections, options.seconds))
            ours.append(one_round(server, requests, connections, options.seconds))
    return over_rounds(ours), over_rounds(theirs)


def row(name: str, measured: Figures, instances: int, bare_cpu: float | None) -> dict[str, Cell]:
    cpu = measured["CPU µs/request"]
    return {
        "": name,
        "CPU µs/request": cpu,
        "µs/instance": cpu / instances,
        "x bare": None if bare_cpu is None else cpu / bare_cpu,
        **{each: measured[each] for each in ("requests/s", "p50 ms", "p99 ms", "failed")},
    }


def measure_rank(
    server: ServerProcess, instances: Sequence[Instance], options: Namespace
) -> list[dict[str, Cell]]:
    singles = [load.post("/rank", encoded(one.ranked())) for one in instances[:PREBUILT]]
    batches = [
        load.post("/rank", encoded({"instances": [one.ranked() for one in part]}))
        for part in zip(*[iter(instances[:PREBUILT])] * BATCH, strict=False)
    ]
    rows = []
    for name, requests, connections, size in (
        ("/rank", singles, RANK_CONNECTIONS, 1),
        (f"/rank of {BATCH}", batches, BATCH_CONNECTIONS, BATCH),
    ):
        ours, theirs = beside_bare(server, requests, connections, options)
        rows.append(row(f"bare, as {name}", theirs, size, None))
        rows.append(row(name, ours, size, theirs["CPU µs/request"]))
    return rows


def measure_learn(
    server: ServerProcess, instances: Sequence[Instance], options: Namespace
) -> list[dict[str, Cell]]:
    """Measure durable /learn beside a bare application and /rank, all with 32 clients."""
    ranks = [load.post("/rank", encoded(one.ranked())) for one in instances[:PREBUILT]]
    learns = [load.post("/learn", encoded(one.learned())) for one in instances[:PREBUILT]]
    learn, plain = beside_bare(server, learns, LEARN_CONNECTIONS, options)
    rounds = [
        one_round(server, ranks, LEARN_CONNECTIONS, options.seconds) for _ in range(options.rounds)
    ]
    rank = over_rounds(rounds)
    bare_cpu = plain["CPU µs/request"]
    rows = [
        row("bare, as /learn", plain, 1, None),
        row("/learn, 32 clients", learn, 1, bare_cpu),
        row("/rank, 32 clients", rank, 1, None),
    ]
    for each in rows:
        each["rate / rank's"] = None
    rows[1]["rate / rank's"] = learn["requests/s"] / rank["requests/s"]
    return rows


def check(report: Report, learner: str, rows: Sequence[Mapping[str, Cell]]) -> None:
    """Compare the ratios of a learner with their limits."""
    cpu = {each[""]: float(each["µs/instance"] or 0) for each in rows}
    limits = LIMITS.get(learner, {})
    for kind, ours, bare_row in (
        ("/rank", "/rank", "bare, as /rank"),
        ("batch", f"/rank of {BATCH}", "bare, as /rank"),
        ("/learn", "/learn, 32 clients", "bare, as /learn"),
    ):
        if kind in limits:
            report.limit(f"{learner}, {kind} x bare", cpu[ours] / cpu[bare_row], limits[kind])


def measure_peers(
    server: ServerProcess, instances: Sequence[Instance], options: Namespace
) -> list[dict[str, Cell]]:
    """Measure other libraries with the requests of /rank, in turns with the service."""
    requests = [load.post("/rank", encoded(one.ranked())) for one in instances[:PREBUILT]]

    def round_of(ranking: ServerProcess, connections: int) -> Figures:
        return one_round(ranking, requests, connections, options.seconds)

    rows = [(one.features, one.classes[0]) for one in instances]
    service = partial(round_of, server)
    return peer_rows(service, round_of, rows, RANK_CONNECTIONS, options)


# --- ranking while a snapshot is taken ------------------------------------------------------------


def many_edges(count: int) -> list[dict[str, object]]:
    """Return events with about so many edges: few of their feature-class pairs repeat."""
    random = np.random.default_rng(0)
    features, classes = 200_000, 5_000
    return [
        {
            "features": [
                f"feature {f}" for f in set(random.integers(0, features, ACTIVE).tolist())
            ],
            "classes": [f"class {random.integers(classes)}"],
        }
        for _ in range(count // ACTIVE)
    ]


@contextmanager
def snapshots(
    server: ServerProcess, count: int, windows: list[tuple[float, float]]
) -> Iterator[Event]:
    """Take snapshots with a pause after each and note their times; set the event at the end."""
    done = Event()

    def take() -> None:
        try:
            for number in range(count):
                time.sleep(0.5)
                # Without an event in between there would be nothing new to keep.
                event = {"features": [f"snapshot {number}"], "classes": ["class 0"]}
                server.request("POST", "/learn", encoded(event))
                began = time.perf_counter()
                server.request("POST", "/snapshots")
                windows.append((began, time.perf_counter()))
        finally:
            done.set()

    thread = Thread(target=take)
    thread.start()
    try:
        yield done
    finally:
        thread.join()


def measure_snapshots(
    server: ServerProcess, requests: Sequence[bytes], connections: int, cores: set[int], title: str
) -> dict[str, Cell]:
    pin(server.pid, cores)
    windows: list[tuple[float, float]] = []
    ended, took = [], []
    with snapshots(server, SNAPSHOTS, windows) as done:
        while not done.is_set():
            measured = load.run(server.port, requests, connections, 1.0)
            ended += measured.ended
            took += measured.took
    end, duration = np.array(ended), np.array(took)
    during = np.zeros(len(end), bool)
    for began, stopped in windows:
        during |= (end > began) & (end - duration < stopped)
    with_one, without = (load.milliseconds(duration[part], 99) for part in (during, ~during))
    return {
        "": title,
        "snapshot s": median(stopped - began for began, stopped in windows),
        "answers during": int(during.sum()),
        "p50 without ms": load.milliseconds(duration[~during], 50),
        "p50 during ms": load.milliseconds(duration[during], 50),
        "p99 without ms": without,
        "p99 during ms": with_one,
        "p99 ratio": with_one / without,
    }


def snapshot_rows(options: Namespace, learner: str) -> tuple[int, list[dict[str, Cell]]]:
    """Return the number of edges, and the costs of ranking with and without a running snapshot."""
    events = many_edges(int(MILLION * 1.05))
    requests = [
        load.post("/rank", encoded({"features": event["features"]})) for event in events[:PREBUILT]
    ]
    one, both = {options.server_core}, {options.server_core, options.load_core}
    with service_of(learner, options) as server:
        edges = teach_edges(server, events, MILLION)
        rows = [
            measure_snapshots(server, requests, connections, cores, title)
            for title, connections, cores in (
                ("30 connections, server on one core", RANK_CONNECTIONS, one),
                ("30 connections, server on both cores", RANK_CONNECTIONS, both),
                ("1 connection, server on one core", 1, one),
                ("1 connection, server on both cores", 1, both),
            )
        ]
    return edges, rows


def add_options(parser: ArgumentParser, seconds: float, rounds: int) -> None:
    """Add the options of a benchmark of servers, with its usual rounds."""
    readers.add_data_option(parser)
    add_json_option(parser)
    parser.add_argument(
        "--learner", action="append", metavar="SPEC", help="instead of the usual two"
    )
    parser.add_argument("--seconds", type=float, default=seconds, help="length of a round")
    parser.add_argument("--rounds", type=int, default=rounds, help="rounds for each server")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--load-core", type=int, default=1)


def main(options: Namespace) -> None:
    os.sched_setaffinity(0, {options.load_core})
    report = Report(options)
    instances = list(instances_of(readers.posts(options.data)))
    np.random.default_rng(0).shuffle(instances)
    body = encoded(instances[0].ranked())
    report.say(f"{len(instances):,} instances of {ACTIVE} features; a body has {len(body)} bytes")
    learners = options.learner or LEARNERS
    for learner in learners:
        with service_of(learner, options) as server:
            teach(server, [one.learned() for one in instances])
            ranking = measure_rank(server, instances, options)
            report.table(f"Ranking beside a bare application, {learner}", ranking)
            learning = measure_learn(server, instances, options)
            report.table(f"Learning beside ranking, {learner}", learning)
            check(report, learner, [*ranking, *learning])
            if learner == learners[0]:
                peers = measure_peers(server, instances, options)
                report.table(f"Other libraries beside /rank, {learner}", peers)
    edges, rows = snapshot_rows(options, learners[0])
    report.table(f"/rank while snapshots of {edges:,} edges are taken", rows)
    report.close()


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    add_options(parser, seconds=5.0, rounds=3)
    parser.add_argument(
        "--python-only",
        dest="native",
        action="store_false",
        help="a service without its native tier",
    )
    parser.add_argument("--workers", type=int, default=1, help="threads of the service")
    parser.add_argument("--folder", type=Path, help="where the service keeps its store meanwhile")
    main(parser.parse_args())

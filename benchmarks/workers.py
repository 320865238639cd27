"""Costs of plain rankings with workers, beside a bare ASGI application in the same run.

The load generator has a core of its own, the server both cores: figures are CPU times of the whole
server a request, which a busy machine disturbs least. Rounds alternate between the servers. With
four cores or more the rates are compared too.

While it learns, the service gets half of the events that it can learn in a second, on connections
of their own. Two clients, the learner and the workers share the cores then, so rankings are timed
a third time: while another service, which runs beside it, learns the same events. What that adds is
the price of fewer cores than threads; the rest is the price of learning itself. With four cores or
more the limit is beside rankings alone, else beside rankings while the other service learns.
"""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks import load
from benchmarks.process import ServerProcess, own_process, pin, service_on_sqlite
from benchmarks.report import Cell, Figures, Report, over_rounds
from benchmarks.serving import (
    LEARN_CONNECTIONS,
    LEARNERS,
    PREBUILT,
    RANK_CONNECTIONS,
    UNLIMITED,
    Instance,
    add_options,
    bare,
    encoded,
    instances_of,
    one_round,
    row,
    teach,
)
from manyclass.evaluation import readers

WORKERS = (0, 1, 2)
CORES_FOR_RATES = 4
LEARNING_SECONDS = 4.0
LEARNING_ROUNDS = 3
MOST_BARE = 0.65  # CPU time of a request with workers, beside a bare application
MOST_PER_WORKER = 1.1  # CPU time and memory with two workers, beside one
MOST_APART = 0.1  # of the CPU times of two workers
LEAST_RATE = 1.8  # of two workers, beside one
MOST_WHILE_LEARNING = 2.0  # p99 of rankings


def thread_seconds(server: ServerProcess) -> list[float]:
    """Return the CPU seconds of each worker of a service."""
    seconds = []
    for task in sorted(Path(f"/proc/{server.pid}/task").iterdir()):
        if (task / "comm").read_text().startswith("ranking-"):
            seconds.append(int((task / "schedstat").read_text().split()[0]) / 1e9)
    return seconds


def costs(
    servers: dict[int, ServerProcess], requests: Sequence[bytes], options: Namespace
) -> list[dict[str, Cell]]:
    """Measure each number of workers and a bare application, in turns."""
    every = {*range(os.cpu_count() or 1)} - {options.load_core} or {options.load_core}
    cores = {*every, options.load_core} if len(every) == 1 else every
    for server in servers.values():
        pin(server.pid, cores)
        load.run(server.port, requests, RANK_CONNECTIONS, 0.5)
    first = next(iter(servers.values()))
    answer_bytes = load.run(first.port, requests, RANK_CONNECTIONS, 0.5).answer_bytes
    found: dict[int | None, list[Figures]] = {None: [], **{each: [] for each in servers}}
    used = {each: thread_seconds(server) for each, server in servers.items()}
    with bare(options.server_core, answer_bytes) as other:
        pin(other.pid, cores)
        load.run(other.port, requests, RANK_CONNECTIONS, 0.5)
        for _ in range(options.rounds):
            for workers, server in ((None, other), *servers.items()):
                one = one_round(server, requests, RANK_CONNECTIONS, options.seconds)
                found[workers].append(one)
    plain = over_rounds(found[None])
    rows = [{**row("bare", plain, 1, None), "RSS MiB": None, "threads": None}]
    for workers, server in servers.items():
        made = row(f"{workers} workers", over_rounds(found[workers]), 1, plain["CPU µs/request"])
        made["RSS MiB"] = server.memory()[0] / 2**20
        shares = np.subtract(thread_seconds(server), used[workers])
        made["threads"] = " ".join(f"{share / shares.sum():.2f}" for share in shares) or None
        rows.append(made)
    for each in rows:
        del each["µs/instance"]
    return rows


def while_learning(
    server: ServerProcess,
    other: ServerProcess,
    instances: Sequence[Instance],
    requests: Sequence[bytes],
) -> dict[str, Cell]:
    """Measure rankings at a steady rate: alone, while `other` learns, and while `server` learns.

    Learning goes at half of its highest rate. Percentiles are medians of the rounds.
    """
    learns = [load.post("/learn", encoded(one.learned())) for one in instances[:PREBUILT]]
    fastest = load.run(server.port, learns, LEARN_CONNECTIONS, LEARNING_SECONDS).rate
    rate = load.run(server.port, requests, RANK_CONNECTIONS, LEARNING_SECONDS).rate / 4

    def ranked() -> load.Measured:
        return load.run(server.port, requests, RANK_CONNECTIONS, LEARNING_SECONDS, rate)

    def ranked_while(learner: ServerProcess) -> load.Measured:
        # A process of its own: two threads of one would wait for each other's interpreter lock.
        with own_process() as process:
            process.submit(os.getpid).result()  # it is ready
            seconds = LEARNING_SECONDS + 1
            learning = process.submit(
                load.run, learner.port, learns, LEARN_CONNECTIONS, seconds, fastest / 2
            )
            measured = ranked()
            learning.result()
        return measured

    rounds = [
        {"alone": ranked(), "elsewhere": ranked_while(other), "learning": ranked_while(server)}
        for _ in range(LEARNING_ROUNDS)
    ]
    found: dict[str, Cell] = {"events/s": fastest / 2, "rankings/s": rate}
    for percentile in (50, 99):
        for case in rounds[0]:
            found[f"p{percentile} {case}"] = median(
                each[case].milliseconds(percentile) for each in rounds
            )
    found["failed"] = sum(one.failed for each in rounds for one in each.values())
    return found


def check(
    report: Report,
    learner: str,
    found: Sequence[Mapping[str, Cell]],
    learning: Sequence[Mapping[str, Cell]],
) -> None:
    """Compare the ratios with their limits, where one and two workers were measured."""
    rows = {str(each[""]): each for each in found}

    def of(name: str, figure: str) -> float:
        return float(rows[name][figure] or 0)

    for name in ("1 workers", "2 workers"):
        if name in rows:
            report.limit(f"{learner}, {name}, x bare", of(name, "x bare"), MOST_BARE)
    if "1 workers" in rows and "2 workers" in rows:
        for figure in ("CPU µs/request", "RSS MiB"):
            ratio = of("2 workers", figure) / of("1 workers", figure)
            report.limit(f"{learner}, {figure}, two beside one", ratio, MOST_PER_WORKER)
        one, other = map(float, str(rows["2 workers"]["threads"]).split())
        report.limit(f"{learner}, CPU of two workers, apart", abs(one - other), MOST_APART)
        if (os.cpu_count() or 1) >= CORES_FOR_RATES:
            ratio = of("1 workers", "requests/s") / of("2 workers", "requests/s")
            report.limit(f"{learner}, rate, one beside two", ratio, 1 / LEAST_RATE)
    beside = "alone" if (os.cpu_count() or 1) >= CORES_FOR_RATES else "elsewhere"
    for each in learning:
        ratio = float(each["p99 learning"] or 0) / float(each[f"p99 {beside}"] or 1)
        name = f"{learner}, {each['']}, p99 while learning, beside {beside}"
        report.limit(name, ratio, MOST_WHILE_LEARNING)


@contextmanager
def taught(
    learner: str, workers: int, cores: Collection[int], instances: Sequence[Instance]
) -> Iterator[ServerProcess]:
    """Run a service that has learned the instances."""
    with service_on_sqlite(
        cores, learner=learner, max_concurrent=UNLIMITED, workers=workers
    ) as server:
        teach(server, [one.learned() for one in instances])
        yield server


def main(options: Namespace) -> None:
    os.sched_setaffinity(0, {options.load_core})
    report = Report(options)
    instances = list(instances_of(readers.posts(options.data)))
    np.random.default_rng(0).shuffle(instances)
    requests = [load.post("/rank", encoded(one.ranked())) for one in instances[:PREBUILT]]
    cores = {*range(os.cpu_count() or 1)}
    workers = options.workers or WORKERS
    report.say(f"{len(cores)} cores, {len(requests):,} requests over and over")
    for learner in options.learner or LEARNERS:
        with ExitStack() as running:
            *servers, other = (
                running.enter_context(taught(learner, each, cores, instances))
                for each in (*workers, 0)
            )
            found = costs(dict(zip(workers, servers, strict=True)), requests, options)
            report.table(f"/rank, {learner}", found)
            rows = [
                {"": f"{each} workers", **while_learning(server, other, instances, requests)}
                for each, server in zip(workers, servers, strict=True)
            ]
            report.table(f"/rank while learning, in milliseconds, {learner}", rows)
            check(report, learner, found, rows)
    report.close()


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    add_options(parser, seconds=3.0, rounds=5)
    parser.add_argument(
        "--workers", action="append", type=int, metavar="N", help="instead of 0, 1 and 2"
    )
    main(parser.parse_args())

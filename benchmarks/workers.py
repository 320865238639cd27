"""Costs of plain rankings with workers, beside a bare ASGI application in the same run.

The load generator has a core of its own, the server both cores: figures are CPU times of the whole
server a request, which a busy machine disturbs least. Rounds alternate between the servers. With
four cores or more the rates are compared too. While it learns, the service gets half of the events
that it can learn in a second, on connections of their own.
"""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

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
    server: ServerProcess, instances: Sequence[Instance], requests: Sequence[bytes]
) -> dict[str, Cell]:
    """Measure rankings at a steady rate, with and without learning at half its highest rate."""
    learns = [load.post("/learn", encoded(one.learned())) for one in instances[:PREBUILT]]
    fastest = load.run(server.port, learns, LEARN_CONNECTIONS, LEARNING_SECONDS).rate
    alone = load.run(server.port, requests, RANK_CONNECTIONS, LEARNING_SECONDS)
    rate = alone.rate / 4
    without = load.run(server.port, requests, RANK_CONNECTIONS, LEARNING_SECONDS, rate)
    # A process of its own: two threads of one would wait for each other's turn of the interpreter.
    with own_process() as process:
        process.submit(os.getpid).result()  # it is ready
        learning = process.submit(
            load.run, server.port, learns, LEARN_CONNECTIONS, LEARNING_SECONDS + 1, fastest / 2
        )
        meanwhile = load.run(server.port, requests, RANK_CONNECTIONS, LEARNING_SECONDS, rate)
        learning.result()
    return {
        "events/s": fastest / 2,
        "rankings/s": rate,
        "p50 ms": without.milliseconds(50),
        "p50 learning ms": meanwhile.milliseconds(50),
        "p99 ms": without.milliseconds(99),
        "p99 learning ms": meanwhile.milliseconds(99),
        "failed": without.failed + meanwhile.failed,
    }


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
    for each in learning:
        ratio = float(each["p99 learning ms"] or 0) / float(each["p99 ms"] or 1)
        report.limit(f"{learner}, {each['']}, p99 while learning", ratio, MOST_WHILE_LEARNING)


def main(options: Namespace) -> None:
    os.sched_setaffinity(0, {options.load_core})
    report = Report(options)
    instances = list(instances_of(readers.posts(options.data)))
    np.random.default_rng(0).shuffle(instances)
    requests = [load.post("/rank", encoded(one.ranked())) for one in instances[:PREBUILT]]
    cores = {*range(os.cpu_count() or 1)}
    report.say(f"{len(cores)} cores, {len(requests):,} requests over and over")
    for learner in options.learner or LEARNERS:
        with ExitStack() as running:
            servers = {}
            for workers in options.workers or WORKERS:
                servers[workers] = running.enter_context(
                    service_on_sqlite(
                        cores, learner=learner, max_concurrent=UNLIMITED, workers=workers
                    )
                )
                teach(servers[workers], [one.learned() for one in instances])
            found = costs(servers, requests, options)
            report.table(f"/rank, {learner}", found)
            rows = [
                {"": f"{workers} workers", **while_learning(server, instances, requests)}
                for workers, server in servers.items()
            ]
            report.table(f"/rank while learning, {learner}", rows)
            check(report, learner, found, rows)
    report.close()


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    add_options(parser, seconds=3.0, rounds=5)
    parser.add_argument(
        "--workers", action="append", type=int, metavar="N", help="in place of 0, 1 and 2"
    )
    main(parser.parse_args())

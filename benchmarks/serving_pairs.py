"""Ratios of the service's CPU time a request between this checkout and another, in pairs.

python -m benchmarks.serving_pairs [--pairs 10] [--seconds 1] [--learner svm] [--workers 1] OTHER

Runs the services of both checkouts at once on one core, taught alike, and loads them in turns from
another core; every second pair in the other order. Only the loaded one works. Prints for each kind
of request the CPU time here, the median ratio (below 1: this checkout is faster) and the interval
of `pairs`.
"""

import os
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks import load
from benchmarks.pairs import interval, pair_count
from benchmarks.process import CHECKOUT, ServerProcess, service_on_sqlite
from benchmarks.report import Cell, Report, add_json_option
from benchmarks.serving import UNLIMITED, encoded, one_round, teach

TAUGHT, BODIES = 5000, 500  # events; requests of a kind
WORDS, FEATURES, CLASSES = 20_000, 80, 1000
BATCH = 50  # instances
AMONG = [f"class {number}" for number in range(10)]

Event = dict[str, object]


def events(seed: int, count: int) -> list[Event]:
    """Return events of random features and classes."""
    random = np.random.default_rng(seed)
    return [
        {
            "features": [f"word {word}" for word in random.choice(WORDS, FEATURES, replace=False)],
            "classes": [f"class {random.integers(CLASSES)}"],
        }
        for _ in range(count)
    ]


def kinds() -> dict[str, tuple[list[bytes], int]]:
    """Return the requests and the connections of each kind of load."""
    instances = [{"features": each["features"]} for each in events(1, BODIES)]
    batches = [instances[begin : begin + BATCH] for begin in range(0, BODIES, BATCH)]
    rank = [load.post("/rank", encoded(each)) for each in instances]
    to_learn = events(2, BODIES)
    python = {  # requests of one instance or event that the Python tier answers
        "/rank, explain": ("/rank", [each | {"explain": True} for each in instances]),
        "/rank, among": ("/rank", [each | {"among": AMONG} for each in instances]),
        "/rank of 1": ("/rank", [{"instances": [each]} for each in instances]),
        "/learn, not": ("/learn", [each | {"not": ["class x"]} for each in to_learn]),
        "/learn of 1": ("/learn", [{"events": [each]} for each in to_learn]),
    }
    return {
        "/rank, 1 connection": (rank, 1),
        "/rank, 32 connections": (rank, 32),
        f"/rank of {BATCH}, 4": (
            [load.post("/rank", encoded({"instances": each})) for each in batches],
            4,
        ),
        "/learn, 32 connections": (
            [load.post("/learn", encoded(each)) for each in to_learn],
            32,
        ),
        **{
            kind: ([load.post(path, encoded(each)) for each in bodies], 4)
            for kind, (path, bodies) in python.items()
        },
    }


def cpu_microseconds(
    server: ServerProcess, requests: Sequence[bytes], connections: int, seconds: float
) -> float:
    """Return the CPU time of the server for a request; RuntimeError if one is refused."""
    figures = one_round(server, requests, connections, seconds)
    if figures["failed"]:
        raise RuntimeError(f"{figures['failed']} of {figures['requests']} requests failed")
    return figures["CPU µs/request"]


def main() -> None:
    parser = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("other", type=Path, help="the checkout to compare with, built")
    parser.add_argument("--pairs", type=pair_count, default=10)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a measurement")
    parser.add_argument("--learner", default="svm")
    parser.add_argument("--workers", type=int, default=1, help="threads of each service")
    add_json_option(parser)
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[-1]})
    settings = {
        "max_concurrent": UNLIMITED,
        "learner": options.learner,
        "workers": options.workers,
    }
    report = Report(options)
    with (
        service_on_sqlite({cores[0]}, source=CHECKOUT, **settings) as here,
        service_on_sqlite({cores[0]}, source=options.other, **settings) as other,
    ):
        servers = (here, other)
        for server in servers:
            teach(server, events(0, TAUGHT))
        rows: list[dict[str, Cell]] = []
        for kind, (requests, connections) in kinds().items():
            ratios, ours = [], []
            for pair in range(-1, options.pairs):  # the first warms up
                order = servers if pair % 2 == 0 else servers[::-1]
                took = {
                    server: cpu_microseconds(server, requests, connections, options.seconds)
                    for server in order
                }
                if pair >= 0:
                    ours.append(took[here])
                    ratios.append(took[here] / took[other])
            low, high = interval(ratios)
            figures = {"CPU µs/request": median(ours), "ratio": median(ratios)}
            rows.append({"requests": kind, **figures, "from": low, "to": high})
    workers = f"{options.workers} workers"
    report.table(f"CPU time beside {options.other}, {options.learner}, {workers}", rows)
    report.close()


if __name__ == "__main__":
    main()

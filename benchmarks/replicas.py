"""The cost of learning through Redis beside SQLite, and the lag of a second process.

Learning: a service on each store, all with the same clients in turns; Redis with appendfsync
always, as docs/operations.md asks for, and everysec. A service has one core; the load and Redis
share the other.

Following: a second process on the Redis of the first, which learns nine tenths of what it could.
It shares the other core with the load and Redis. In turns with the first process alone at that
rate, so that what a follower costs the others is seen.

The append-only files are not rewritten meanwhile, and the logs are trimmed between the rounds.
Figures are medians of the rounds.
"""

import json
import os
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks import lag, load, serving
from benchmarks.process import ServerProcess, cpu_seconds, own_process, pin
from benchmarks.process import service as service_process
from benchmarks.report import Cell, Figures, Report, add_json_option, over_rounds
from benchmarks.serving import BATCH, UNLIMITED, Instance, encoded, instances_of, teach
from manyclass.evaluation import readers
from tests.redis_server import RedisServer

SINGLE_CONNECTIONS, BATCH_CONNECTIONS = 32, 4
PREBUILT = 4000  # distinct events, sent over and over
SHARE = 0.9  # of what the first process can learn, when another follows
NO_REWRITES = ("--auto-aof-rewrite-percentage 0",)


@dataclass(frozen=True)
class Kind:
    """A kind of request."""

    name: str
    requests: Sequence[bytes]
    events: int  # in each
    connections: int


def kinds_of(instances: Sequence[Instance]) -> list[Kind]:
    events = [one.learned() for one in instances[:PREBUILT]]
    parts = [events[begin : begin + BATCH] for begin in range(0, len(events), BATCH)]
    size = len(parts[0])
    batches = [load.post("/learn", encoded({"events": part})) for part in parts]
    singles = [load.post("/learn", encoded(event)) for event in events]
    return [
        Kind("single", singles, 1, SINGLE_CONNECTIONS),
        Kind(f"{size} in each", batches, size, BATCH_CONNECTIONS),
    ]


# --- the services -------------------------------------------------------------------------------


class Redis:
    """A Redis server on a core of its own, with its CPU time."""

    def __init__(self, folder: Path, appendfsync: str, core: int) -> None:
        self._server = RedisServer(folder, appendfsync=appendfsync, options=NO_REWRITES)
        self._core = core
        self.url = self._server.url

    def __enter__(self) -> "Redis":
        self._server.start()
        self._client = self._server.client()
        self._pid = int(self._client.info("server")["process_id"])
        pin(self._pid, {self._core})
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()
        self._server.stop()

    def cpu_seconds(self) -> float:
        return cpu_seconds(self._pid)

    def used_bytes(self) -> int:
        return int(self._client.info("memory")["used_memory"])


def service(store: str, core: int) -> ServerProcess:
    return service_process(store, {core}, max_concurrent=UNLIMITED, snapshot_keep=1)


@dataclass(frozen=True)
class Setup:
    """A service, and its Redis server, if any."""

    name: str
    server: ServerProcess
    redis: Redis | None


@contextmanager
def setups(folder: Path, options: Namespace) -> Iterator[list[Setup]]:
    """Start a service on each store; stop all of them at the end."""
    with ExitStack() as running:
        on_sqlite = service(f"sqlite:{folder}/events.db", options.server_core)
        made = [Setup("SQLite", running.enter_context(on_sqlite), None)]
        for appendfsync in ("always", "everysec"):
            redis = running.enter_context(
                Redis(folder / appendfsync, appendfsync, options.load_core)
            )
            server = running.enter_context(service(redis.url, options.server_core))
            made.append(Setup(f"Redis, {appendfsync}", server, redis))
        yield made


# --- learning -----------------------------------------------------------------------------------


def appends(server: ServerProcess) -> float:
    """Return the number of successful appends so far."""
    counts = server.metric("commits_total")
    return sum(count for labels, count in counts if labels["result"] == "ok")


def one_round(setup: Setup, kind: Kind, seconds: float, rate: float | None = None) -> Figures:
    """Return the figures of the load of one round on one service; `rate` limits events a second.

    The log is that in the memory of Redis.
    """
    server, redis = setup.server, setup.redis
    appends_before = appends(server)
    redis_cpu, used = (redis.cpu_seconds(), redis.used_bytes()) if redis else (0.0, 0)
    measured = serving.one_round(
        server, kind.requests, kind.connections, seconds, rate and rate / kind.events
    )
    if redis:
        redis_cpu, used = redis.cpu_seconds() - redis_cpu, redis.used_bytes() - used
    events = measured["requests"] * kind.events
    return {
        "events/s": measured["requests/s"] * kind.events,
        "p50 ms": measured["p50 ms"],
        "p99 ms": measured["p99 ms"],
        "service µs/event": measured["CPU µs/request"] / kind.events,
        "Redis µs/event": redis_cpu / events * 1e6,
        "log bytes/event": used / events,
        "events/append": events / max(1.0, appends(server) - appends_before),
        "failed": measured["failed"],
    }


def trim(setup: Setup) -> None:
    """Take a snapshot, and trim the log behind it."""
    setup.server.request("POST", "/snapshots")


def measure_learning(
    made: Sequence[Setup], kinds: Sequence[Kind], options: Namespace
) -> dict[tuple[str, str], Figures]:
    """Return the figures by kind of request and setup."""
    rounds: dict[tuple[str, str], list[Figures]] = {}
    for _ in range(options.rounds):
        for kind in kinds:
            for setup in made:
                measured = one_round(setup, kind, options.seconds)
                rounds.setdefault((kind.name, setup.name), []).append(measured)
                trim(setup)
    return {key: over_rounds(each) for key, each in rounds.items()}


def learning_rows(measured: dict[tuple[str, str], Figures]) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for (kind, store), it in measured.items():
        sqlite = measured[kind, "SQLite"]
        ratios = {
            "x SQLite": it["events/s"] / sqlite["events/s"],
            "p99 x SQLite": it["p99 ms"] / sqlite["p99 ms"],
        }
        of_redis = ("Redis µs/event", "log bytes/event")
        unknown = dict.fromkeys(of_redis if store == "SQLite" else (), None)
        rows.append({"events": kind, "store": store, **it, **unknown, **ratios})
    return rows


# --- following ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Followed:
    """The measurements of one round with a second process: the leader's, the costs, the lag."""

    leader: Figures
    costs: Figures
    lag: lag.Lag


def follow_round(
    setup: Setup, watcher: Executor, kind: Kind, rate: float, options: Namespace
) -> Followed:
    assert setup.redis is not None
    with service(setup.redis.url, options.load_core) as second:
        watching = watcher.submit(
            lag.watch, setup.server.port, second.port, ["lag"], options.seconds
        )
        cpu, seq = second.cpu_seconds(), _seq(second)
        leader = one_round(setup, kind, options.seconds, rate)
        found = watching.result()
        applied = max(1, _seq(second) - seq)
        costs = {
            "follower µs/event": (second.cpu_seconds() - cpu) / applied * 1e6,
            "leader MB": setup.server.memory()[0] / 1e6,
            "follower MB": second.memory()[0] / 1e6,
        }
        return Followed(leader, costs, found)


def _seq(server: ServerProcess) -> int:
    return int(json.loads(server.request("GET", "/stats"))["seq"])


def measure_following(
    setup: Setup,
    kinds: Sequence[Kind],
    learned: dict[tuple[str, str], Figures],
    options: Namespace,
) -> tuple[list[dict[str, Cell]], list[dict[str, Cell]]]:
    """Measure the lag of a second process, and its cost."""
    rates = {kind.name: SHARE * learned[kind.name, setup.name]["events/s"] for kind in kinds}
    alone: dict[str, list[Figures]] = {kind.name: [] for kind in kinds}
    followed: dict[str, list[Followed]] = {kind.name: [] for kind in kinds}
    with own_process() as watcher:
        watcher.submit(int).result()  # it has started
        for _ in range(options.rounds):
            for kind in kinds:
                rate = rates[kind.name]
                alone[kind.name].append(one_round(setup, kind, options.seconds, rate))
                trim(setup)
                followed[kind.name].append(follow_round(setup, watcher, kind, rate, options))
                trim(setup)
    lags = [lag_row(name, rate, followed[name]) for name, rate in rates.items()]
    return lags, [row for name in rates for row in cost_rows(name, alone[name], followed[name])]


def lag_row(name: str, rate: float, rounds: Sequence[Followed]) -> dict[str, Cell]:
    """Return medians over the rounds of each round's percentiles, and the maximum of all."""

    def percentile(share: float, of: str) -> float:
        return median(float(np.percentile(getattr(each.lag, of), share)) for each in rounds)

    return {
        "events": name,
        "asked for/s": rate,
        "learned/s": median(each.leader["events/s"] for each in rounds),
        "turns": sum(len(each.lag.any) for each in rounds),
        "seen p50 ms": percentile(50, "learned") * 1e3,
        "p99 ms": percentile(99, "learned") * 1e3,
        "most ms": max(max(each.lag.learned) for each in rounds) * 1e3,
        "any p50 ms": percentile(50, "any") * 1e3,
        "any p99 ms": percentile(99, "any") * 1e3,
        "behind p50": percentile(50, "events"),
        "behind p99": percentile(99, "events"),
        "behind most": max(max(each.lag.events) for each in rounds),
        "too late": sum(each.lag.refused for each in rounds),
    }


def cost_rows(
    name: str, alone: Sequence[Figures], rounds: Sequence[Followed]
) -> list[dict[str, Cell]]:
    costs = over_rounds([each.costs for each in rounds])
    followed = over_rounds([each.leader for each in rounds])
    ratio = {"follower / leader": costs["follower µs/event"] / followed["service µs/event"]}
    unknown = dict.fromkeys([*costs, *ratio], None)
    return [
        {
            "events": name,
            "": title,
            "leader µs/event": leader["service µs/event"],
            **known,
            "Redis µs/event": leader["Redis µs/event"],
            "leader p50 ms": leader["p50 ms"],
            "leader p99 ms": leader["p99 ms"],
            "failed": leader["failed"],
        }
        for title, leader, known in (
            ("alone", over_rounds(alone), unknown),
            ("followed", followed, costs | ratio),
        )
    ]


# --- the run ------------------------------------------------------------------------------------


def measure(instances: Sequence[Instance], options: Namespace) -> None:
    os.sched_setaffinity(0, {options.load_core})
    report = Report(options)
    kinds = kinds_of(instances)
    body = len(encoded(instances[0].learned()))
    report.say(f"{len(instances):,} instances; an event has {body} bytes as JSON")
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        setups(Path(folder), options) as made,
    ):
        for setup in made:
            teach(setup.server, [one.learned() for one in instances])
            trim(setup)
        learned = measure_learning(made, kinds, options)
        report.table("Learning", learning_rows(learned))
        lags, costs = measure_following(made[1], kinds, learned, options)
        report.table("A second process, at nine tenths of that", lags)
        report.table("What it costs", costs)
    report.close()


def main(options: Namespace) -> None:
    instances = list(instances_of(readers.posts(options.data)))
    np.random.default_rng(0).shuffle(instances)
    measure(instances, options)


def parser() -> ArgumentParser:
    made = ArgumentParser(description=__doc__)
    readers.add_data_option(made)
    add_json_option(made)
    made.add_argument("--seconds", type=float, default=2.5, help="length of a round")
    made.add_argument("--rounds", type=int, default=5, help="rounds for each")
    made.add_argument("--server-core", type=int, default=0)
    made.add_argument("--load-core", type=int, default=1)
    made.add_argument("--folder", type=Path, help="where the stores are kept meanwhile")
    return made


if __name__ == "__main__":
    main(parser().parse_args())

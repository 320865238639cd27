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
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks import load
from benchmarks.lag import Lag, Watcher
from benchmarks.process import ServerProcess, cpu_seconds
from benchmarks.report import Cell, Report, add_json_option
from benchmarks.serving import BATCH, Instance, encoded, instances_of, teach
from deploy.ports import free_port
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
        for task in Path(f"/proc/{self._pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), {self._core})
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()
        self._server.stop()

    def cpu_seconds(self) -> float:
        return cpu_seconds(self._pid)

    def used_bytes(self) -> int:
        return int(self._client.info("memory")["used_memory"])


def service(store: str, core: int) -> ServerProcess:
    port = free_port()
    environment = {
        "MANYCLASS_PORT": str(port),
        "MANYCLASS_STORE": store,
        "MANYCLASS_MAX_CONCURRENT": "1000",  # the cost of a request is measured, not shedding
        "MANYCLASS_SNAPSHOT_SECONDS": "0",
        "MANYCLASS_SNAPSHOT_EVENTS": "0",
        "MANYCLASS_SNAPSHOT_KEEP": "1",
    }
    return ServerProcess(["manyclass", "serve"], port, {core}, environment, "/readyz")


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
        made = [_on_sqlite(folder, options)]
        running.enter_context(made[0].server)
        for appendfsync in ("always", "everysec"):
            redis = running.enter_context(
                Redis(folder / appendfsync, appendfsync, options.load_core)
            )
            server = running.enter_context(service(redis.url, options.server_core))
            made.append(Setup(f"Redis, {appendfsync}", server, redis))
        yield made


def _on_sqlite(folder: Path, options: Namespace) -> Setup:
    return Setup("SQLite", service(f"sqlite:{folder}/events.db", options.server_core), None)


# --- learning -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Round:
    """The load of one round on one service. CPU times are for one event."""

    rate: float  # events a second
    p50: float
    p99: float
    cpu_microseconds: float
    redis_microseconds: float
    log_bytes: float  # of an event, in the memory of Redis
    events_an_append: float
    failed: int


def median_of(rounds: Sequence[Round]) -> Round:
    return Round(*(median(getattr(each, name.name) for each in rounds) for name in fields(Round)))


def appends(server: ServerProcess) -> float:
    """Return the number of successful appends so far."""
    for line in server.request("GET", "/metrics").decode().splitlines():
        if line.startswith('manyclass_commits_total{result="ok"}'):
            return float(line.split()[1])
    return 0.0


def one_round(setup: Setup, kind: Kind, seconds: float, rate: float | None = None) -> Round:
    """Send the load; `rate` limits the events a second."""
    server, redis = setup.server, setup.redis
    appends_before, cpu_before = appends(server), server.cpu_seconds()
    redis_cpu, used = (redis.cpu_seconds(), redis.used_bytes()) if redis else (0.0, 0)
    measured = load.run(
        server.port, kind.requests, kind.connections, seconds, rate and rate / kind.events
    )
    cpu = server.cpu_seconds() - cpu_before
    if redis:
        redis_cpu, used = redis.cpu_seconds() - redis_cpu, redis.used_bytes() - used
    events = measured.count * kind.events
    return Round(
        measured.rate * kind.events,
        measured.milliseconds(50),
        measured.milliseconds(99),
        cpu / events * 1e6,
        redis_cpu / events * 1e6,
        used / events,
        events / max(1.0, appends(server) - appends_before),
        measured.failed,
    )


def trim(setup: Setup) -> None:
    """Take a snapshot, and trim the log behind it."""
    setup.server.request("POST", "/snapshots")


def measure_learning(
    made: Sequence[Setup], kinds: Sequence[Kind], options: Namespace
) -> dict[tuple[str, str], Round]:
    """Return the rounds by kind of request and setup."""
    rounds: dict[tuple[str, str], list[Round]] = {}
    for _ in range(options.rounds):
        for kind in kinds:
            for setup in made:
                measured = one_round(setup, kind, options.seconds)
                rounds.setdefault((kind.name, setup.name), []).append(measured)
                trim(setup)
    return {key: median_of(each) for key, each in rounds.items()}


def learning_rows(measured: dict[tuple[str, str], Round]) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for (kind, store), it in measured.items():
        sqlite = measured[kind, "SQLite"]
        on_redis = store != "SQLite"
        rows.append(
            {
                "events": kind,
                "store": store,
                "events/s": it.rate,
                "x SQLite": it.rate / sqlite.rate,
                "p50 ms": it.p50,
                "p99 ms": it.p99,
                "p99 x SQLite": it.p99 / sqlite.p99,
                "service µs/event": it.cpu_microseconds,
                "Redis µs/event": it.redis_microseconds if on_redis else None,
                "log bytes/event": it.log_bytes if on_redis else None,
                "events/append": it.events_an_append,
                "failed": it.failed,
            }
        )
    return rows


# --- following ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Followed:
    """The measurements of one round with a second process."""

    leader: Round
    follower_microseconds: float
    leader_megabytes: float
    follower_megabytes: float
    lag: Lag


def follow_round(
    setup: Setup, watcher: Watcher, kind: Kind, rate: float, options: Namespace
) -> Followed:
    assert setup.redis is not None
    with service(setup.redis.url, options.load_core) as second:
        features = ["lag"]
        watching = watcher.start(setup.server.port, second.port, features, options.seconds)
        cpu, seq = second.cpu_seconds(), _seq(second)
        leader = one_round(setup, kind, options.seconds, rate)
        lag = watching.result()
        applied = max(1, _seq(second) - seq)
        return Followed(
            leader,
            (second.cpu_seconds() - cpu) / applied * 1e6,
            setup.server.memory()[0] / 1e6,
            second.memory()[0] / 1e6,
            lag,
        )


def _seq(server: ServerProcess) -> int:
    return int(json.loads(server.request("GET", "/stats"))["seq"])


def measure_following(
    setup: Setup,
    kinds: Sequence[Kind],
    learned: dict[tuple[str, str], Round],
    options: Namespace,
) -> tuple[list[dict[str, Cell]], list[dict[str, Cell]]]:
    """Measure the lag of a second process, and its cost."""
    alone: dict[str, list[Round]] = {kind.name: [] for kind in kinds}
    followed: dict[str, list[Followed]] = {kind.name: [] for kind in kinds}
    watcher = Watcher()
    try:
        for _ in range(options.rounds):
            for kind in kinds:
                rate = SHARE * learned[kind.name, setup.name].rate
                alone[kind.name].append(one_round(setup, kind, options.seconds, rate))
                trim(setup)
                followed[kind.name].append(follow_round(setup, watcher, kind, rate, options))
                trim(setup)
    finally:
        watcher.close()
    lags, costs = [], []
    for kind in kinds:
        rate = SHARE * learned[kind.name, setup.name].rate
        lags.append(lag_row(kind.name, rate, followed[kind.name]))
        costs += cost_rows(kind.name, alone[kind.name], followed[kind.name])
    return lags, costs


def lag_row(name: str, rate: float, rounds: Sequence[Followed]) -> dict[str, Cell]:
    """Return medians over the rounds of each round's percentiles, and the maximum of all."""

    def percentile(share: float, of: str) -> float:
        return median(float(np.percentile(getattr(each.lag, of), share)) for each in rounds)

    return {
        "events": name,
        "asked for/s": rate,
        "learned/s": median(each.leader.rate for each in rounds),
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
    name: str, alone: Sequence[Round], rounds: Sequence[Followed]
) -> list[dict[str, Cell]]:
    by_itself = median_of(alone)
    leader = median_of([each.leader for each in rounds])
    follower = median(each.follower_microseconds for each in rounds)
    return [
        {
            "events": name,
            "": title,
            "leader µs/event": it.cpu_microseconds,
            "follower µs/event": follower_cpu,
            "follower / leader": None if follower_cpu is None else follower_cpu / leader_cpu,
            "Redis µs/event": it.redis_microseconds,
            "leader p50 ms": it.p50,
            "leader p99 ms": it.p99,
            "leader MB": leader_memory,
            "follower MB": follower_memory,
            "failed": it.failed,
        }
        for title, it, follower_cpu, leader_cpu, leader_memory, follower_memory in (
            ("alone", by_itself, None, 1.0, None, None),
            (
                "followed",
                leader,
                follower,
                leader.cpu_microseconds,
                median(each.leader_megabytes for each in rounds),
                median(each.follower_megabytes for each in rounds),
            ),
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

"""The time of a service from its start until it is ready, with a snapshot of 10 million edges.

From SQLite and from Redis, in turns, beside a service without a snapshot, and beside reading as
many bytes and nothing else: of a file, and of the same Redis server. Figures are medians of the
rounds. Everything was read or written shortly before, so no disk is waited for.
"""

import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import numpy as np
import redis

from benchmarks.learner import BoundLearner, names_of, rows_of
from benchmarks.process import service
from benchmarks.report import Cell, Figures, Report, add_json_option, over_rounds
from manyclass.core.model import Model
from manyclass.service.config.settings import Settings
from manyclass.service.store import open_store
from tests.redis_server import RedisServer

EDGES = 10_000_000
OUTDEGREE = 25  # of a feature, on the mean
CLASSES = 10_000
ACTIVE = 100  # features of a learned instance
READ_BYTES = 1 << 20


def grown(edges: int) -> Model:
    """Return a model with nearly so many edges and the default options of a service."""
    random = np.random.default_rng(0)
    instances = edges // OUTDEGREE // ACTIVE
    features = instances * ACTIVE
    # Each feature is learned once with each of OUTDEGREE classes, and gets edges to negatives too.
    names, classes = names_of("feature", features), names_of("class", CLASSES)
    none = np.empty((0, 1), np.int32)
    bound = BoundLearner(rows_of(names, none, classes, none), Settings().model_set().primary)
    for _ in range(OUTDEGREE):
        active = random.permutation(features).reshape(instances, ACTIVE)
        true = random.integers(0, CLASSES, (instances, 1), dtype=np.int32)
        bound.learn(rows_of(names, active, classes, true))
    bound.learner.sparsify(edges)
    return Model.of(bound.learner, OUTDEGREE * instances)


def keep(model: Model, store_url: str) -> int:
    """Save a snapshot of the model in a new store; return its size."""
    with closing(open_store(store_url, time.time)) as store:
        return store.save_snapshot(model.seq, model.dump()).bytes


# --- what is measured ---------------------------------------------------------------------------


def seconds_of(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def start(store_url: str) -> Figures:
    """Start a service, wait until it is ready, read its memory, and end it."""
    began = time.perf_counter()
    with service(store_url, {0, 1}) as server:
        seconds = time.perf_counter() - began
        resident, peak = server.memory()
    return {"ready s": seconds, "resident MB": resident / 1e6, "peak MB": peak / 1e6}


def parts(store_url: str) -> Figures:
    """Measure the parts of loading in this process: bytes from the store, a model from the core."""
    with closing(open_store(store_url, time.time)) as store:
        newest = store.snapshots()[0]
        chunks: list[bytes] = []
        from_store = seconds_of(lambda: chunks.extend(store.open_snapshot(newest.seq)))
        by_core = seconds_of(lambda: Model.load(chunks))
    return {"store s": from_store, "core s": by_core}


def read_file(path: Path) -> float:
    """Return the seconds to read a file."""

    def read() -> None:
        with path.open("rb", buffering=0) as file:
            while file.read(READ_BYTES):
                pass

    return seconds_of(read)


def read_values(client: "redis.Redis", keys: Iterable[bytes]) -> float:
    """Return the seconds to get values from Redis."""

    def read() -> None:
        for key in keys:
            client.get(key)

    return seconds_of(read)


# --- the run ------------------------------------------------------------------------------------


def measure(options: Namespace, folder: Path, server: RedisServer, report: Report) -> None:
    model = grown(options.edges)
    full = {"sqlite": f"sqlite:{folder}/full.db", "redis": f"{server.url}?name=full"}
    empty = {"sqlite": f"sqlite:{folder}/empty.db", "redis": f"{server.url}?name=empty"}
    before = int(server.client().info("memory")["used_memory"])
    size = {kind: keep(model, url) for kind, url in full.items()}
    report.say(
        f"{model.learner.edges:,} edges, {model.learner.features:,} features,"
        f" {model.learner.classes:,} classes, counted as {model.learner.bytes:,} bytes;"
        f" the snapshot has {size['redis']:,} bytes,"
        f" {size['redis'] / model.learner.edges:.2f} an edge"
    )
    del model
    in_redis = int(server.client().info("memory")["used_memory"]) - before
    in_file = (folder / "full.db").stat().st_size
    plain = folder / "plain"
    plain.write_bytes(bytes(size["sqlite"]))
    rounds = defaultdict[str, list[Figures]](list)
    with server.client() as client:
        keys = sorted(client.scan_iter("{full}:chunk:*", count=1000))
        for _ in range(options.rounds):
            plain_read = {"sqlite": read_file(plain), "redis": read_values(client, keys)}
            for kind in full:
                nothing = start(empty[kind])
                without = {"without s": nothing["ready s"], "empty MB": nothing["resident MB"]}
                read = {"plain read s": plain_read[kind]}
                rounds[kind].append(without | read | start(full[kind]) | parts(full[kind]))
    stored = {"sqlite": in_file, "redis": in_redis}
    rows: list[dict[str, Cell]] = []
    for kind in full:
        figures = over_rounds(rounds[kind])
        loading = figures["ready s"] - figures["without s"]
        rows.append(
            {
                "snapshot in": kind,
                "stored MB": stored[kind] / 1e6,
                **figures,
                "ready / plain": figures["ready s"] / figures["plain read s"],
                "loading / plain": loading / figures["plain read s"],
            }
        )
    report.table("From the start of a process until it is ready", rows)


def main(options: Namespace) -> None:
    report = Report(options)
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        RedisServer(Path(folder) / "redis") as server,
    ):
        measure(options, Path(folder), server, report)
    report.close()


def parser() -> ArgumentParser:
    made = ArgumentParser(description=__doc__)
    add_json_option(made)
    made.add_argument("--edges", type=int, default=EDGES)
    made.add_argument("--rounds", type=int, default=5)
    made.add_argument("--folder", type=Path, help="where the stores are kept meanwhile")
    return made


if __name__ == "__main__":
    main(parser().parse_args())

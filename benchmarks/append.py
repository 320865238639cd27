"""Measure an append to the SQLite store beside a bare SQLite insert or an older release.

python -m benchmarks.append [--rounds 12] [--appends 300] [--beside SRC] [--folder FOLDER]

`--beside` names the `src` folder of another checkout, whose store is measured in place of the bare
insert. Both run in processes of their own, in turns, a round each: the disk and the neighbours on
the machine are the same for both. Three loads: appends one after the other; the same while another
thread keeps the interpreter busy, as an event loop would; and 64 callers whose events are committed
together.
"""

import argparse
import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Any

from benchmarks.report import Report, add_json_option

EVENT = bytes(range(256)) * 4  # 1 KiB
CALLERS = 64

Append = Callable[[Sequence[bytes]], object]
EngineStats = dict[str, float]


class BareStore:
    """A table with a write-ahead log, and nothing else."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, body BLOB)")

    def append(self, events: Sequence[bytes]) -> None:
        body = b"".join(events)
        blake2b(body)
        self._connection.execute("INSERT INTO events (body) VALUES (?)", (body,))

    def close(self) -> None:
        self._connection.close()


def one_by_one(append: Append, appends: int) -> EngineStats:
    """Append single events; return the seconds of each, and the CPU seconds of all."""
    seconds = []
    cpu = time.process_time()
    for _ in range(appends):
        began = time.perf_counter()
        append([EVENT])
        seconds.append(time.perf_counter() - began)
    cpu = time.process_time() - cpu
    return {"median": median(seconds), "cpu": cpu / appends, "rate": appends / sum(seconds)}


def beside_a_busy_thread(append: Append, appends: int) -> EngineStats:
    """Do the same in a thread, while the main thread keeps the interpreter busy."""
    figures: list[EngineStats] = []
    thread = Thread(target=lambda: figures.append(one_by_one(append, appends)))
    thread.start()
    while thread.is_alive():
        sum(range(200))
    thread.join()
    return figures[0]


def group_commit(append: Append, appends: int) -> EngineStats:
    """Append events of many callers; concurrent ones share an append."""
    return asyncio.run(_group_commit(append, appends * 8))


async def _group_commit(append: Append, events: int) -> EngineStats:
    waiting: list[asyncio.Future[None]] = []
    left = events
    seconds: list[float] = []

    async def call() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            began = time.perf_counter()
            answer = asyncio.get_running_loop().create_future()
            waiting.append(answer)
            await answer
            sum(range(1000))  # applying the event
            seconds.append(time.perf_counter() - began)

    async def commit() -> None:
        while left > 0 or waiting:
            answers, waiting[:] = waiting[:], []
            if answers:
                await asyncio.to_thread(append, [EVENT] * len(answers))
            for answer in answers:
                answer.set_result(None)
            await asyncio.sleep(0)

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(commit(), *(call() for _ in range(CALLERS)))
    cpu = time.process_time() - cpu
    rate = len(seconds) / (time.perf_counter() - began)
    return {"median": median(seconds), "cpu": cpu / len(seconds), "rate": rate}


LOADS = {
    "one after the other": one_by_one,
    "beside a busy thread": beside_a_busy_thread,
    "64 callers, committed together": group_commit,
}


def child(kind: str, path: Path) -> None:
    """Run the measurements named on standard input, one a line."""
    store: Any
    if kind == "bare":
        store = BareStore(path)
    else:
        from manyclass.service.store.sqlite.store import SqliteStore

        store = SqliteStore(path, time.time)
    with closing(store):
        for line in sys.stdin:
            load, appends = json.loads(line)
            print(json.dumps(LOADS[load](store.append, appends)), flush=True)


class Child:
    """A process that measures one store."""

    def __init__(self, kind: str, path: Path, source: Path | None = None) -> None:
        environment = dict(os.environ)
        if source is not None:
            environment["PYTHONPATH"] = str(source.absolute())
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.append", "--child", kind, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def measure(self, load: str, appends: int) -> EngineStats:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([load, appends]), file=self._process.stdin, flush=True)
        figures: EngineStats = json.loads(self._process.stdout.readline())
        return figures

    def close(self) -> None:
        self._process.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description="Appends to the SQLite store.")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--appends", type=int, default=300)
    parser.add_argument("--beside", type=Path, metavar="SRC")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    add_json_option(parser)
    chosen = parser.parse_args()
    if chosen.child:
        child(chosen.child[0], Path(chosen.child[1]))
        return
    report = Report(chosen)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        beside = "bare" if chosen.beside is None else "older"
        with (
            closing(Child("store", Path(folder, "store.db"))) as store,
            closing(Child(beside, Path(folder, "beside.db"), chosen.beside)) as other,
        ):
            for load in LOADS:
                compare(report, load, {"store": store, beside: other}, chosen)
    report.close()


def compare(
    report: Report, load: str, children: dict[str, Child], chosen: argparse.Namespace
) -> None:
    """Print the medians over the rounds, and the medians of the ratios within each round."""
    rounds: list[dict[str, EngineStats]] = []
    for number in range(chosen.rounds):
        order = list(children) if number % 2 else list(reversed(children))
        rounds.append({name: children[name].measure(load, chosen.appends) for name in order})
    store, beside = children

    def row(
        name: str, of: Callable[[dict[str, EngineStats], str], float]
    ) -> dict[str, str | float]:
        return {
            "": name,
            "median ms": of_all(of, "median") * (1 if name == "ratio" else 1e3),
            "CPU ms": of_all(of, "cpu") * (1 if name == "ratio" else 1e3),
            "events/s": of_all(of, "rate"),
        }

    def of_all(of: Callable[[dict[str, EngineStats], str], float], figure: str) -> float:
        return median(of(each, figure) for each in rounds)

    report.table(
        load,
        [
            row(store, lambda each, figure: each[store][figure]),
            row(beside, lambda each, figure: each[beside][figure]),
            row("ratio", lambda each, figure: each[store][figure] / each[beside][figure]),
        ],
    )


if __name__ == "__main__":
    main()

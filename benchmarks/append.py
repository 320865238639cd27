"""Measure an append to the SQLite store beside a bare SQLite insert or an older release.

python -m benchmarks.append [--rounds 12] [--appends 300] [--beside SRC] [--folder FOLDER]

`--beside` names the `src` folder of another checkout, whose store is measured instead of the bare
insert. Both run in processes of their own, in turns, a round each: the disk and the neighbours on
the machine are the same for both. Three loads: appends one after the other; the same while another
thread keeps the interpreter busy, as an event loop would; and 64 callers whose events are committed
together.
"""

import argparse
import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from statistics import median
from threading import Thread

from benchmarks.beside import WORKER, Worker, answer_tasks
from benchmarks.report import Cell, Figures, Report, add_json_option, over_rounds
from manyclass.service.store.sqlite.store import SqliteStore

EVENT = bytes(range(256)) * 4  # 1 KiB
CALLERS = 64

Append = Callable[[Sequence[bytes]], object]


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


def one_by_one(append: Append, appends: int) -> Figures:
    """Append single events; return the seconds of each, and the CPU seconds of all."""
    seconds = []
    cpu = time.process_time()
    for _ in range(appends):
        began = time.perf_counter()
        append([EVENT])
        seconds.append(time.perf_counter() - began)
    cpu = time.process_time() - cpu
    return {"median": median(seconds), "cpu": cpu / appends, "rate": appends / sum(seconds)}


def beside_a_busy_thread(append: Append, appends: int) -> Figures:
    """Do the same in a thread, while the main thread keeps the interpreter busy."""
    figures: list[Figures] = []
    thread = Thread(target=lambda: figures.append(one_by_one(append, appends)))
    thread.start()
    while thread.is_alive():
        sum(range(200))
    thread.join()
    return figures[0]


def group_commit(append: Append, appends: int) -> Figures:
    """Append events of many callers; concurrent ones share an append."""
    return asyncio.run(_group_commit(append, appends * 8))


async def _group_commit(append: Append, events: int) -> Figures:
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


def worker(kind: str, path: Path) -> None:
    """Measure a store until the process is ended."""
    with closing(BareStore(path) if kind == "bare" else SqliteStore(path, time.time)) as store:
        answer_tasks(lambda load, appends: LOADS[load](store.append, appends))


def main() -> None:
    parser = argparse.ArgumentParser(description="Appends to the SQLite store.")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--appends", type=int, default=300)
    parser.add_argument("--beside", type=Path, metavar="SRC")
    parser.add_argument("--folder", type=Path)
    parser.add_argument(WORKER, nargs=2, help=argparse.SUPPRESS)
    add_json_option(parser)
    chosen = parser.parse_args()
    if chosen.worker:
        worker(chosen.worker[0], Path(chosen.worker[1]))
        return
    report = Report(chosen)
    beside = "bare" if chosen.beside is None else "older"
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        files = Path(folder, "store.db"), Path(folder, "beside.db")
        with (
            closing(Worker("benchmarks.append", "store", files[0])) as store,
            closing(Worker("benchmarks.append", beside, files[1], source=chosen.beside)) as other,
        ):
            for load in LOADS:
                compare(report, load, {"store": store, beside: other}, chosen)
    report.close()


def compare(
    report: Report, load: str, workers: dict[str, Worker], chosen: argparse.Namespace
) -> None:
    """Print the medians over the rounds, and the medians of the ratios within each round."""
    rounds = dict[str, list[Figures]]((name, []) for name in (*workers, "ratio"))
    for number in range(chosen.rounds):
        order = list(workers) if number % 2 else list(reversed(workers))
        measured = {name: workers[name].measure(load, chosen.appends) for name in order}
        store, beside = (measured[name] for name in workers)
        measured["ratio"] = {figure: store[figure] / beside[figure] for figure in store}
        for name, figures in measured.items():
            rounds[name].append(figures)
    rows: list[dict[str, Cell]] = []
    for name, each in rounds.items():
        figures = over_rounds(each)
        milli = 1 if name == "ratio" else 1e3
        rows.append(
            {
                "": name,
                "median ms": figures["median"] * milli,
                "CPU ms": figures["cpu"] * milli,
                "events/s": figures["rate"],
            }
        )
    report.table(load, rows)


if __name__ == "__main__":
    main()

"""The history of a service: its price for an append, its size, and the speed of a rebuild.

python -m benchmarks.history [--events 200000] [--rounds 3] [--data FOLDER]

The events are the words of Jane Austen's novels in their order, repeated if there are fewer; or
drawn ones, and it says so, if the novels are absent. An engine on SQLite learns them with and
without a history, in turns; then one event in a hundred is corrected and all is learned again,
beside `manyclass train` of the same events from a file of JSON lines. Limits: appends with history
take at most 1 / 0.9 of the CPU time without, segments at most 0.35 of the bytes of JSON lines, and
a rebuild at most 1 / 0.6 of the time of training.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from benchmarks.report import Figures, Report, add_json_option, over_rounds
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.evaluation import datasets, readers
from manyclass.service.cluster import Cluster
from manyclass.service.config.settings import Settings
from manyclass.service.engine import Engine
from manyclass.service.store import open_store

BLOCK = 500  # events of one submission, as of a stream
AMENDED_EVERY = 100

Row = tuple[list[str], list[str]]  # features, classes


def rows_of_words(data: Path, count: int) -> list[Row]:
    """Return rows of the words, or drawn ones without the novels."""
    try:
        rows = datasets.words(data).rows
    except readers.DataMissing:
        print("the novels are absent: drawn words")
        return list(drawn(count))
    found = (
        (
            [rows.features[at] for at in rows.indices[rows.indptr[row] : rows.indptr[row + 1]]],
            [rows.classes[at] for at in rows.class_indices[rows.class_indptr[row] :][:1]],
        )
        for row in range(min(len(rows), count))
    )
    return list(islice(cycle(list(found)), count))


def drawn(count: int) -> Iterator[Row]:
    """Yield rows of nine features whose frequencies fall as those of words do."""
    random = np.random.default_rng(0)
    for row in random.zipf(1.3, (count, 10)) % 20_000:
        yield [f"w{at}:{name}" for at, name in enumerate(row[:9])], [f"c{row[9] % 5_000}"]


async def learned(folder: Path, rows: list[Row], history: bool) -> Engine:
    """Return an open engine that has learned all rows."""
    store = open_store(f"sqlite:{folder}/{history}.db", time.time)
    settings = Settings(history=history, snapshot_events=100_000, snapshot_seconds=0)
    engine = Engine(settings, Cluster(store), time.monotonic)
    await engine.start()
    for at in range(0, len(rows), BLOCK):
        events = [
            Event.learn(Instance(features), classes) for features, classes in rows[at : at + BLOCK]
        ]
        await engine.submit(events, wait=True)
    return engine


def append(folder: Path, rows: list[Row], history: bool) -> float:
    """Return the CPU seconds of learning all rows, packing included."""

    async def run() -> float:
        began = time.process_time()
        engine = await learned(folder, rows, history)
        await engine.take_snapshot()
        seconds = time.process_time() - began
        await engine.close()
        return seconds

    return asyncio.run(run())


def rebuild(folder: Path, rows: list[Row]) -> Figures:
    """Correct one event in a hundred and learn all again; return times and sizes."""

    async def run() -> Figures:
        engine = await learned(folder, rows, history=True)
        amended = [
            Event.amend(at + 1, Instance(rows[at][0]), [rows[at - 1][1][0]], rows[at][1])
            for at in range(1, len(rows), AMENDED_EVERY)
        ]
        for at in range(0, len(amended), BLOCK):
            await engine.submit(amended[at : at + BLOCK], wait=True)
        await engine.take_snapshot()
        packed = engine.history.recorder.total_bytes
        done = await engine.rebuild_state()
        await engine.close()
        return {"rebuild s": done.seconds, "events": done.events, "packed MB": packed / 1e6}

    return asyncio.run(run())


def train(file: Path, folder: Path) -> float:
    """Return the seconds of `manyclass train` of the file, without the start of its process."""
    command = [sys.executable, "-m", "manyclass", "train", str(file), "--no-shuffle"]
    began = time.perf_counter()
    subprocess.run([*command, "--out", str(folder / "state")], check=True, capture_output=True)
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    subprocess.run([*command[:3], "--version"], check=True, capture_output=True)
    return seconds - (time.perf_counter() - began)


def measure(rows: list[Row]) -> Figures:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "rows.jsonl"
        with file.open("w") as out:
            for features, classes in rows:
                out.write(json.dumps({"features": features, "classes": classes}) + "\n")
        figures = {
            "off cpu s": append(folder, rows, history=False),
            "on cpu s": append(folder, rows, history=True),
        }
        for each in folder.glob("True.db*"):
            each.unlink()
        figures |= rebuild(folder, rows)
        figures |= {"train s": train(file, folder), "JSON MB": file.stat().st_size / 1e6}
        return figures


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    readers.add_data_option(parser)
    add_json_option(parser)
    options = parser.parse_args()
    rows = rows_of_words(options.data, options.events)
    measured = over_rounds([measure(rows) for _ in range(options.rounds)])
    report = Report(options)
    report.table(f"{len(rows)} events, medians of {options.rounds} rounds", [measured])
    report.limit("append, on / off", measured["on cpu s"] / measured["off cpu s"], 1 / 0.9)
    report.limit("segments / JSON lines", measured["packed MB"] / measured["JSON MB"], 0.35)
    report.limit("rebuild / train", measured["rebuild s"] / measured["train s"], 1 / 0.6)
    report.close()


if __name__ == "__main__":
    main()

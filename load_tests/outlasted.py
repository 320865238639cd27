"""Rebuilds that outlast the kept snapshots while events are learned, on SQLite or Redis.

python -m load_tests.outlasted [--events 40000] [--rebuilds 5] [--redis] [--no-archive]

A snapshot is taken each second and the newest one kept, so the log is trimmed behind it while a
rebuild reads the history. One event a second is learned meanwhile. Before each rebuild an event is
corrected. Each `POST /rebuild` has to answer 200, and the state in the end has to be that of a
service that was taught the corrected events from the start.

Prints how many were answered with which status, and in how many seconds. Ends with status 1 if a
rebuild failed or the state differs.
"""

import argparse
import tempfile
import threading
import time
import urllib.error
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median

from load_tests.rebuilds import Process, content_of
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.text import DEFAULT_TEXT
from tests.redis_server import RedisServer

PER_REQUEST = 1000
WORDS, CLASSES = 30, 50
SNAPSHOTS = ("--snapshot-seconds", "1", "--snapshot-keep", "1", "--rebuild-seconds", "0")


@contextmanager
def service(folder: Path, on_redis: bool, has_archive: bool) -> Iterator[Process]:
    """Yield a ready process on a store in the folder."""
    if not on_redis:
        yield from _process("--store", f"sqlite:{folder}/store.db")
        return
    with RedisServer(folder / "redis") as server:
        archive = ["--archive", f"file://{folder}/archive"] if has_archive else []
        yield from _process("--store", server.url, *archive)


def _process(*options: str) -> Iterator[Process]:
    process = Process(*options, *SNAPSHOTS)
    try:
        process.await_ready()
        yield process
    finally:
        process.kill()


class Stream:
    """Teaches events, and keeps them as corrected."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._random = Random(1)
        self._taught: list[tuple[list[str], str]] = []

    def teach(self, count: int) -> None:
        """Teach so many events in one request."""
        made = [self._event() for _ in range(count)]
        forms = [{"features": features, "classes": [name]} for features, name in made]
        self._process.call("POST", "/learn", {"events": forms})
        self._taught += made

    def correct(self, number: int) -> None:
        """Correct one of the events that were taught before any was corrected."""
        features, name = self._taught[number - 1]
        other = f"c{int(name[1:]) + 1}"
        self._process.call("PUT", f"/events/seq:{number}", {"classes": [other]})
        self._taught[number - 1] = (features, other)

    def expected(self) -> Model:
        """Return the state of a service that was taught the corrected events and no others."""
        model = Model(Options.parse("svm"), text=DEFAULT_TEXT)
        for number, (features, name) in enumerate(self._taught, 1):
            model.apply(number, Event.learn(Instance(features), [name]))
        return model

    def _event(self) -> tuple[list[str], str]:
        drawn = self._random.sample(range(5000), WORDS)
        return [f"f{each}" for each in drawn], f"c{drawn[0] % CLASSES}"


def rebuilt(process: Process, stream: Stream) -> tuple[int, float]:
    """Return status and seconds of a rebuild, while an event a second is learned."""
    answers: list[int] = []

    def ask() -> None:
        try:
            process.call("POST", "/rebuild")
            answers.append(200)
        except urllib.error.HTTPError as error:
            print(f"  {error.code}: {error.read().decode()[:300]}")
            answers.append(error.code)

    began = time.monotonic()
    asking = threading.Thread(target=ask)
    asking.start()
    while asking.is_alive():
        stream.teach(1)
        asking.join(1.0)
    return answers[0], time.monotonic() - began


def run(events: int, rebuilds: int, folder: Path, on_redis: bool, has_archive: bool) -> str:
    """Return a line on the run; SystemExit if a rebuild failed or the state differs."""
    statuses: Counter[int] = Counter()
    seconds: list[float] = []
    with service(folder, on_redis, has_archive) as process:
        stream = Stream(process)
        for _ in range(0, events, PER_REQUEST):
            stream.teach(min(PER_REQUEST, events))
        for number in range(1, rebuilds + 1):
            if not on_redis or has_archive:  # else only what a snapshot has not trimmed is there
                stream.correct(number)
            status, lasted = rebuilt(process, stream)
            statuses[status] += 1
            seconds.append(lasted)
        state = Model.load([process.call("GET", "/state")])
    counts = ", ".join(f"{count} with {status}" for status, count in sorted(statuses.items()))
    line = f"{rebuilds} rebuilds of {events} events: {counts}; median {median(seconds):.1f} s"
    if set(statuses) != {200}:
        raise SystemExit(line)
    if content_of(state) != content_of(stream.expected()):
        raise SystemExit(f"{line}; the state is not that of the corrected events")
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=40_000)
    parser.add_argument("--rebuilds", type=int, default=5)
    parser.add_argument("--redis", action="store_true")
    parser.add_argument("--no-archive", action="store_true", help="of --redis")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        has_archive = not given.no_archive
        print(run(given.events, given.rebuilds, Path(folder), given.redis, has_archive))


if __name__ == "__main__":
    main()

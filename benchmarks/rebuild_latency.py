"""The latency of rankings while a service learns its history again, beside that of an idle one.

python -m benchmarks.rebuild_latency [--events 200000] [--rounds 3]

A service of its own on SQLite is taught drawn events. One client ranks with short pauses: for some
seconds, then as long as a rebuild takes, in turns. Limit: the 99th percentile in a rebuild is at
most 1.5 times that of an idle service.
"""

import json
import tempfile
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable
from http.client import HTTPConnection
from itertools import cycle, islice

from benchmarks.history import drawn
from benchmarks.process import service
from benchmarks.report import Figures, Report, add_json_option, over_rounds

IDLE_SECONDS = 8.0
PAUSE_SECONDS = 0.001
BATCH = 1000
PATIENCE = 300.0
ROWS = list(drawn(10_000))  # to be ranked


def post(connection: HTTPConnection, path: str, body: object = None) -> bytes:
    """Return the body of an answer of 200."""
    content = None if body is None else json.dumps(body)
    connection.request("POST", path, content, {"content-type": "application/json"})
    answer = connection.getresponse()
    content_read = answer.read()
    if answer.status != 200:
        raise SystemExit(f"POST {path}: {answer.status} {content_read!r}")
    return content_read


def latencies(port: int, goes_on: Callable[[], bool]) -> list[float]:
    """Return the sorted seconds of rankings, one after the other."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    seconds = []
    for features, _ in cycle(ROWS):
        if not goes_on():
            break
        began = time.perf_counter()
        post(connection, "/rank", {"features": features})
        seconds.append(time.perf_counter() - began)
        time.sleep(PAUSE_SECONDS)
    connection.close()
    return sorted(seconds)


def measure(port: int) -> Figures:
    """Rank beside nothing, then beside a rebuild."""
    end = time.monotonic() + IDLE_SECONDS
    idle = latencies(port, lambda: time.monotonic() < end)
    rebuild = threading.Thread(
        target=lambda: post(HTTPConnection("127.0.0.1", port, timeout=PATIENCE), "/rebuild")
    )
    rebuild.start()
    beside = latencies(port, rebuild.is_alive)
    rebuild.join()
    figures = {}
    for name, seconds in (("idle", idle), ("rebuild", beside)):
        figures[f"{name} p50 ms"] = 1000 * seconds[len(seconds) // 2]
        figures[f"{name} p99 ms"] = 1000 * seconds[len(seconds) * 99 // 100]
    return figures


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    add_json_option(parser)
    options = parser.parse_args()
    report = Report(options)
    with (
        tempfile.TemporaryDirectory() as folder,
        service(f"sqlite:{folder}/store.db", {0, 1}) as server,
    ):
        teaching = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        rows = drawn(options.events)
        while batch := [
            {"features": features, "classes": classes} for features, classes in islice(rows, BATCH)
        ]:
            post(teaching, "/learn", {"events": batch})
        measured = over_rounds([measure(server.port) for _ in range(options.rounds)])
    report.table(f"{options.events} events, medians of {options.rounds} rounds", [measured])
    report.limit("p99, rebuild / idle", measured["rebuild p99 ms"] / measured["idle p99 ms"], 1.5)
    report.close()


if __name__ == "__main__":
    main()

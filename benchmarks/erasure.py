"""The erasure of a source: time and memory of the delete and of the rebuild, rankings meanwhile.

python -m benchmarks.erasure [--events 100000] [--others 100000]

A service of its own on SQLite is taught drawn events, of one source and of none in turns. Then
`DELETE /events?source=` and `POST /rebuild` run while one client ranks with short pauses. At the
end the store must have no event of the source. Limits: the 99th percentile of rankings beside each
call is at most 3 times that of an idle service, and memory at most 4 times what it was.
"""

import json
import tempfile
import threading
import time
from argparse import ArgumentParser
from itertools import islice
from pathlib import Path

from benchmarks.history import drawn
from benchmarks.process import ServerProcess, service
from benchmarks.rebuild_latency import BATCH, IDLE_SECONDS, latencies
from benchmarks.report import Figures, Report, add_json_option

SOURCE = "an erased source"


def teach(server: ServerProcess, events: int, others: int) -> None:
    """Teach so many events of the source and of none, mixed."""
    rows = enumerate(drawn(events + others))
    every = (events + others) // events
    while batch := list(islice(rows, BATCH)):
        body = [
            {"features": features, "classes": classes}
            | ({"source": SOURCE} if at % every == 0 and at < every * events else {})
            for at, (features, classes) in batch
        ]
        server.request("POST", "/learn", json.dumps({"events": body}).encode())


def beside(server: ServerProcess, name: str, method: str, path: str) -> tuple[Figures, bytes]:
    """Return figures of a call and of the rankings meanwhile, and its answer."""
    answers = []
    call = threading.Thread(target=lambda: answers.append(server.request(method, path)))
    cpu, began = server.cpu_seconds(), time.perf_counter()
    call.start()
    seconds = latencies(server.port, call.is_alive)
    call.join()
    if not answers:
        raise SystemExit(f"{method} {path} failed")
    figures = {
        f"{name} s": time.perf_counter() - began,
        f"{name} CPU s": server.cpu_seconds() - cpu,
        f"{name} p50 ms": 1000 * seconds[len(seconds) // 2],
        f"{name} p99 ms": 1000 * seconds[len(seconds) * 99 // 100],
        f"{name} max ms": 1000 * seconds[-1],
        f"{name} MB": server.memory()[1] / 1e6,
    }
    return figures, answers[0]


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--others", type=int, default=100_000)
    add_json_option(parser)
    options = parser.parse_args()
    report = Report(options)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.db"
        with service(f"sqlite:{store}", {0, 1}) as server:
            teach(server, options.events, options.others)
            end = time.monotonic() + IDLE_SECONDS
            idle = latencies(server.port, lambda: time.monotonic() < end)
            figures = {
                "idle p99 ms": 1000 * idle[len(idle) * 99 // 100],
                "idle MB": server.memory()[1] / 1e6,
            }
            query = f"/events?source={SOURCE.replace(' ', '%20')}"
            deleting, answer = beside(server, "delete", "DELETE", query)
            rebuilding, rebuilt = beside(server, "rebuild", "POST", "/rebuild")
            figures |= deleting | rebuilding
            deleted, erased = json.loads(answer), json.loads(rebuilt)
            if not options.events == deleted["deleted"] == erased["deleted"]:
                raise SystemExit(f"not all was deleted: {deleted}, {erased}")
            if json.loads(server.request("GET", query))["events"]:
                raise SystemExit("the source is still listed")
        if SOURCE.encode() in store.read_bytes():
            raise SystemExit("bytes of the source are in the store")
    report.table(f"{options.events} events of a source, {options.others} others", [figures])
    for name in ("delete", "rebuild"):
        report.limit(f"p99, {name} / idle", figures[f"{name} p99 ms"] / figures["idle p99 ms"], 3.0)
    report.limit("memory, rebuild / idle", figures["rebuild MB"] / figures["idle MB"], 4.0)
    report.close()


if __name__ == "__main__":
    main()

"""Readers of everything that GET answers, on a model of a million features, while others learn.

python -m load_tests.reading [--connections 50 200] [--seconds 5] [--only PATH ...] [--rounds 1]
    [--source DIR] [--json FILE]

Starts a service on one core and the clients on another. For each path and number of connections,
keep-alive connections repeat the request as soon as it is answered, and ignore Retry-After.
Meanwhile one client asks for /livez and another learns, each twenty times a second. Prints their
times and how the readers were answered, beside the times of a calm service. With `--rounds` the
figures are medians. `--source` runs the service of another checkout instead, for a comparison.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import numpy as np

from benchmarks import load
from benchmarks.process import own_process
from benchmarks.report import Report
from benchmarks.serving import encoded, teach
from load_tests.own_service import own_service, parser_of

ACTIVE = 50  # features of an event, each of them new
EVENTS = 20_000
CLASSES = 1_000
WIDE = "wide"  # the class of so many events more, which have a feature in common
WIDE_EVENTS = 220
COMMON = "common"  # the feature that the last event of each class has
PROBES_A_SECOND = 20
BEGIN_SECONDS = 1.0  # until the probes are connected, and until the readers read
LIVEZ_MS = 50.0
SLOWER = 5.0  # times the calm median of /learn

PATHS = (
    "/metrics",
    "/openapi.json",
    f"/classes/{WIDE}?limit=10000",
    "/classes?limit=1000",
    "/features?limit=1000",
    f"/features/{COMMON}",
    "/stats",
    "/learners",
    "/events?limit=1000",
    "/events/seq:1",
    "/confusions?limit=1000&seconds=0",
    "/suspects?seconds=0",
    "/review",
    "/settings",
    "/snapshots",
    "/rebuild",
    "/readyz",
    "/",
    "/docs",
    "/docs/files/swagger-ui-bundle.js",
    "/console",
    "/nothing",
)


def main():
    parser = parser_of("Read from a service of its own.")
    parser.add_argument("--connections", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--seconds", type=float, default=5.0, help="length of a measurement")
    parser.add_argument("--only", nargs="+", default=PATHS, metavar="PATH")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--features", type=int, default=ACTIVE * EVENTS, help="of the model")
    chosen = parser.parse_args()
    report = Report(chosen)
    with own_service(chosen.source) as server, own_process() as readers:
        readers.submit(get, "").result()  # once it is there
        teach(server, list(events(chosen.features // ACTIVE)))
        teach(server, list(wide_events()))
        warm(server, chosen.only)
        calm = measured(server, readers, "", 0, chosen)
        rows = [calm]
        for path in chosen.only:
            for connections in chosen.connections:
                rows.append(measured(server, readers, path, connections, chosen))
                print(*rows[-1].values(), flush=True)
        shed = {labels["reason"]: int(count) for labels, count in server.metric("shed_total")}
        memory = server.memory()[1] / 2**20
    report.table("GETs on a model of a million features", rows)
    report.say(f"refusals that limit the load: {shed}; memory at most {memory:.0f} MiB")
    under_load = [row for row in rows if row["connections"] == min(chosen.connections)]
    report.limit("longest /livez p99, ms", max(row["livez p99"] for row in under_load), LIVEZ_MS)
    slowest = max(row["learn p50"] for row in under_load) / calm["learn p50"]
    report.limit("slowest /learn p50, by the calm one", slowest, SLOWER)
    report.close()


def events(count):
    """Yield events whose features are all new, but for one of the last event of a class."""
    for number in range(count):
        features = [f"word {ACTIVE * number + each}" for each in range(ACTIVE)]
        if number >= count - CLASSES:
            features[0] = COMMON
        yield {"features": features, "classes": [f"class {number % CLASSES}"]}


def wide_events():
    for number in range(WIDE_EVENTS):
        features = [f"wide word {ACTIVE * number + each}" for each in range(ACTIVE)]
        yield {"features": features, "classes": [WIDE], "source": f"reader {number}"}


def learned():
    """Return requests to learn other events than before."""
    random = np.random.default_rng(0)
    return [
        load.post(
            "/learn",
            encoded(
                {
                    "features": [f"word {each}" for each in set(random.integers(0, 10**6, ACTIVE))],
                    "classes": [f"class {random.integers(CLASSES)}"],
                }
            ),
        )
        for _ in range(500)
    ]


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def warm(server, paths):
    """Send each request once: the first listing of a kind may put names in order."""
    for path in paths:
        connection = load.Connection(server.port)
        connection.send(get(path))
        while connection.receive() is None:
            pass
        connection.socket.close()


def measured(server, readers, path, connections, chosen):
    """Return the medians over the rounds of a measurement."""
    rounds = [
        one_round(server, readers, path, connections, chosen.seconds) for _ in range(chosen.rounds)
    ]
    figures = {
        name: median(each[name] for each in rounds)
        for name, figure in rounds[0].items()
        if not isinstance(figure, str)
    }
    return {"path": path or "calm", "connections": connections} | figures


def one_round(server, readers, path, connections, seconds):
    reading = None
    with ThreadPoolExecutor(2) as probes:
        lasting = 2 * BEGIN_SECONDS + seconds
        both = [
            probes.submit(load.run, server.port, requests, 1, lasting, PROBES_A_SECOND)
            for requests in ([get("/livez")], learned())
        ]
        time.sleep(BEGIN_SECONDS)
        if connections:
            reading = readers.submit(
                load.run, server.port, [get(path)], connections, BEGIN_SECONDS + seconds
            )
        began = time.perf_counter() + BEGIN_SECONDS
        livez, learn = (each.result() for each in both)
    answers = load.Measured(seconds) if reading is None else reading.result()
    shed = answers.statuses["503"]
    return {
        "livez p50": milliseconds(livez, began, 50),
        "livez p99": milliseconds(livez, began, 99),
        "learn p50": milliseconds(learn, began, 50),
        "learn p99": milliseconds(learn, began, 99),
        "failed": livez.failed + learn.failed,
        "answered/s": (answers.count - shed) / answers.seconds,
        "503/s": shed / answers.seconds,
        "reader p50": answers.milliseconds(50),
    }


def milliseconds(probe, began, percentile):
    """Return a percentile of the times that requests at a steady rate would have taken.

    The probe waits for each answer, so a long one stands for requests that were not sent meanwhile.
    """
    took = [
        time
        for end, each in zip(probe.ended, probe.took, strict=True)
        if end >= began
        for time in np.arange(each, 0, -1 / PROBES_A_SECOND)
    ]
    return load.milliseconds(np.array(took), percentile)


if __name__ == "__main__":
    main()

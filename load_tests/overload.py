"""Ranking under ten times the connections that saturate the service, closed loop.

python -m load_tests.overload [--seconds 5] [--saturating N] [--source DIR] [--json FILE]

Starts a service on one core and the clients on another; they repeat each request as soon as it is
answered, and ignore Retry-After. First one connection alone: its p99 is that of the unloaded
service. Then twice as many each time until the rate grows no more: these saturate it. Then ten
times as many.
`--source` runs the service of another checkout instead, for a comparison.
"""

import numpy as np

from benchmarks import load
from benchmarks.report import Report
from benchmarks.serving import encoded, teach
from load_tests.own_service import own_service, parser_of

FEATURES = 80  # of an instance, half of the known ones
BODIES = 500
GROWTH = 1.1  # of the rate by doubling the connections; below it the service is saturated
MOST_SATURATING = 64
FACTOR = 10


def main():
    parser = parser_of("Overload a service of its own.")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of a measurement")
    parser.add_argument("--saturating", type=int, help="connections, instead of finding them")
    chosen = parser.parse_args()
    with own_service(chosen.source) as server:
        teach(server, events(np.random.default_rng(0)))
        requests = rankings(np.random.default_rng(1))
        run(server.port, requests, 1, 1.0)
        steps, saturated = saturation(server.port, requests, chosen)
        overloaded = run(
            server.port, requests, FACTOR * saturated["connections"], 2 * chosen.seconds
        )
        after = run(server.port, requests, 1, chosen.seconds)
    report = Report(chosen)
    report.table("Rankings", [*steps, overloaded, after])
    report.say(
        f"saturated by {saturated['connections']} connections; at ten times as many: p99 of"
        f" accepted rankings {overloaded['p99 ms'] / steps[0]['p99 ms']:.1f} x that of one"
        f" connection, accepted rate {overloaded['accepted/s'] / saturated['accepted/s']:.2f} x"
        f" that at saturation, {overloaded['shed share']:.0%} of answers shed"
    )
    report.close()


def saturation(port, requests, chosen):
    """Return the figures of each number of connections, and of the one that saturates."""
    steps = [run(port, requests, 1, chosen.seconds)]
    if chosen.saturating:
        steps.append(run(port, requests, chosen.saturating, chosen.seconds))
        return steps, steps[-1]
    while steps[-1]["connections"] < MOST_SATURATING:
        steps.append(run(port, requests, 2 * steps[-1]["connections"], chosen.seconds))
        if steps[-1]["accepted/s"] < GROWTH * steps[-2]["accepted/s"]:
            break
    return steps, steps[-2]


def events(random):
    return [
        {"features": words(random), "classes": [f"class {random.integers(1000)}"]}
        for _ in range(5000)
    ]


def words(random):
    return [f"word {number}" for number in set(random.integers(0, 20_000, FEATURES).tolist())]


def rankings(random):
    return [load.post("/rank", encoded({"features": words(random)})) for _ in range(BODIES)]


def run(port, requests, connections, seconds):
    """Return the figures of so many connections; times are those of accepted rankings."""
    measured = load.run(port, requests, connections, seconds)
    shed = measured.statuses["503"]
    return {
        "connections": connections,
        "accepted/s": measured.rate,
        "shed/s": shed / measured.seconds,
        "p50 ms": measured.milliseconds(50),
        "p99 ms": measured.milliseconds(99),
        "longest ms": measured.milliseconds(100),
        "shed share": shed / measured.count,
        "closed": measured.statuses[load.CLOSED],
    }


if __name__ == "__main__":
    main()

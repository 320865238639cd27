import os

import pytest

from benchmarks import replicas
from benchmarks.lag import Lag
from benchmarks.process import own_process
from benchmarks.report import over_rounds
from benchmarks.serving import Instance

ROUND = {
    **{"events/s": 1000.0, "p50 ms": 1.0, "p99 ms": 2.0, "service µs/event": 50.0},
    **{"Redis µs/event": 5.0, "log bytes/event": 900.0, "events/append": 10.0, "failed": 0},
}


@pytest.fixture
def options(tmp_path):
    cores = sorted(os.sched_getaffinity(0))
    options = replicas.parser().parse_args(["--seconds", "0.3", "--rounds", "1"])
    options.server_core, options.load_core = cores[0], cores[-1]
    return options


@pytest.fixture
def kinds():
    instances = [Instance({f"f{n % 7}": 1.0, "all": 2.0}, [f"c{n % 3}"]) for n in range(150)]
    return replicas.kinds_of(instances)


def test_events_come_one_by_one_and_in_batches(kinds):
    single, batch = kinds

    assert (single.events, len(single.requests)) == (1, 150)
    assert (batch.events, len(batch.requests)) == (100, 2)
    assert batch.requests[0].count(b"classes") == 100


@pytest.mark.slow
def test_a_service_is_followed(tmp_path, options, kinds):
    """Both learn the same, and the figures add up."""
    with (
        own_process() as watcher,
        replicas.Redis(tmp_path, "always", options.load_core) as redis,
        replicas.service(redis.url, options.server_core) as server,
    ):
        setup = replicas.Setup("Redis", server, redis)
        learned = replicas.one_round(setup, kinds[1], 0.2)
        followed = replicas.follow_round(setup, watcher, kinds[0], 500.0, options)
        replicas.trim(setup)

    assert learned["failed"] == followed.leader["failed"] == 0
    assert learned["events/append"] >= 100
    assert learned["log bytes/event"] > 10
    lag = followed.lag
    assert len(lag.any) == len(lag.events) == len(lag.learned) + lag.refused > 0
    assert followed.leader["events/s"] * 0.3 <= 500 * 0.3 + 1
    assert min(followed.costs["leader MB"], followed.costs["follower MB"]) > 10


def test_learning_stands_beside_sqlite():
    faster = ROUND | {"events/s": 2000.0, "p99 ms": 1.0}

    sqlite, redis = replicas.learning_rows(
        {("single", "SQLite"): ROUND, ("single", "Redis, always"): faster}
    )

    assert (sqlite["x SQLite"], redis["x SQLite"]) == (1.0, 2.0)
    assert redis["p99 x SQLite"] == 0.5
    assert (sqlite["Redis µs/event"], redis["Redis µs/event"]) == (None, 5.0)


def test_figures_are_medians_and_failures_are_summed():
    rounds = [{"rate": 5, "failed": 1}, {"rate": 0, "failed": 0}, {"rate": 1, "failed": 2}]

    assert over_rounds(rounds) == {"rate": 1, "failed": 3}


def test_lag_and_cost_are_medians_of_rounds_and_the_most_is_that_of_all():
    def followed(milliseconds, behind):
        lag = Lag([each / 1e3 for each in milliseconds], [0.0001] * 3, behind)
        costs = {"follower µs/event": 20.0, "leader MB": 100.0, "follower MB": 90.0}
        return replicas.Followed(ROUND, costs, lag)

    rounds = [followed([1, 2, 3], [0, 1, 9]), followed([2, 4, 8], [0, 3, 5])]

    lag = replicas.lag_row("single", 900.0, rounds)
    alone, beside = replicas.cost_rows("single", [ROUND, ROUND], rounds)

    assert lag["seen p50 ms"] == pytest.approx(3)
    assert lag["most ms"] == pytest.approx(8)
    assert (lag["behind p50"], lag["behind most"]) == (2, 9)
    assert alone["follower µs/event"] is None
    assert beside["follower / leader"] == pytest.approx(0.4)

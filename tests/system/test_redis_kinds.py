"""Other kinds of Redis and their faults: a short version of load_tests/replicas.py."""

import pytest

from tests.redis_server import RedisServer
from tests.system.replicas import Run
from tests.system.scenarios import FAILOVER_SECONDS, SCENARIOS

pytestmark = pytest.mark.slow


def run_on(name, tmp_path, **settings):
    scenario = SCENARIOS[name]
    redis = scenario.make_redis(tmp_path / "redis")
    return Run(tmp_path, server=redis, pause=0.01, **{**scenario.settings, **settings})


def unbroken(run):
    """Return the facts of the run; assert that no promise was broken and events were learned."""
    run.compare()
    result = run.finish()
    assert result.broken == []
    assert result.facts["events acknowledged"] >= 50
    return result.facts


def some_events(run, number=50):
    known = len(run.record.acknowledged)
    run.wait_for("events", lambda: len(run.record.acknowledged) >= known + number)


@pytest.mark.parametrize("name", ["sentinel", "cluster"])
def test_failover(tmp_path, name):
    with run_on(name, tmp_path, store_seconds=5.0, snapshot_events=300) as run:
        run.start_callers()
        for _ in range(2):
            some_events(run)
            before = run.redis.writer()
            run.kill_redis(FAILOVER_SECONDS)
            assert run.redis.writer() is not before
        some_events(run)
        facts = unbroken(run)
    assert facts["ranked without Redis"] > 0


def test_redis_with_tls(tmp_path):
    with run_on("tls", tmp_path) as run:
        run.start_callers()
        some_events(run)
        run.kill_one()
        run.kill_redis(down=1)
        run.fault("cut", 0.5)
        some_events(run)
        unbroken(run)


def test_a_full_redis_makes_room_by_itself(tmp_path):
    with run_on("maxmemory", tmp_path) as run:
        with run.redis.client() as client:
            client.config_set("maxmemory", client.info("memory")["used_memory"] + 700_000)
        run.start_callers()
        run.wait_for("room", lambda: run.told()["made room in a full store"] >= 1)
        some_events(run, 20)
        with run.redis.client() as client:
            client.config_set("maxmemory", 0)  # eventually a snapshot is too large
        facts = unbroken(run)
    assert facts["replayed"][0]["from"] > 0


def test_keys_of_a_wrong_type(tmp_path):
    with run_on("wrong-type", tmp_path, snapshot_events=100) as run:
        run.start_callers()
        some_events(run)
        for place in range(9):
            run.wrong_type(place, 0.7)
        some_events(run)
        facts = unbroken(run)
    assert facts["done"]["wrong type"] >= 8


def test_foreign_entries_in_the_log(tmp_path):
    redis = RedisServer(tmp_path / "redis")
    with Run(tmp_path, server=redis, snapshot_events=100) as run:
        run.start_callers()
        run.every(0.02, run.add_foreign_entry)
        some_events(run)
        run.kill_one()
        run.kill_redis(down=0.5)
        some_events(run)
        facts = unbroken(run)
    assert facts["told"]["foreign entries skipped"] > 0
    assert facts["requests"]["learn"]["answers"]["200"] > 0

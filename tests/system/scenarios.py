"""Kinds of Redis, and the faults of each, while several processes are broken.

A scenario makes the Redis of a run and says what is done to that beside the rest.
"""

import itertools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redis import RedisError

from tests.redis_groups import ClusterGroup, SentinelGroup, TlsServer
from tests.redis_server import RedisServer

FAILOVER_SECONDS = 6.0  # a killed server stays away for so long; another takes over before
FULL_AT = "4mb"
ROOM_BYTES = 1_500_000  # that an operator gives a full server, now and then
NAME = "manyclass"  # of the service: its keys begin with it


@dataclass(frozen=True)
class Scenario:
    """A Redis, settings of the processes, and a trouble of its own, once in some seconds."""

    make_redis: Callable[[Path], Any]
    settings: dict[str, Any] = field(default_factory=dict)
    trouble: Callable[[Any], None] | None = None
    trouble_seconds: float = 0.0
    heal: Callable[[Any], None] = lambda run: None  # before a run ends
    by_proxy: bool = True  # processes reach Redis through proxies, whose network can fail


def wrong_types() -> Callable[[Any], None]:
    """Return a trouble: the next of our keys is of a wrong type for a while."""
    places = itertools.count()

    def trouble(run: Any) -> None:
        run.wrong_type(next(places), 2.0)

    return trouble


def give_room(run: Any, size: int | None) -> None:
    """Set `maxmemory` to so much more than is used; None: to no limit."""
    with suppress(RedisError), run.redis.client() as client:  # it may be away
        used = client.info("memory")["used_memory"]
        client.config_set("maxmemory", 0 if size is None else used + size)


SCENARIOS = {
    "chaos": Scenario(lambda folder: RedisServer(folder)),
    "sentinel": Scenario(
        SentinelGroup,
        trouble=lambda run: run.kill_redis(FAILOVER_SECONDS),
        trouble_seconds=20,
        by_proxy=False,
    ),
    "cluster": Scenario(
        ClusterGroup,
        trouble=lambda run: run.kill_redis(FAILOVER_SECONDS),
        trouble_seconds=20,
        by_proxy=False,
    ),
    "maxmemory": Scenario(
        lambda folder: RedisServer(folder, options=[f"--maxmemory {FULL_AT}"]),
        # Only a full Redis makes a snapshot. The state has to be smaller than the log it replaces,
        # though each event has a class of its own.
        {"snapshot_events": 0, "snapshot_seconds": 0, "learner": "ff"},
        trouble=lambda run: give_room(run, ROOM_BYTES),
        trouble_seconds=30,
        heal=lambda run: give_room(run, None),
    ),
    "tls": Scenario(TlsServer),
    "wrong-type": Scenario(
        lambda folder: RedisServer(folder), trouble=wrong_types(), trouble_seconds=7
    ),
    "foreign": Scenario(
        lambda folder: RedisServer(folder),
        trouble=lambda run: run.add_foreign_entry(),
        trouble_seconds=0.05,
    ),
}

"""Troubles of a run: processes are killed or frozen, Redis goes away, the network fails."""

import time
from contextlib import contextmanager, suppress

import redis

from tests.system.proxy import PASS, Settings

LEASE_SECONDS = 10
LONG_ENOUGH = 3  # seconds in which a process must have ranked


class Troubles:
    """The part of a run that breaks its processes, their Redis and the network between them."""

    def kill_one(self, down=0.0):
        """SIGKILL to a process that serves; it is started again `down` seconds later."""
        replica = self._one_serving()
        with replica.lock:
            if replica.serving:
                replica.kill()
                self.ending.wait(down)
                replica.bring_up()

    def _one_serving(self):
        serving = [replica for replica in self.replicas if replica.serving]
        return self.random.choice(serving or self.replicas)

    def freeze_one(self, seconds=LEASE_SECONDS + 2):
        """Stop a process for longer than a lease lasts."""
        replica = self._one_serving()
        with replica.lock:
            if replica.serving:
                replica.freeze()
                self.ending.wait(seconds)
                replica.thaw()

    def kill_redis(self, down=1.0, refuse=False):
        """SIGKILL to Redis, which is away for so long. With `refuse` its port is closed meanwhile,
        as on a machine that is down; else connections are accepted and closed.
        """
        if refuse:
            self._all_proxies(Settings(accept=False))
        self.record.trouble("kill redis")
        ranked = self.record.answers["rank", 200]
        began = time.monotonic()
        self.redis.kill()
        try:
            self.ending.wait(down)
            ranked = self.record.answers["rank", 200] - ranked
            self.ranked_without_redis += ranked
            if down >= LONG_ENOUGH and not ranked and self.callers and not self.ending.is_set():
                self.record.break_promise(f"nobody could rank in {down} s without Redis")
        finally:
            self.redis.start()
            self.down.append((began, time.monotonic()))
            if refuse:
                self._all_proxies(PASS)
        self.record.trouble("redis started")

    @contextmanager
    def redis_paused(self):
        """Stop Redis meanwhile, its connections open."""
        self.record.trouble("pause redis")
        self.redis.pause()
        try:
            yield
        finally:
            self.redis.resume()
            self.record.trouble("redis resumed")

    def wrong_type(self, place, seconds):
        """Give a key of the service, one after the other by `place`, a value of another type."""
        with self.redis.client() as client:
            keys = sorted(key.decode() for key in client.keys("{manyclass}:*") if _is_named(key))
            key = keys[place % len(keys)]
            aside = f"aside:{key}"
            with client.pipeline() as changes:
                changes.rename(key, aside)
                changes.set(key, "wrong") if client.type(key) != b"string" else changes.lpush(
                    key, "wrong"
                )
                try:
                    changes.execute()
                except redis.ResponseError:  # it expired a moment ago
                    return
            self.record.trouble("wrong type", key.partition(":")[2].partition(":")[0])
            try:
                self.ending.wait(seconds)
            finally:
                with client.pipeline() as changes:
                    changes.delete(key)
                    if client.exists(aside):  # a lease may have expired there
                        changes.rename(aside, key)
                    changes.execute()
            self.record.trouble("type is right")

    def add_foreign_entry(self):
        """Add a foreign entry to the log; Redis may be away."""
        with suppress(redis.RedisError), self.redis.client() as client:
            client.xadd("{manyclass}:events", {"mine": self.record.now()}, nomkstream=True)
            self.record.done["foreign entry"] += 1

    def fault(self, name, seconds, replica=None):
        """Break the network of one process for so long."""
        replica = replica or self.random.choice(self.replicas)
        with replica.network, replica.fault(name):
            self.ending.wait(seconds)

    def _all_proxies(self, settings):
        for replica in self.replicas:
            replica.proxy.settings = settings


def _is_named(key):
    """Return whether a key is neither part of a snapshot nor a message."""
    return b":chunk:" not in key and b":mail:" not in key

"""The durability of an answer of 200, by the persistence settings of the Redis server."""

from redis.exceptions import ResponseError

from manyclass.service.store.redis.link import Link
from manyclass.service.store.redis.server import Info

UNKNOWN = "not known before the Redis server has answered"


def describe_durability(link: Link, info: Info, replicas: int) -> str:
    """Return the description for /stats. Raises RedisError."""
    parts = [_on_disk(link, info)]
    connected = int(info.get("connected_slaves", "0"))
    if replicas:
        parts.append(f"received by {_replicas(replicas)} before the answer")
    elif connected:
        parts.append(
            f"{_replicas(connected)} may lag behind: a failover can lose the newest answers"
        )
    least = _setting(link, "min-replicas-to-write")
    if least not in (None, "0"):
        parts.append(f"learning is paused with fewer than {_replicas(int(least or 0))} connected")
    return "; ".join(parts)


def _on_disk(link: Link, info: Info) -> str:
    if info.get("aof_enabled") != "1":
        return "in the memory of Redis: when its process ends, answers since its last dump are lost"
    sync = _setting(link, "appendfsync")
    if sync == "always":
        return "on the disk of Redis before the answer (appendonly yes, appendfsync always)"
    kept = "in the append-only file of Redis: when its machine goes down, "
    if sync == "everysec":
        return f"{kept}up to two seconds of answers are lost (appendfsync everysec)"
    if sync == "no":
        return f"{kept}answers that its system had not written are lost (appendfsync no)"
    return f"{kept}an unknown number of answers is lost (appendfsync cannot be read)"


def _setting(link: Link, name: str) -> str | None:
    """Return a setting of the server; None if CONFIG is forbidden, as on many rented servers."""
    try:
        answer = link.call("CONFIG", "GET", name)
    except ResponseError:
        return None
    return answer[1].decode() if len(answer) == 2 else None


def _replicas(number: int) -> str:
    return "a replica" if number == 1 else f"{number} replicas"

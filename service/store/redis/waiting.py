"""The waiting instances of a Redis store, and their leases, for all processes."""

from collections.abc import Collection, Iterable, Mapping

from manyclass.service.store.redis.session import Session
from manyclass.service.store.waiting import Item, parts

MOST_IDS = 200  # in a command


class RedisWaiting:
    """Two hashes, of heads and of bodies, and a key for each lease, which ends by itself."""

    is_shared = True

    def __init__(self, session: Session) -> None:
        self._session = session
        self._keys = session.keys

    def heads(self) -> dict[str, bytes]:
        flat = self._session.call("HGETALL", self._keys.waiting_heads)
        ids = (each.decode() for each in flat[::2])
        return dict(zip(ids, flat[1::2], strict=True))

    def items(self, ids: Collection[str]) -> dict[str, Item]:
        found: dict[str, Item] = {}
        for some in parts(list(ids), MOST_IDS):
            heads = self._session.call("HMGET", self._keys.waiting_heads, *some)
            bodies = self._session.call("HMGET", self._keys.waiting, *some)
            for each, head, body in zip(some, heads, bodies, strict=True):
                if head and body:
                    found[each] = Item(head, body)
        return found

    def put(self, items: Mapping[str, Item]) -> None:
        for some in parts(list(items), MOST_IDS):  # bodies first: an instance has its head last
            bodies = [part for each in some for part in (each, items[each].body)]
            heads = [part for each in some for part in (each, items[each].head)]
            self._session.call("HSET", self._keys.waiting, *bodies)
            self._session.call("HSET", self._keys.waiting_heads, *heads)

    def remove(self, ids: Collection[str]) -> None:
        for some in parts(list(ids), MOST_IDS):
            self._session.call("HDEL", self._keys.waiting_heads, *some)
            self._session.call("HDEL", self._keys.waiting, *some)
            self._session.call("DEL", *map(self._keys.lease_of, some))

    def lease(self, ids: Iterable[str], owner: str, seconds: float, most: int) -> list[str]:
        granted: list[str] = []
        end = ("PX", int(1000 * seconds))
        for each in ids:
            if len(granted) == most:
                break
            key = self._keys.lease_of(each)
            is_new = self._session.call("SET", key, owner, "NX", *end)
            if not is_new and self._session.call("GET", key) != owner.encode():
                continue
            if not is_new:
                self._session.call("SET", key, owner, *end)
            granted.append(each)
        return granted

    def release(self, ids: Collection[str], owner: str) -> None:
        for key in map(self._keys.lease_of, ids):
            if self._session.call("GET", key) == owner.encode():
                self._session.call("DEL", key)

    def close(self) -> None:
        """Do nothing: the store closes the connections."""

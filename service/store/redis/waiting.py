"""The waiting instances of a Redis store, and their leases, for all processes."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from manyclass.service.store.redis.scripts import (
    END_WAITING_LEASES,
    LEASE_WAITING,
    PUT_WAITING,
    RELEASE_WAITING,
    REMOVE_WAITING,
)
from manyclass.service.store.redis.session import Session
from manyclass.service.store.waiting import TRIAL_BYTES, Item, parts

MOST_IDS = 200  # in a command


class RedisWaiting:
    """Two hashes, of heads and of bodies, and a key for each lease, which ends by itself.

    A script changes some instances at once: no process sees a head without its body, and no two
    processes lease the same instance.
    """

    is_shared = True
    is_durable = True

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
        for some in parts(list(items), MOST_IDS):
            rows = [part for each in some for part in (each, items[each].head, items[each].body)]
            self._session.run(PUT_WAITING, *rows)

    def check_put(self) -> None:
        # The lease of no instance: it is refused as a put is, and ends by itself.
        self._session.call("SET", self._keys.lease_of(""), bytes(TRIAL_BYTES), "PX", 1)

    def remove(self, ids: Collection[str]) -> None:
        for some in parts(list(ids), MOST_IDS):
            self._session.run(REMOVE_WAITING, *some, more_keys=self._leases(some))

    def lease(self, ids: Iterable[str], owner: str, seconds: float, most: int) -> list[str]:
        granted: list[str] = []
        for some in parts(list(ids), MOST_IDS):
            if len(granted) == most:
                break
            granted += self._leased(some, owner, seconds, most - len(granted), "free")
        return granted

    def renew(self, ids: Iterable[str], owner: str, seconds: float) -> list[str]:
        every = parts(list(ids), MOST_IDS)
        return [
            each for some in every for each in self._leased(some, owner, seconds, len(some), "held")
        ]

    def release(self, ids: Collection[str], owner: str) -> None:
        for some in parts(list(ids), MOST_IDS):
            self._session.run(RELEASE_WAITING, owner, more_keys=self._leases(some))

    def end_leases(self, ids: Collection[str]) -> None:
        for some in parts(list(ids), MOST_IDS):
            self._session.run(END_WAITING_LEASES, more_keys=self._leases(some))

    def clear(self) -> bool:
        return bool(self._session.call("DEL", self._keys.waiting, self._keys.waiting_heads))

    def _leased(
        self, ids: Sequence[str], owner: str, seconds: float, most: int, which: str
    ) -> list[str]:
        """Lease instances that are `held` by the owner, or those and `free` ones; return them."""
        answer = self._session.run(
            LEASE_WAITING, owner, int(1000 * seconds), most, which, more_keys=self._leases(ids)
        )
        return [ids[position - 1] for position in answer]

    def _leases(self, ids: Sequence[str]) -> list[str]:
        return [self._keys.lease_of(each) for each in ids]

    def close(self) -> None:
        """Do nothing: the store closes the connections."""

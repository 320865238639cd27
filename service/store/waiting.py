"""The part of a store that keeps the instances that wait for review, and who reviews them now."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from threading import Lock
from typing import Final, NamedTuple, Protocol, cast

MOST_LEASES: Final = 10_000  # beyond, ended ones are dropped
TRIAL_BYTES: Final = 4096  # of an instance that is written on trial


class Item(NamedTuple):
    """A waiting instance as bytes: what is needed to choose among all, and all the rest."""

    head: bytes
    body: bytes


class WaitingStore(Protocol):
    """Keeps waiting instances by their ids. Any thread may call it at any time. Raises StoreError.

    A lease is a promise to one owner that no other owner gets an instance. It ends by itself.
    """

    @property
    def is_shared(self) -> bool:
        """True if other processes change the same instances."""

    @property
    def is_durable(self) -> bool:
        """True if instances outlive the process."""

    def heads(self) -> dict[str, bytes]:
        """Return the heads of all instances."""

    def items(self, ids: Collection[str]) -> dict[str, Item]:
        """Return the instances of these ids; a missing one is left out."""

    def put(self, items: Mapping[str, Item]) -> None:
        """Keep the instances durably, in place of former ones of the same ids."""

    def check_put(self) -> None:
        """Raise the error that `put` would meet now; nothing is kept."""

    def remove(self, ids: Collection[str]) -> None:
        """Remove instances and their leases, and leave no bytes of them."""

    def lease(self, ids: Iterable[str], owner: str, seconds: float, most: int) -> list[str]:
        """Lease the first `most` of the instances that no other owner has; renew those held."""

    def renew(self, ids: Iterable[str], owner: str, seconds: float) -> list[str]:
        """Renew the leases of an owner that have not ended; return their instances."""

    def release(self, ids: Collection[str], owner: str) -> None:
        """End the leases of an owner."""

    def end_leases(self, ids: Collection[str]) -> None:
        """End the leases of instances, of any owner."""

    def clear(self) -> bool:
        """Remove all instances, also damaged ones; return whether there were any."""

    def close(self) -> None:
        """Release the store. Further calls have no effect."""


class MemoryLeases:
    """The leases of a store that one process uses; they end with the process."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._leases: dict[str, tuple[str, float]] = {}  # id -> owner, and the end of the lease
        self._leasing = Lock()

    def lease(self, ids: Iterable[str], owner: str, seconds: float, most: int) -> list[str]:
        now = self._clock()
        granted: list[str] = []
        with self._leasing:
            for each in ids:
                if len(granted) == most:
                    break
                held, until = self._leases.get(each, (owner, 0.0))
                if held == owner or until <= now:
                    self._leases[each] = owner, now + seconds
                    granted.append(each)
            if len(self._leases) > MOST_LEASES:
                ended = [each for each, (_, until) in self._leases.items() if until <= now]
                for each in ended:
                    del self._leases[each]
        return granted

    def renew(self, ids: Iterable[str], owner: str, seconds: float) -> list[str]:
        now = self._clock()
        renewed: list[str] = []
        with self._leasing:
            for each in ids:
                held, until = self._leases.get(each, ("", 0.0))
                if held == owner and until > now:
                    self._leases[each] = owner, now + seconds
                    renewed.append(each)
        return renewed

    def end_leases(self, ids: Collection[str]) -> None:
        with self._leasing:
            for each in ids:
                self._leases.pop(each, None)

    def release(self, ids: Collection[str], owner: str) -> None:
        with self._leasing:
            for each in ids:
                if self._leases.get(each, ("", 0.0))[0] == owner:
                    del self._leases[each]


class MemoryWaiting(MemoryLeases):
    """Waiting instances that last as long as their process."""

    is_shared = False
    is_durable = False

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self._items: dict[str, Item] = {}

    def heads(self) -> dict[str, bytes]:
        return {each: item.head for each, item in list(self._items.items())}

    def items(self, ids: Collection[str]) -> dict[str, Item]:
        found = ((each, self._items.get(each)) for each in ids)
        return {each: item for each, item in found if item is not None}

    def put(self, items: Mapping[str, Item]) -> None:
        self._items.update(items)

    def check_put(self) -> None:
        """Do nothing: there is room while the process has memory."""

    def remove(self, ids: Collection[str]) -> None:
        for each in ids:
            self._items.pop(each, None)
        self.end_leases(ids)

    def clear(self) -> bool:
        had = bool(self._items)
        self._items.clear()
        return had

    def close(self) -> None:
        """Do nothing: the memory is freed with the object."""


def waiting_of(store: object, clock: Callable[[], float]) -> WaitingStore:
    """Return the waiting instances of a store; they are in memory if it keeps none."""
    opened = getattr(store, "open_waiting", None)
    if opened is None:
        return MemoryWaiting(clock)
    return cast(Callable[[Callable[[], float]], WaitingStore], opened)(clock)


def parts(ids: Sequence[str], most: int) -> Iterable[Sequence[str]]:
    """Yield the ids in parts of at most so many."""
    return (ids[at : at + most] for at in range(0, len(ids), most))

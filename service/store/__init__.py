"""Where events and snapshots are kept: one interface, several stores, chosen by a URL."""

from collections.abc import Callable
from pathlib import Path

from service.store.memory import MemoryStore
from service.store.protocol import Store, StoreError
from service.store.sqlite import SqliteStore


def open_store(url: str, clock: Callable[[], float]) -> Store:
    """The store that `url` names: `sqlite:PATH` or `memory:`; a new one where there is none."""
    kind, _, place = url.partition(":")
    if kind == "memory" and url == "memory:":
        return MemoryStore(clock)
    if kind == "sqlite" and place and place != ":memory:":
        return SqliteStore(Path(place), clock)
    raise StoreError(f"{url!r} is not a store", "STORE is sqlite:PATH or memory:")

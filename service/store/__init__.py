"""Stores of events and snapshots: one interface, several stores, chosen by a URL."""

from collections.abc import Callable
from pathlib import Path

from manyclass.service.store.archive import open_archive
from manyclass.service.store.errors import StoreError, StoreMissing
from manyclass.service.store.home import expanded
from manyclass.service.store.memory import MemoryStore
from manyclass.service.store.passwords import without_passwords
from manyclass.service.store.protocol import Store
from manyclass.service.store.redis.url import is_redis
from manyclass.service.store.sqlite.opening import refuse_missing
from manyclass.service.store.sqlite.store import SqliteStore


def open_store(
    url: str,
    clock: Callable[[], float],
    patience: float = 5.0,
    make_new: bool = True,
    salvage: bool = False,
    archive: str | None = None,
) -> Store:
    """Open the store of a URL: `sqlite:PATH`, `redis://...` and its variants, or `memory:`.

    Create a missing store, or raise StoreMissing without `make_new`. A call to a store on another
    machine fails after about `patience` seconds. `archive` is the URL of the place where a store in
    Redis keeps its history; other stores keep it themselves.
    """
    if is_redis(url):
        # Imported here: the client of Redis takes a tenth of a second, which each start would pay.
        from manyclass.service.store.redis.store import RedisStore

        kept = None if archive is None else open_archive(archive)
        return RedisStore(url, clock, patience, make_new=make_new, archive=kept)
    if url == "memory:":
        return MemoryStore(clock)
    if (path := sqlite_path(url)) is not None:
        if not make_new and not path.exists():
            refuse_missing(path)
            raise StoreMissing(f"there is no store {url}", "see whether the path is right")
        return SqliteStore(path, clock, salvage)
    raise StoreError(
        f"{without_passwords(url)!r} is not a store",
        "MANYCLASS_STORE is sqlite:PATH, redis://HOST:PORT/DB or memory:",
    )


def sqlite_path(url: str) -> Path | None:
    """Return the file that `url` names, None unless it is the URL of a SQLite store; StoreError."""
    kind, _, place = url.partition(":")
    if kind != "sqlite" or not place or place == ":memory:":
        return None
    try:
        return expanded(place)
    except ValueError as error:
        raise StoreError(f"the store {url} cannot be found", str(error)) from error

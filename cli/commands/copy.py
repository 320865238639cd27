"""manyclass copy: copy a store to a new one."""

import os
import time
from contextlib import closing
from typing import Annotated

import typer

from manyclass.cli.connection import FAILED, complain
from manyclass.cli.paths import path_of
from manyclass.cli.run_summary import counted
from manyclass.service.errors import with_hint
from manyclass.service.store import open_store
from manyclass.service.store.copy import copy as copy_store
from manyclass.service.store.errors import StoreError
from manyclass.service.store.protocol import StoredState
from manyclass.service.store.redis.url import ARCHIVE, is_redis
from manyclass.service.store.snapshot_file import SnapshotFile


def copy(
    source: Annotated[
        str,
        typer.Argument(
            help="The store to read, in the form of MANYCLASS_STORE, or file:PATH for a state that"
            " `manyclass snapshot save` wrote."
        ),
    ],
    target: Annotated[str, typer.Argument(help="The new store to write.")],
) -> None:
    """Copy a store: snapshots, the events after the oldest one, the history, the queue of review.

    No service may write to either store meanwhile. A service on the target continues where the
    service on the source stopped. Instances wait for review there as before; only leases end. A
    file of `manyclass snapshot save` has the state alone. MANYCLASS_ARCHIVE names the archive of a
    store in Redis; without it, a store in Redis has no history.
    """
    try:
        with (
            closing(_open_source(source)) as reading,
            closing(open_store(target, time.time, archive=_archive_of(target))) as writing,
        ):
            copied = copy_store(reading, writing, lambda what: typer.echo(what, err=True))
    except StoreError as error:
        complain(f"the store was not copied: {with_hint(error)}")
        raise typer.Exit(FAILED) from error
    waiting = counted(copied.waiting, "instance")
    typer.echo(f"copied up to event {copied.last_seq}, with {waiting} of the queue of review")


def _open_source(source: str) -> StoredState:
    kind, _, place = source.partition(":")
    if kind == "file":
        return SnapshotFile(path_of(place))
    archive = _archive_of(source)
    return open_store(source, time.time, make_new=False, salvage=True, archive=archive)


def _archive_of(store: str) -> str | None:
    return os.environ.get(ARCHIVE) if is_redis(store) else None

"""manyclass copy: what one store holds, to another."""

import time
from contextlib import closing
from typing import Annotated

import typer

from service.store import open_store
from service.store.copy import copy as copy_store
from service.store.protocol import StoreError
from service.writer import with_hint

FAILED = 1


def copy(
    source: Annotated[str, typer.Argument(help="The store to read, as STORE has it.")],
    target: Annotated[str, typer.Argument(help="The store to write, a new one.")],
) -> None:
    """Copy a store: its snapshots, and the events behind the oldest of them.

    No service may use either meanwhile. A service that is started on the target goes on where the
    one on the source stopped.
    """
    try:
        with (
            closing(open_store(source, time.time)) as reading,
            closing(open_store(target, time.time)) as writing,
        ):
            last = copy_store(reading, writing, lambda what: typer.echo(what, err=True))
    except StoreError as error:
        typer.echo(f"the store was not copied: {with_hint(error)}", err=True)
        raise typer.Exit(FAILED) from error
    typer.echo(f"copied up to event {last}")

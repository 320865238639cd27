"""manyclass store: repair the files of a store that no service uses."""

from typing import Annotated

import typer

from manyclass.cli.connection import FAILED, complain
from manyclass.service.log.group_commit import with_hint
from manyclass.service.store import sqlite_path
from manyclass.service.store.protocol import StoreError
from manyclass.service.store.sqlite.store import accept_store

app = typer.Typer(help="Look after a store that no service uses.")


@app.callback()
def store() -> None:
    """Look after a store that no service uses."""


@app.command()
def accept(
    store: Annotated[
        str,
        typer.Argument(help="the store, as MANYCLASS_STORE: sqlite:PATH", metavar="URL"),
    ],
) -> None:
    """Go on with what a store holds, though it is less than was acknowledged.

    For a backup that is to take the place of a newer store: the service refuses to start on it,
    for it cannot tell a backup from a loss. Events behind the last one in the store are given up,
    and their numbers are given again.
    """
    path = sqlite_path(store)
    if path is None:
        raise typer.BadParameter(f"{store!r} is not sqlite:PATH; no other store needs this")
    if not path.exists():
        complain(f"there is no store {store}")
        raise typer.Exit(FAILED)
    try:
        accepted = accept_store(path)
    except StoreError as error:
        complain(f"the store was not accepted: {with_hint(error)}")
        raise typer.Exit(FAILED) from error
    typer.echo(f"{store} is accepted as it is, up to event {accepted.last_seq}")
    if accepted.marked_seq is None:
        typer.echo("which event was acknowledged last is not known: there was no mark of it")
    elif accepted.marked_seq > accepted.last_seq:
        first, last = accepted.last_seq + 1, accepted.marked_seq
        typer.echo(f"acknowledged and given up: events {first} to {last}")

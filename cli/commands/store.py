"""manyclass store: manage the files of a store that no service uses."""

from typing import Annotated

import typer

from manyclass.cli.connection import FAILED, complain
from manyclass.service.errors import with_hint
from manyclass.service.store import sqlite_path
from manyclass.service.store.errors import StoreError
from manyclass.service.store.passwords import without_passwords
from manyclass.service.store.sqlite.store import accept_store

app = typer.Typer(help="Manage a store that no service uses.")


@app.callback()
def store() -> None:
    """Manage a store that no service uses."""


@app.command()
def accept(
    store: Annotated[
        str,
        typer.Argument(help="The store, written as in MANYCLASS_STORE: sqlite:PATH", metavar="URL"),
    ],
) -> None:
    """Accept a store that holds fewer events than were acknowledged.

    Use it for a backup that replaces a newer store. The service refuses to start on one, because it
    cannot distinguish a backup from a loss. Events after the last one in the store are given up,
    and their numbers are used again.
    """
    try:
        path = sqlite_path(store)
        if path is None:
            shown = without_passwords(store)
            raise typer.BadParameter(f"{shown!r} is not sqlite:PATH; no other store needs this")
        if not path.exists():
            complain(f"there is no store {store}")
            raise typer.Exit(FAILED)
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

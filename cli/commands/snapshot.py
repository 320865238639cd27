"""manyclass snapshot: list, take, save and restore the states of a running service."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from manyclass.cli.atomic_write import atomic_write, check_target, shown
from manyclass.cli.connection import FAILED, URL, Key, Url, complain, connected
from manyclass.cli.paths import path_of
from manyclass.client.types import Snapshot

app = typer.Typer(help="List, take, save and restore snapshots of a running service.")


@app.command("list")
def list_snapshots(url: Url = URL, key: Key = None) -> None:
    """Print the snapshots, newest first.

    Each line has the number of the last event in the snapshot, its bytes, and its time.
    """
    with connected(url, key) as client:
        for snapshot in client.snapshots():
            _print(snapshot)


@app.command()
def take(url: Url = URL, key: Key = None) -> None:
    """Take a snapshot of the present state, in the store."""
    with connected(url, key) as client:
        _print(client.take_snapshot())


@app.command()
def save(
    file: Annotated[
        Path,
        typer.Argument(
            parser=path_of,
            help="The file to write or replace; - is standard output.",
            metavar="FILE",
        ),
    ],
    url: Url = URL,
    key: Key = None,
) -> None:
    """Write the present state to a file.

    This does not use the store, so it works while the store is unreachable or lost. `manyclass copy
    file:FILE TARGET` makes a store from the file.
    """
    check_target(file, "FILE", "bytes")
    try:
        with connected(url, key) as client, atomic_write(file) as written:
            size = client.save_state(written)
    except OSError as error:
        reason = error.strerror or error  # without the name of the temporary file
        complain(f"{shown(file)} cannot be written: {reason}")
        raise typer.Exit(FAILED) from error
    typer.echo(f"{size} bytes in {shown(file)}", err=True)


@app.command()
def restore(
    seq: Annotated[int, typer.Argument(help="The number of the snapshot, from `list`.", min=0)],
    url: Url = URL,
    key: Key = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Restore a snapshot, without a restart.

    Events learned after the snapshot no longer count.
    """
    with connected(url, key) as client:
        if not yes:
            question = f"Restore the state after event {seq} at {client.url}?"
            typer.confirm(question, abort=True)
        mark = client.restore(seq)
    typer.echo(f"snapshot {seq} is restored, by event {mark} of the log")


def _print(snapshot: Snapshot) -> None:
    taken = datetime.fromtimestamp(snapshot.taken_at, UTC)
    typer.echo(f"{snapshot.seq}\t{snapshot.bytes}\t{taken:%Y-%m-%d %H:%M:%S} UTC")

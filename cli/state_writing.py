"""Writes a state that a command made, to a file or a new store, for a service to start from."""

import shlex
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from manyclass.cli.atomic_write import atomic_write, check_target, shown
from manyclass.cli.connection import FAILED, complain
from manyclass.cli.paths import STANDARD_OUTPUT, path_of
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.model import Model
from manyclass.service.errors import with_hint
from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreError, StoreMissing
from manyclass.service.store.protocol import Store

OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        parser=path_of,
        help="A file for the state, as `manyclass snapshot save` writes one.",
        metavar="FILE",
        show_default=False,
    ),
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="A new store for a service, as MANYCLASS_STORE has it.",
        metavar="URL",
        show_default=False,
    ),
]


def serving(options: Options, out: Path | None, store: str | None) -> str:
    """Return the command that serves the trained model; a start with other options is refused."""
    learner = options.full_specification
    flags = ["--learner", learner] if learner != DEFAULT_LEARNER else []
    place = store or "sqlite:NEW.db"
    said = shlex.join(["manyclass", "serve", "--store", place, *flags])
    if store is None:
        file = "FILE" if out == STANDARD_OUTPUT else out
        said = shlex.join(["manyclass", "copy", f"file:{file}", place]) + " && " + said
    return said


def check_targets(out: Path | None, store: str | None) -> None:
    """End the command, before its work begins, when the state could not be written."""
    if out is None and store is None:
        raise typer.BadParameter("name a place to write to: --out FILE, --store URL or both")
    check_target(out, "--out", "bytes")
    if store is not None:  # a run that ends before it has anything to write makes none
        _to_store(store, _check_empty, make_new=False)


def write(model: Model, out: Path | None, store: str | None) -> None:
    """Write the state to a file, a new store, or both; end the command where that fails."""
    if out is not None:
        typer.echo(
            f"{_to_file(model, out)} bytes in {shown(out)}", err=True
        )  # it may be standard output
    if store is not None:
        _to_store(store, partial(_save, model))


def _to_file(model: Model, out: Path) -> int:
    """Write the whole file or nothing; return its size."""
    try:
        with atomic_write(out) as file:
            return sum(file.write(piece) for piece in model.dump())
    except OSError as error:
        complain(f"{shown(out)} cannot be written: {error}")
        raise typer.Exit(FAILED) from error


def _to_store(url: str, use: Callable[[Store], None], make_new: bool = True) -> None:
    """Use the store; without `make_new`, only if it exists."""
    try:
        with closing(open_store(url, time.time, make_new=make_new)) as opened:
            use(opened)
    except StoreMissing:
        pass  # without `make_new`
    except StoreError as error:
        complain(f"the store cannot be written: {with_hint(error)}")
        raise typer.Exit(FAILED) from error


def _check_empty(store: Store) -> None:
    if store.last_seq or store.snapshots():
        raise StoreError("it is not empty", "name a new one")


def _save(model: Model, store: Store) -> None:
    _check_empty(store)
    info = store.save_snapshot(model.seq, model.dump())
    typer.echo(f"{info.bytes} bytes in the store, as the state after event {info.seq}")

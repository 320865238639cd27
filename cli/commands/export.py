"""manyclass export: print an index as readable text."""

import os
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import typer

from manyclass.cli.connection import FAILED, complain
from manyclass.core.errors import RulesDiffer, SnapshotError
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.service.errors import RecoveryError, with_hint
from manyclass.service.log.recovery import Recovery, recover
from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreError
from manyclass.training.listing import json_of, text_of

READ_BYTES = 2**20


def export(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A file that `manyclass train --out` or `manyclass snapshot save` wrote.",
            metavar="[FILE]",
            show_default=False,
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            help="The store of a stopped service, written as in MANYCLASS_STORE.",
            metavar="URL",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        Literal["text", "jsonl"], typer.Option(help="Lines of fields, or of JSON.")
    ] = "text",
) -> None:
    """Print every class, feature and edge of an index, in the order of the names.

    For a running service, export the file that `manyclass snapshot save` writes. Only the primary
    learner is printed, not the shadows.
    """
    if (file is None) == (store is None):
        raise typer.BadParameter("name one thing to read: a FILE or --store URL")
    model = _of_file(file) if file is not None else _of_store(str(store))
    lines = text_of(model.learner) if format == "text" else json_of(model.learner)
    try:
        sys.stdout.buffer.writelines(f"{line}\n".encode() for line in lines)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # Python would flush the unwritten rest at exit, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        complain(f"standard output cannot be written: {error.strerror or error}")
        raise typer.Exit(FAILED) from error


def _of_file(file: Path) -> Model:
    try:
        with file.open("rb") as opened:
            return Model.load(iter(lambda: opened.read(READ_BYTES), b""))
    except OSError as error:
        complain(f"{file} cannot be read: {error}")
        raise typer.Exit(FAILED) from error
    except (RulesDiffer, SnapshotError) as error:
        complain(f"{file}: {error}")
        raise typer.Exit(FAILED) from error


def _of_store(url: str) -> Model:
    """Restore the state after the last event, without writing to the store."""
    try:
        with closing(open_store(url, time.time, make_new=False)) as opened:
            if not opened.snapshots():
                raise StoreError("the store holds no snapshot", "name the store of a service")
            return recover(opened, ModelSet(Options()), time.monotonic, Recovery())
    except (StoreError, RecoveryError) as error:
        complain(with_hint(error))
        raise typer.Exit(FAILED) from error

"""manyclass export: print an index as readable text, or the events of a history."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from manyclass.cli.atomic_write import atomic_write, check_target
from manyclass.cli.connection import FAILED, URL, Key, Url, complain, connected
from manyclass.cli.event_table import EVENT_COLUMNS, cells_of_event
from manyclass.cli.history_export import events_of_service, events_of_store
from manyclass.cli.paths import path_of
from manyclass.cli.run_summary import counted
from manyclass.cli.table_writers import TABLES, Bom, writer_of
from manyclass.client.types import TaughtEvent
from manyclass.core.errors import RulesDiffer, SnapshotError
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.service.errors import HistoryOff, RecoveryError, with_hint
from manyclass.service.log.recovery import Recovery, recover
from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreError
from manyclass.service.store.protocol import Store
from manyclass.service.store.redis.url import ARCHIVE, is_redis
from manyclass.training.listing import json_of, text_of

READ_BYTES = 2**20


def export(
    file: Annotated[
        Path | None,
        typer.Argument(
            parser=path_of,
            help="A file that `manyclass train --out` or `manyclass snapshot save` wrote.",
            metavar="[FILE]",
            show_default=False,
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            help="The store of a stopped service, in the form of MANYCLASS_STORE.",
            metavar="URL",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        Literal["text", "jsonl"], typer.Option(help="The format of the lines.")
    ] = "text",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=path_of,
            help="With --events: write a table to this file, named .xlsx, .csv or .tsv.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    bom: Bom = False,
    events: Annotated[
        bool,
        typer.Option(
            "--events",
            help="Print the events of the history of the service at --url, or of --store.",
        ),
    ] = False,
    url: Url = URL,
    key: Key = None,
) -> None:
    """Print every class, feature and edge of an index, in the order of the names. A class with only
    a description or vectors is printed too.

    For a running service, export the file that `manyclass snapshot save` writes. Only the primary
    learner is printed, not the shadows.

    With --events, print the learned events, oldest first and with their corrected classes, as lines
    of JSON that `manyclass learn` and `manyclass train` read, or with --out as a table, in which
    several classes of an event are divided by a semicolon.
    """
    if events:
        if file is not None:
            raise typer.BadParameter("a FILE has no events; name --store URL or --url URL")
        if out is None:
            _print_events(store, url, key, _write_lines)
        else:
            _check_table(out)
            _print_events(store, url, key, partial(_write_table, out, bom))
        return
    if out is not None or bom:
        raise typer.BadParameter("a table has events: add --events", param_hint="--out")
    if (file is None) == (store is None):
        raise typer.BadParameter("name either a FILE or --store URL")
    model = _of_file(file) if file is not None else _of_store(str(store))
    lines = text_of(model) if format == "text" else json_of(model)
    _write(f"{line}\n".encode() for line in lines)


def _print_events(
    store: str | None, url: str, key: str | None, write: Callable[[Iterable[TaughtEvent]], None]
) -> None:
    if store is not None:
        with _opened(store) as opened:
            write(_counted(events_of_store(opened)))
        return
    with connected(url, key) as client:
        write(_counted(events_of_service(client)))


def _write_lines(events: Iterable[TaughtEvent]) -> None:
    _write(msgspec.json.encode(event.body()) + b"\n" for event in events)


def _check_table(out: Path) -> None:
    check_target(out, "--out")
    if out.suffix.lower() not in TABLES:
        raise typer.BadParameter(f"name it {', '.join(TABLES)}", param_hint="--out")


def _write_table(out: Path, bom: bool, events: Iterable[TaughtEvent]) -> None:
    """Write a table of events, which replaces a former file at the end."""
    delimiter = "\t" if out.suffix.lower() == ".tsv" else ","
    try:
        with atomic_write(out) as opened:
            table = writer_of(out, opened, lambda: delimiter, bom, ["weight", "rank_before"])
            table.write(EVENT_COLUMNS)
            for event in events:
                table.write(cells_of_event(event))
            table.end()
    except OSError as error:
        complain(f"{out} cannot be written: {error.strerror or error}")
        raise typer.Exit(FAILED) from error


def _counted(events: Iterable[TaughtEvent]) -> Iterator[TaughtEvent]:
    """Yield the events; at the end print the first number and the count."""
    first, count = 0, 0
    for event in events:
        first, count = first or event.seq, count + 1
        yield event
    begins = f", from event {first} of the log on" if count else ""
    typer.echo(f"exported {counted(count, 'event')}{begins}", err=True)


def _write(lines: Iterable[bytes]) -> None:
    sys.stdout.buffer.writelines(lines)
    sys.stdout.buffer.flush()


def _of_file(file: Path) -> Model:
    try:
        with file.open("rb") as opened:
            return Model.load(iter(lambda: opened.read(READ_BYTES), b""))
    except OSError as error:
        complain(f"{file} cannot be read: {error.strerror or error}")
        raise typer.Exit(FAILED) from error
    except (RulesDiffer, SnapshotError) as error:
        complain(f"{file}: {error}")
        raise typer.Exit(FAILED) from error


def _of_store(url: str) -> Model:
    """Restore the state after the last event, without writing to the store."""
    with _opened(url) as opened:
        return recover(opened, ModelSet(Options()), time.monotonic, Recovery())


@contextmanager
def _opened(url: str) -> Iterator[Store]:
    """Yield a store that has a state; an error of the store ends the command."""
    try:
        archive = os.environ.get(ARCHIVE) if is_redis(url) else None
        with closing(open_store(url, time.time, make_new=False, archive=archive)) as opened:
            if not opened.snapshots():
                raise StoreError("the store has no snapshot", "name the store of a service")
            yield opened
    except (StoreError, RecoveryError, HistoryOff) as error:
        complain(with_hint(error))
        raise typer.Exit(FAILED) from error

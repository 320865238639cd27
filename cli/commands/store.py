"""manyclass store: print and search the contents of a store file, and accept a backup."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from manyclass.cli.connection import FAILED, complain
from manyclass.cli.paths import path_of
from manyclass.cli.printable import print_cells
from manyclass.cli.run_summary import counted
from manyclass.cli.store_search import StoreSearch
from manyclass.cli.stored_lines import line_of_event, lines_of_snapshot
from manyclass.core.errors import SnapshotError
from manyclass.service.errors import with_hint
from manyclass.service.store import sqlite_path
from manyclass.service.store.errors import SnapshotMissing, StoreError
from manyclass.service.store.passwords import without_passwords
from manyclass.service.store.protocol import SnapshotInfo
from manyclass.service.store.sqlite.reader import SqliteReader
from manyclass.service.store.sqlite.store import accept_store

READ_BYTES = 2**20

app = typer.Typer(help="Print and search the contents of a store, and accept a backup as a store.")


@app.command("log")
def print_log(
    store: Annotated[
        str,
        typer.Argument(help="The store, written as in MANYCLASS_STORE: sqlite:PATH", metavar="URL"),
    ],
    after: Annotated[
        int,
        typer.Option(
            "--after", min=0, help="Print events after the event with this number.", metavar="SEQ"
        ),
    ] = 0,
    limit: Annotated[int, typer.Option(min=0, help="Largest number of events; 0: no limit.")] = 0,
) -> None:
    """Print the stored events of the log, each as a line of JSON.

    The command only reads the file, so it can be used while a service runs or after a crash. An
    event of another release, or one that is damaged inside, has an `error` and its bytes as `hex`.
    A damaged log is printed up to the damage, and the exit code is then 1. The log holds the events
    after the oldest snapshot; `manyclass export --events` prints the history.
    """
    with _errors_shown():
        reader = SqliteReader(_sqlite_path(store))
        events = reader.read(max(after, reader.first_seq - 1))
        _print(line_of_event(*each) for each in islice(events, limit or None))


@app.command("snapshot")
def print_snapshot(
    source: Annotated[
        str,
        typer.Argument(
            help="The store, in the form of MANYCLASS_STORE: sqlite:PATH; or file:PATH for a state"
            " that `manyclass snapshot save` or `manyclass train --out` wrote.",
            metavar="URL",
        ),
    ],
    seq: Annotated[
        int | None,
        typer.Option(
            "--seq",
            min=0,
            help="The number of the snapshot; by default the newest.",
            metavar="SEQ",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print the contents of a snapshot: a line of JSON about the whole, and one for each section.

    A section is an array of the state: its name, type, shape, bytes and digest, and whether its
    checksum is right. The command only reads the file, so it can be used while a service runs or
    after a crash. Two states are equal if their sections are.
    """
    kind, _, place = source.partition(":")
    with _errors_shown():
        if kind == "file":
            _print(lines_of_snapshot(_bytes_of(path_of(place)), None))
        else:
            reader = SqliteReader(_sqlite_path(source))
            info = _snapshot_of(reader, source, seq)
            _print(lines_of_snapshot(reader.open_snapshot(info.seq), info.taken_at))


@app.command("find")
def find_words(
    store: Annotated[
        str,
        typer.Argument(help="The store, written as in MANYCLASS_STORE: sqlite:PATH", metavar="URL"),
    ],
    words: Annotated[
        list[str],
        typer.Argument(
            help="Names, or other words that only the erased texts had.", metavar="WORD..."
        ),
    ],
) -> None:
    """Search a store for words, to see that erased data is gone.

    The command looks into the events of the log and of the compressed history, the snapshots, the
    queue of review, and all bytes of the files of the store, where rests of deleted rows would be.
    Case and accents make no difference, and parts of words count. It prints each place with the
    words that it has; the exit code is then 1. It only reads the files, so it can be used while a
    service runs. In a large file, four letters may stand beside each other by chance, in the bytes
    of numbers: take longer words.
    """
    if not all(word.strip() for word in words):
        raise typer.BadParameter("a word is empty", param_hint="WORD")
    found = faults = 0
    with _errors_shown():
        reader = SqliteReader(_sqlite_path(store))
        search = StoreSearch(reader, words)
        for place in search.places():
            found += bool(place.words)
            faults += bool(place.fault)
            print_cells([place.name, place.fault or ", ".join(place.words)])
        free = reader.free_pages()
    where = f"in {counted(found, 'place')} of" if found else "nowhere in"
    typer.echo(f"found {where} {search.searched()}")
    if faults:
        complain(f"{counted(faults, 'place')} could not be searched")
    if free:
        typer.echo(
            f"not unpacked: {counted(free, 'free page')} of rows replaced since the last rebuild"
            " that erased events wrote the file anew; what it erased is not in them",
            err=True,
        )
    if found or faults:
        raise typer.Exit(FAILED)


def _snapshot_of(reader: SqliteReader, url: str, seq: int | None) -> SnapshotInfo:
    """Return the snapshot with this number, or the newest. Raises StoreError."""
    infos = reader.snapshots()
    if not infos:
        raise StoreError(f"{url} has no snapshot yet")
    for info in infos:
        if seq in (None, info.seq):
            return info
    stored = ", ".join(str(info.seq) for info in reversed(infos))
    raise SnapshotMissing(int(seq or 0), f"{url} has {stored}")


def _bytes_of(file: Path) -> Iterator[bytes]:
    """Yield the bytes of a file. Raises StoreError."""
    try:
        with file.open("rb") as opened:
            yield from iter(lambda: opened.read(READ_BYTES), b"")
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror or error}") from error


@contextmanager
def _errors_shown() -> Iterator[None]:
    """End the command with one line at an error of a store or a snapshot."""
    try:
        yield
    except StoreError as error:
        complain(with_hint(error))
        raise typer.Exit(FAILED) from error
    except SnapshotError as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        typer.echo(line)


def _sqlite_path(url: str) -> Path:
    """Return the path of a store in a file. Raises BadParameter for another store, StoreError."""
    path = sqlite_path(url)
    if path is None:
        raise typer.BadParameter(
            f"{without_passwords(url)!r} is not sqlite:PATH, a store in a file"
        )
    return path


@app.command()
def accept(
    store: Annotated[
        str,
        typer.Argument(help="The store, written as in MANYCLASS_STORE: sqlite:PATH", metavar="URL"),
    ],
) -> None:
    """Accept a store that has fewer events than were acknowledged.

    Use this command for a backup that replaces a newer store. The service refuses to start on such
    a store, because it cannot distinguish a backup from a loss. The missing events are given up,
    and their numbers are used again.
    """
    try:
        path = _sqlite_path(store)
        if not path.exists():
            complain(f"there is no store {store}")
            raise typer.Exit(FAILED)
        accepted = accept_store(path)
    except StoreError as error:
        complain(f"the store was not accepted: {with_hint(error)}")
        raise typer.Exit(FAILED) from error
    typer.echo(f"{store} is accepted with the events up to {accepted.last_seq}")
    if accepted.marked_seq is None:
        typer.echo("The last acknowledged event is unknown because the .mark file is missing.")
    elif accepted.marked_seq > accepted.last_seq:
        first, last = accepted.last_seq + 1, accepted.marked_seq
        typer.echo(f"acknowledged events that are given up: {first} to {last}")

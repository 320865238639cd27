"""Reading files of labelled instances for a command: a bar, and bad lines named and counted."""

import time
from collections.abc import Sequence

import typer

from manyclass.cli.connection import FAILED, complain
from manyclass.cli.progress_bar import bar, bytes_of, bytes_read
from manyclass.training.formats import FormatUnknown
from manyclass.training.formats.given import Rejected
from manyclass.training.lines import FileFault, Source
from manyclass.training.reading import Account, read
from manyclass.training.rows import Rows

NAMED_LINES = 20  # that were rejected; more are only counted
MOVED_ROWS = 256  # the bar moves after so many


def read_files(files: Sequence[str], format: str | None) -> tuple[Rows, Account]:
    """The rows of the files, whose names tell the format unless it is given.

    Ends the command when a file cannot be read to its end, or they hold no instance.
    """
    sources = [Source(file) for file in files]
    complaints = _Complaints()
    began = time.monotonic()
    try:
        with bar(bytes_of(sources)) as move:

            def moved(account: Account) -> None:
                if account.instances % MOVED_ROWS == 0:
                    move(bytes_read(sources), f"{account.instances:,} instances read")

            rows, account = read(sources, format, complaints.hear, moved)
    except FormatUnknown as error:
        raise typer.BadParameter(str(error)) from error
    except FileFault as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    complaints.end()
    typer.echo(_said_of(rows, account, time.monotonic() - began), err=True)
    if not account.instances:
        complain("the files hold no instance")
        raise typer.Exit(FAILED)
    return rows, account


class _Complaints:
    """Names the first rejected lines on standard error, and counts the others."""

    def __init__(self) -> None:
        self._heard = 0

    def hear(self, rejected: Rejected) -> None:
        self._heard += 1
        if self._heard <= NAMED_LINES:
            complain(f"{rejected.line.place}: {rejected.reason}")

    def end(self) -> None:
        if self._heard > NAMED_LINES:
            complain(f"and {self._heard - NAMED_LINES:,} more bad lines")


def _said_of(rows: Rows, account: Account, seconds: float) -> str:
    """What reading came to, in one line."""
    parts = [
        f"read {account.instances:,} instances in {seconds:.1f} s:"
        f" {len(rows.classes):,} classes, {len(rows.features):,} features"
    ]
    if account.rejected:
        parts.append(f"{account.rejected:,} bad lines left out")
    if account.values_left_out:
        parts.append(f"{account.values_left_out:,} values of 0 or less left out")
    return " · ".join(parts)

"""Reads files of labelled instances for a command, with a progress bar and named bad lines."""

import time
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from manyclass.cli.connection import BAD_LINES, FAILED, complain
from manyclass.cli.input_options import Input
from manyclass.cli.progress_bar import bar_of_files
from manyclass.cli.run_summary import counted
from manyclass.core.errors import InstanceError, RequestConflict
from manyclass.core.placements import placed
from manyclass.core.taxonomy import Taxonomy
from manyclass.core.text import TextAnalysis
from manyclass.training.formats.given import Given, Rejected
from manyclass.training.formats.parents import Parents, read_parents
from manyclass.training.lines import FileFault, Source
from manyclass.training.reading import Account, read
from manyclass.training.rows import Rows

TextOption = Annotated[
    str,
    typer.Option(
        "--text",
        help="How texts become features: words, with any of +pairs, +characters, +unspaced,"
        " +normalized.",
        metavar="PARTS",
    ),
]
TaxonomyOption = Annotated[
    str | None,
    typer.Option(
        "--taxonomy",
        help="A file with the parent of each class, as `manyclass place` reads it.",
        metavar="FILE",
        show_default=False,
    ),
]
NAMED_LINES = 20  # rejected lines printed; more are only counted
MOVED_ROWS = 256  # instances between two updates of the bar


def analysis_of(text: str) -> TextAnalysis:
    """Return the analysis of --text; BadParameter."""
    try:
        return TextAnalysis.parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--text") from error


def parents_of(file: str) -> Parents:
    """Return the parent of each class of a file; BadParameter if it cannot be read."""
    try:
        return read_parents(Source(file))
    except FileFault as error:
        raise typer.BadParameter(str(error), param_hint="--taxonomy") from error


def taxonomy_of(file: str | None) -> Taxonomy:
    """Return the taxonomy of a file; BadParameter if it cannot be read, or is not a tree."""
    if file is None:
        return Taxonomy()
    try:
        return placed(parents_of(file))
    except (InstanceError, RequestConflict) as error:
        raise typer.BadParameter(str(error), param_hint="--taxonomy") from error


def read_files(
    files: Sequence[str],
    input: Input,
    text: TextAnalysis,
    accepted: Callable[[Given], None] = lambda given: None,
) -> tuple[Rows, Account]:
    """Read the files of labelled instances.

    `accepted` is called with the instance of each row, in order. Raises typer.Exit if a file cannot
    be read to its end, or if the files hold no instance.
    """
    sources = input.sources(files)
    complaints = _Complaints()
    began = time.monotonic()
    try:
        with bar_of_files(sources) as move:

            def moved(account: Account) -> None:
                if account.instances % MOVED_ROWS == 0:
                    move(f"{account.instances:,} instances read")

            rows, account = read(sources, input.format, complaints.add, moved, text, accepted)
    except FileFault as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    complaints.end()
    typer.echo(_summary(rows, account, time.monotonic() - began), err=True)
    if not account.instances:
        complain("the files hold no instance")
        raise typer.Exit(FAILED)
    return rows, account


def check_mostly_good(account: Account, outcome: str) -> None:
    """End the command if most lines were bad; `outcome` is for the message: nothing was written."""
    if account.rejected > account.instances:
        complain(f"most lines are bad, as in a file of another format: {outcome}")
        raise typer.Exit(BAD_LINES)


class _Complaints:
    """Prints the first rejected lines on standard error and counts the others."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, rejected: Rejected) -> None:
        self._count += 1
        if self._count <= NAMED_LINES:
            complain(f"{rejected.line.place}: {rejected.reason}")

    def end(self) -> None:
        if self._count > NAMED_LINES:
            complain(f"and {counted(self._count - NAMED_LINES, 'more bad line')}")


def _summary(rows: Rows, account: Account, seconds: float) -> str:
    """Return the counts and the time of reading, in one line."""
    parts = [
        f"read {counted(account.instances, 'instance')} in {seconds:.1f} s:"
        f" {len(rows.classes):,} classes, {len(rows.features):,} features"
    ]
    if account.rejected:
        parts.append(f"{counted(account.rejected, 'bad line')} left out")
    if account.values_left_out:
        parts.append(f"{counted(account.values_left_out, 'value')} of 0 or less left out")
    return " · ".join(parts)

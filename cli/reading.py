"""Reads files of labelled instances for a command, with a progress bar and named bad lines."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated

import typer

from manyclass.cli.connection import BAD_LINES, FAILED, complain
from manyclass.cli.input_options import Input
from manyclass.cli.progress_bar import bar_of_files
from manyclass.cli.run_summary import counted
from manyclass.core.abilities import names_without_signs
from manyclass.core.errors import InstanceError, PlacementFault, RequestConflict
from manyclass.core.instance import LONGEST_NAME
from manyclass.core.learners.options import Options
from manyclass.core.placements import placed
from manyclass.core.taxonomy import Taxonomy
from manyclass.core.text import TextAnalysis
from manyclass.training.formats.given import Given, Rejected
from manyclass.training.label_notes import LabelNotes
from manyclass.training.lines import FileFault
from manyclass.training.reading import Account, read
from manyclass.training.rows import Rows
from manyclass.training.taxonomies.layout import TaxonomyLayout
from manyclass.training.taxonomies.nodes import Tree
from manyclass.training.taxonomies.reading import read_taxonomy

TextOption = Annotated[
    str,
    typer.Option(
        "--text",
        help="How texts become features: words, with any of +pairs, +characters, +unmarked,"
        " +symbols.",
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


def tree_of_file(file: str, layout: TaxonomyLayout | None = None) -> Tree:
    """Return the tree of classes in a file, and print what was understood; FileFault."""
    tree = read_taxonomy(file, layout)
    try:
        placed(tree.parents)
    except PlacementFault as error:
        raise FileFault(file, f"{tree.locations[error.where[-1]]}: {error}") from error
    except (InstanceError, RequestConflict) as error:
        raise FileFault(file, str(error)) from error
    typer.echo(tree.summary, err=True)
    return tree


def parents_of(file: str) -> Mapping[str, str | None]:
    """Return the parent of each class of a file; BadParameter if it cannot be read."""
    try:
        return tree_of_file(file).parents
    except FileFault as error:
        raise typer.BadParameter(
            f"{error}; `manyclass place {file} --dry-run > tree.json` takes options for this, and"
            " writes a file for --taxonomy",
            param_hint="--taxonomy",
        ) from error


def taxonomy_of(file: str | None) -> Taxonomy:
    """Return the taxonomy of a file; BadParameter if it cannot be read, or is not a tree."""
    return Taxonomy() if file is None else placed(parents_of(file))


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
    labels = LabelNotes()

    def counting(given: Given) -> None:
        labels.add(map(str, given.classes))
        accepted(given)

    began = time.monotonic()
    try:
        with bar_of_files(sources) as move:

            def moved(account: Account) -> None:
                if account.instances % MOVED_ROWS == 0:
                    move(f"{account.instances:,} instances read")

            rows, account = read(sources, input.format, complaints.add, moved, text, counting)
    except FileFault as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    complaints.end()
    left_out = sum((source.left_out for source in sources), Counter[str]())
    typer.echo(_summary(rows, account, left_out, time.monotonic() - began), err=True)
    for note in labels.notes():
        complain(note)
    if account.cut_texts:
        words = f"words longer than {LONGEST_NAME:,} bytes, which are left out"
        complain(
            f"{counted(account.cut_texts, 'text')} with {words}; the first: {account.first_cut}"
        )
    if account.vectors_left_out:
        complain(
            f"{counted(account.vectors_left_out, 'vector')} left out: only a service learns them,"
            " by `manyclass learn`"
        )
    if not account.instances:
        complain("the files hold no instance")
        raise typer.Exit(FAILED)
    return rows, account


def say_absent(accounts: Iterable[Account], learners: Iterable[Options]) -> None:
    """Print how many values below 0 were read, if they are absent to one of the learners."""
    below_0 = sum(account.values_below_0 for account in accounts)
    names = names_without_signs(learners)
    if below_0 and names:
        complain(f"{counted(below_0, 'value')} below 0, ignored by {', '.join(names)}")


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
            complain(f"{rejected.line.location}: {rejected.reason}")

    def end(self) -> None:
        if self._count > NAMED_LINES:
            complain(f"and {counted(self._count - NAMED_LINES, 'more bad line')}")


def _summary(rows: Rows, account: Account, left_out: Counter[str], seconds: float) -> str:
    """Return the counts and the time of reading, in one line."""
    parts = [
        f"read {counted(account.instances, 'instance')} in {seconds:.1f} s:"
        f" {counted(len(rows.classes), 'class', 'classes')},"
        f" {counted(len(rows.features), 'feature')}"
    ]
    parts += [f"{counted(number, noun)} left out" for noun, number in left_out.items()]
    if account.rejected:
        parts.append(f"{counted(account.rejected, 'bad line')} left out")
    if account.values_left_out:
        parts.append(f"{counted(account.values_left_out, 'value')} of 0 left out")
    return " · ".join(parts)

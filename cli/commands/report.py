"""manyclass report: accuracy by class, confusions and likely label errors of files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from manyclass.cli.atomic_write import check_target
from manyclass.cli.connection import BAD_LINES, FAILED, INTERRUPTED, complain
from manyclass.cli.input_options import Input, reads_labelled
from manyclass.cli.learner_option import LearnerOption, check_learnable, options_of
from manyclass.cli.paths import path_of
from manyclass.cli.progress_bar import bar
from manyclass.cli.reading import (
    TaxonomyOption,
    TextOption,
    analysis_of,
    check_mostly_good,
    read_files,
    say_absent,
    taxonomy_of,
)
from manyclass.cli.report_files import about, write_report
from manyclass.cli.run_summary import counted
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.text import DEFAULT_TEXT
from manyclass.training.lines import Source

MOST_ON_PAGE = 10_000  # rows of each table


@reads_labelled
def report(
    context: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(
            help="Files of labelled instances, plain or compressed; - is standard input.",
            metavar="FILE...",
            show_default=False,
        ),
    ],
    learner: LearnerOption = DEFAULT_LEARNER,
    folds: Annotated[
        int,
        typer.Option(min=2, help="Number of folds; each is ranked after learning the others."),
    ] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the folds and of the order.")] = 0,
    text: TextOption = str(DEFAULT_TEXT),
    taxonomy: TaxonomyOption = None,
    limit: Annotated[
        int,
        typer.Option(
            min=1,
            help=f"Largest number of rows of each printed table; --html has up to {MOST_ON_PAGE:,},"
            " --csv has all.",
        ),
    ] = 20,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            parser=path_of,
            help="Write each table as a CSV file to this folder.",
            metavar="FOLDER",
            show_default=False,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            parser=path_of,
            help="Write the tables to this file as a page, to sort and filter in a browser.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    *,
    input: Input,
) -> None:
    """Show the accuracy of each class, the confusions, and the likely label errors of files.

    Each row is ranked by a learner that has not learned it: the rows are divided into folds, and
    the rows of a fold are ranked after all other folds are learned.

    A line without a labelled instance is reported on standard error and skipped; the exit code is
    then 1. If most lines are bad, or a file cannot be read to its end, nothing is shown.
    """
    # Imported here, so that other commands start without the measures and reports.
    from manyclass.evaluation.label_report import figures_of, label_page, tables_of
    from manyclass.evaluation.label_review import LabelReview
    from manyclass.evaluation.origins import Origins
    from manyclass.evaluation.out_of_fold import FoldError, out_of_fold

    options = options_of(learner)
    _check_folder(csv)
    check_target(html, "--html")
    origins = Origins()
    try:
        placed = taxonomy_of(taxonomy)
        rows, account = read_files(files, input, analysis_of(text), origins.add)
        check_mostly_good(account, "nothing was ranked")
        say_absent([account], [options])
        check_learnable(rows, options)
        with bar(folds) as move:
            rankings = out_of_fold(
                rows, options, folds, seed, placed, lambda done: move(done, f"{folds} folds")
            )
    except FoldError as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    except KeyboardInterrupt:
        complain("stopped: nothing was written")
        raise typer.Exit(INTERRUPTED) from None
    review = LabelReview(rows, rankings)
    method = (
        f"Each row is ranked by {options.specification} after the rows of the other folds:"
        f" {folds} folds, seed {seed}."
    )
    shown = tables_of(review, origins, method, limit)
    typer.echo("\n\n".join(table.text() for table in shown.values()))
    all_written = True
    if csv is not None:
        every = {name: each.csv() for name, each in tables_of(review, origins, method).items()}
        all_written &= _write_folder(csv, every)
    if html is not None:
        tables = tables_of(review, origins, method, MOST_ON_PAGE)
        written = label_page(_name(files), tables, about(context), figures_of(review))
        all_written &= write_report(html, written)
    if not all_written:
        raise typer.Exit(FAILED)
    if account.rejected:
        complain(f"{counted(account.rejected, 'line')} skipped, so the exit code is {BAD_LINES}")
        raise typer.Exit(BAD_LINES)


def _name(files: Sequence[str]) -> str:
    return ", ".join(Path(Source(file).name).name for file in files)


def _check_folder(folder: Path | None) -> None:
    """Raise BadParameter for a folder that cannot be made, before any work begins."""
    if folder is None or folder.is_dir():
        return
    if folder.exists():
        raise typer.BadParameter(f"{str(folder)!r} is a file; name a folder", param_hint="--csv")
    check_target(folder, "--csv")


def _write_folder(folder: Path, tables: dict[str, str]) -> bool:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        complain(f"{folder} cannot be made: {error}")
        return False
    return all([write_report(folder / f"{name}.csv", text) for name, text in tables.items()])

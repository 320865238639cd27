"""`manyclass evaluate`: compare learners on data sets."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manyclass.cli.atomic_write import check_target
from manyclass.cli.connection import BAD_LINES, FAILED, INTERRUPTED, complain
from manyclass.cli.input_options import Input, reads_labelled
from manyclass.cli.paths import path_of
from manyclass.cli.progress_bar import bar
from manyclass.cli.reading import (
    TaxonomyOption,
    TextOption,
    analysis_of,
    parents_of,
    read_files,
    say_absent,
)
from manyclass.cli.report_files import about, write_report
from manyclass.core.errors import OptionError
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.learners.specification import split
from manyclass.core.model_set import ModelSet
from manyclass.core.text import DEFAULT_TEXT, TextAnalysis
from manyclass.training.lines import STANDARD_INPUT, FileFault
from manyclass.training.reading import Account

if TYPE_CHECKING:
    from manyclass.evaluation.comparison import Comparison, Plan, Variant
    from manyclass.evaluation.datasets import Dataset
    from manyclass.evaluation.estimator import Maker

Load = Callable[[], "Dataset"]


@reads_labelled
def evaluate(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Labelled instances, plain or compressed, to train and test on.",
            metavar="[FILE...]",
            show_default=False,
        ),
    ] = None,
    sets: Annotated[
        str, typer.Option("--set", help="Public data sets: newsgroups,clinc.", metavar="NAMES")
    ] = "",
    learner: Annotated[
        list[str] | None,
        typer.Option(
            "--learner", help="A learner: svm, 'pa(replay=4)'; again for more.", metavar="SPEC"
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            help="Evaluate each learner also with these values of an option: max_outdegree=1,5,25.",
            metavar="OPTION=VALUES",
        ),
    ] = None,
    peers: Annotated[
        str,
        typer.Option(
            "--peers",
            help="Other programs to compare, only in a checkout: see `python -m studies.compare`.",
            metavar="NAMES",
        ),
    ] = "",
    passes: Annotated[
        int, typer.Option(min=1, help="Number of times that a learner learns each row.")
    ] = 1,
    splits: Annotated[
        int, typer.Option(min=1, help="Number of splits or orders; each is trained separately.")
    ] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first split.")] = 0,
    shuffle: Annotated[
        bool, typer.Option(help="Learn in random order, or once in the order of the rows.")
    ] = True,
    progressive: Annotated[
        bool,
        typer.Option("--progressive", help="One stream: rank each row, then learn it; no test."),
    ] = False,
    best_pass: Annotated[
        bool, typer.Option("--best-pass", help="Show the pass with the best R1, not the last.")
    ] = False,
    test: Annotated[
        list[str] | None,
        typer.Option(
            "--test",
            help="A file of test rows; all other files are for training.",
            metavar="FILE",
        ),
    ] = None,
    held_out: Annotated[
        float, typer.Option(help="Share of the files' rows for testing, without --test.")
    ] = 0.1,
    text: TextOption = str(DEFAULT_TEXT),
    taxonomy: TaxonomyOption = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            parser=path_of,
            help="Folder of the public data sets.",
            envvar="BENCHMARK_DATA",
            metavar="FOLDER",
            show_default=False,
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(
            "--json",
            parser=path_of,
            help="Write all measures to this file.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            parser=path_of,
            help="Write tables and plots to this file.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the tables as Markdown.")
    ] = False,
    *,
    input: Input,
) -> None:
    """Train learners on data sets, test them, and compare accuracy and cost.

    The command prints a table for each data set: R1, R5, harmonic rank and others, as means over
    the splits with standard deviations, and the cost of training and ranking. --json and --html
    write the same to files, which are updated after each data set.

    A line without a labelled instance is reported on standard error and skipped; the exit code is
    then 1.
    """
    # Imported here, so that other commands start without the measures and reports.
    from manyclass.evaluation.comparison import Plan, compare
    from manyclass.evaluation.datasets import SplitError
    from manyclass.evaluation.report import table_of

    accounts: list[Account] = []
    loads = _loads(
        files or [], test or [], input, analysis_of(text), held_out, sets, data, accounts, taxonomy
    )
    variants = _variants(learner or [DEFAULT_LEARNER], vary or [])
    others = _peers(peers, context.obj)
    _check_targets(json, html)
    if progressive and others:
        raise typer.BadParameter("peers cannot learn a stream", param_hint="--peers")
    plan = Plan(passes, splits, seed, shuffle, progressive)
    done: list[Comparison] = []
    all_written = True
    try:
        for name, load in loads.items():
            with _shown(name, variants, others, plan) as on_progress:
                comparison = compare(load(), variants, others, plan, on_progress)
            done.append(comparison)
            table = table_of(comparison, best_pass)
            typer.echo((table.markdown() if markdown else table.text()) + "\n")
            all_written = _write(done, about(context), json, html, best_pass)
    except (SplitError, FileFault) as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    except KeyboardInterrupt:
        complain("stopped; the data sets shown above are done")
        raise typer.Exit(INTERRUPTED) from None
    say_absent(accounts, [variant.options for variant in variants])
    if not all_written:
        raise typer.Exit(FAILED)
    if any(account.rejected for account in accounts):
        raise typer.Exit(BAD_LINES)


# --- data sets, learners, peers -------------------------------------------------------------------


def _loads(
    files: Sequence[str],
    test: Sequence[str],
    input: Input,
    text: TextAnalysis,
    held_out: float,
    sets: str,
    data: Path | None,
    accounts: list[Account],
    taxonomy: str | None,
) -> dict[str, Load]:
    """Return a reader of each data set by name. Raises BadParameter for an unknown data set.

    The reader of the files appends its account to `accounts`.
    """
    from manyclass.evaluation.datasets import DATASETS, UnknownDataset, read
    from manyclass.evaluation.readers import data_folder

    names = split(sets)
    if not files and not names:
        raise typer.BadParameter(f"name data sets with --set ({', '.join(DATASETS)}), or files")
    if taxonomy is not None and not files:
        raise typer.BadParameter("it is for files of yours", param_hint="--taxonomy")
    if test and not files:
        raise typer.BadParameter("name files to train on as well", param_hint="--test")
    if not 0 < held_out < 1:
        raise typer.BadParameter("must be above 0 and below 1", param_hint="--held-out")
    folder = data or data_folder()
    loads: dict[str, Load] = {}
    for name in names:
        if name not in DATASETS:
            raise typer.BadParameter(str(UnknownDataset(name)), param_hint="--set")
        loads[name] = partial(read, name, folder, text)
    if files:
        input.sources([*files, *test])  # check them before hours of other data sets
        parents = None if taxonomy is None else parents_of(taxonomy)
        loads["own files"] = partial(
            _own_set, files, test, input, text, held_out, accounts, parents
        )
    return loads


def _own_set(
    files: Sequence[str],
    test: Sequence[str],
    input: Input,
    text: TextAnalysis,
    held_out: float,
    accounts: list[Account],
    parents: Mapping[str, str | None] | None,
) -> "Dataset":
    from manyclass.evaluation.datasets import Dataset
    from manyclass.evaluation.taxonomy import Taxonomy

    taxonomy = None
    if parents is not None:
        taxonomy = Taxonomy({name: [above] if above else [] for name, above in parents.items()})

    name = "standard input" if files[0] == STANDARD_INPUT else Path(files[0]).name
    rows, account = read_files(files, input, text)
    accounts.append(account)
    if not test:
        return Dataset(name, rows, share=1 - held_out, taxonomy=taxonomy)
    tested, account = read_files(test, input, text)
    accounts.append(account)
    return Dataset.of_rows(name, rows, tested, taxonomy)


def _variants(learners: Sequence[str], vary: Sequence[str]) -> "list[Variant]":
    from manyclass.evaluation.comparison import variants

    varied = dict(_varied(each) for each in vary)
    try:
        options = [Options.parse(each) for given in learners for each in split(given)]
        for each in options:
            ModelSet(each)  # refuses options for members of a committee
    except OptionError as error:
        raise typer.BadParameter(str(error), param_hint="--learner") from error
    try:
        found = variants(options, varied)
        for variant in found:
            ModelSet(variant.options)
    except OptionError as error:
        raise typer.BadParameter(str(error), param_hint="--vary") from error
    return found


def _varied(given: str) -> tuple[str, list[str]]:
    option, equals, values = given.partition("=")
    if not equals or not split(values):
        raise typer.BadParameter(f"{given!r} must be OPTION=VALUE,VALUE,...", param_hint="--vary")
    return option.strip(), split(values)


def _peers(names: str, known: "Mapping[str, Maker] | None") -> "dict[str, Maker]":
    """Return the peers with these names; each is made once, to notice a missing package early.

    `studies.compare` of a checkout passes its peers; the installed command has none.
    """
    wanted = split(names)
    if not wanted:
        return {}
    if known is None:
        command = f"python -m studies.compare --peers {names}"
        said = f"other programs can be compared only in a checkout of manyclass: {command}"
        raise typer.BadParameter(said, param_hint="--peers")
    for name in wanted:
        if name not in known:
            raise typer.BadParameter(
                f"no peer is named {name!r}; the peers are {', '.join(known)}",
                param_hint="--peers",
            )
        try:
            known[name](0)
        except ImportError as error:
            raise typer.BadParameter(str(error), param_hint="--peers") from error
    return {name: known[name] for name in wanted}


# --- output ---------------------------------------------------------------------------------------


@contextmanager
def _shown(
    name: str, variants: "Sequence[Variant]", peers: Mapping[str, object], plan: "Plan"
) -> Iterator[Callable[[str, int], None]]:
    """Show a bar on standard error with the present estimator and its split."""
    of = len(plan.seeds)
    total = len({each.options for each in variants}) + (0 if plan.progressive else len(peers))
    begun: list[str] = []
    with bar(total * of) as move:
        move(0, f"{name}: reading")

        def on_progress(estimator: str, done: int) -> None:
            if done == 0:
                begun.append(estimator)
            state = f"{name}: {estimator}, split {min(done + 1, of)} of {of}"
            move((len(begun) - 1) * of + done, state)

        yield on_progress


def _check_targets(json: Path | None, html: Path | None) -> None:
    """Raise BadParameter for a file that cannot be written, before any work begins."""
    check_target(json, "--json")
    check_target(html, "--html")
    if json is not None and html is not None and json.resolve() == html.resolve():
        raise typer.BadParameter("name another file than --json", param_hint="--html")


def _write(
    done: "Sequence[Comparison]",
    about: Mapping[str, str],
    json: Path | None,
    html: Path | None,
    best_pass: bool,
) -> bool:
    """Write the requested files and print an error for each failure; return False after one."""
    from manyclass.evaluation.html_report import html_report
    from manyclass.evaluation.report import as_json

    written = True
    if json is not None:
        written &= write_report(json, as_json(done, about))
    if html is not None:
        written &= write_report(html, html_report(done, about, best_pass))
    return written

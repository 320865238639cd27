"""A run of offline training: read, learn, write, and print the command to serve the result."""

from collections.abc import Sequence
from pathlib import Path

import typer

from manyclass.cli.connection import BAD_LINES, INTERRUPTED, complain
from manyclass.cli.input_options import Input
from manyclass.cli.learner_option import check_learnable, options_of
from manyclass.cli.progress_bar import bar
from manyclass.cli.reading import check_mostly_good, read_files, say_absent, taxonomy_of
from manyclass.cli.run_summary import counted
from manyclass.cli.state_writing import check_targets, serving, write
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.taxonomy import Taxonomy
from manyclass.core.text import TextAnalysis
from manyclass.training.rows import Rows
from manyclass.training.trainer import Pass, Plan, Training, train


def run(
    files: Sequence[str],
    input: Input,
    text: TextAnalysis,
    specification: str,
    plan: Plan,
    out: Path | None,
    store: str | None,
    taxonomy: str | None = None,
) -> None:
    """Train, and write the state to a file, a store, or both. `taxonomy` is a file of placements.

    Raises PlanError, and ends the command at any other error; nothing is written then.
    """
    options = options_of(specification)
    try:
        check_targets(out, store)
        placed = taxonomy_of(taxonomy)
        rows, account = read_files(files, input, text)
        check_mostly_good(account, "nothing was written")
        say_absent([account], [options])
        check_learnable(rows, options)
        training = _train(rows, options, plan, placed)
        state = Model.of(
            training.learner, training.learned, training.calibration, text, training.losses
        )
        write(state, out, store)
    except KeyboardInterrupt:
        complain("stopped: nothing was written")
        raise typer.Exit(INTERRUPTED) from None
    typer.echo(f"serve it: {serving(options, out, store)}", err=True)
    if account.rejected:
        raise typer.Exit(BAD_LINES)


# --- learning -------------------------------------------------------------------------------------


def _train(rows: Rows, options: Options, plan: Plan, taxonomy: Taxonomy) -> Training:
    """Return the trained learner; print each pass when it ends."""
    with bar(plan.passes) as move:

        def heard(number: int, learned: int, of: int) -> None:
            move(number - 1 + learned / of, f"pass {number} of {plan.passes}")

        training = train(rows, options, plan, heard, _say_pass, taxonomy)
    if training.kept is not training.passes[-1]:
        typer.echo(f"kept: the state after pass {training.kept.number}", err=True)
    if training.kept_back is not None:
        _say("kept back", training.kept_back)
    learner = training.learner
    typer.echo(
        f"{learner.options.specification}: {counted(learner.classes, 'class', 'classes')},"
        f" {counted(learner.features, 'feature')}, {counted(learner.edges, 'edge')},"
        f" {learner.bytes:,} bytes",
        err=True,
    )
    return training


def _say_pass(made: Pass) -> None:
    _say(f"pass {made.number}", made)


def _say(what: str, made: Pass) -> None:
    parts = [f"{what}: {counted(made.rows, 'row')} in {made.seconds:.1f} s"]
    for label, accuracy in (("before learning", made.training), ("held out", made.held_out)):
        if accuracy is not None:
            recall = f"R1 {accuracy.r1:.4f}  R5 {accuracy.r5:.4f}"
            parts.append(f"{label} {recall}  MRR {accuracy.mrr:.4f}")
    typer.echo(" · ".join(parts), err=True)

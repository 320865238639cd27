"""manyclass train: learn files in passes, offline, and write a state for a service."""

from typing import Annotated

import typer

from manyclass.cli.input_options import Input, reads_labelled
from manyclass.cli.learner_option import LearnerOption
from manyclass.cli.offline_training import run
from manyclass.cli.reading import TaxonomyOption, TextOption, analysis_of
from manyclass.cli.state_writing import OutOption, StoreOption
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.text import DEFAULT_TEXT
from manyclass.training.trainer import CALIBRATION_ROWS, Plan, PlanError


@reads_labelled
def train(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Files, plain or compressed; - is standard input.",
            metavar="FILE...",
            show_default=False,
        ),
    ],
    learner: LearnerOption = DEFAULT_LEARNER,
    out: OutOption = None,
    store: StoreOption = None,
    text: TextOption = str(DEFAULT_TEXT),
    taxonomy: TaxonomyOption = None,
    passes: Annotated[int, typer.Option(min=1, help="Number of passes over the rows.")] = 1,
    shuffle: Annotated[bool, typer.Option(help="Learn in a new random order in each pass.")] = True,
    held_out: Annotated[
        float,
        typer.Option(help="Share of the rows to rank after each pass instead of learning them."),
    ] = 0.0,
    oversample: Annotated[
        int,
        typer.Option(min=0, help="Repeat rows until each class has this many; 0: never."),
    ] = 0,
    patience: Annotated[
        int,
        typer.Option(
            min=0,
            help="Stop when held-out R1 has not risen for this many passes, and keep the best; 0:"
            " make all passes.",
        ),
    ] = 0,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the held-out rows and of the orders.")
    ] = 0,
    calibration_rows: Annotated[
        int,
        typer.Option(
            min=0,
            help="With several passes: rows to learn only once, at the end, so that the confidence"
            " is learned from new rows; at most a tenth of all.",
        ),
    ] = CALIBRATION_ROWS,
    *,
    input: Input,
) -> None:
    """Learn the instances of files in passes, offline, and write a state for a service.

    A line without a labelled instance is reported on standard error and skipped; the exit code is
    then 1. If most lines are bad, or a file cannot be read to its end, nothing is written.
    """
    try:
        plan = Plan(passes, shuffle, held_out, oversample, patience, seed, calibration_rows)
        run(files, input, analysis_of(text), learner, plan, out, store, taxonomy)
    except PlanError as error:
        flag = "--" + error.option.replace("_", "-")
        raise typer.BadParameter(error.reason, param_hint=flag) from error

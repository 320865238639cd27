"""manyclass train: learn files in passes, offline, and write the state a service starts from."""

from pathlib import Path
from typing import Annotated

import typer

from manyclass.cli.file_format import FileFormat
from manyclass.core.learners.registry import DEFAULT_LEARNER


def train(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Plain, .gz or .zst; - is standard input.", metavar="FILE...", show_default=False
        ),
    ],
    learner: Annotated[
        str,
        typer.Option(
            "--learner", help="What learns, with its options: pa, ff(rating=5).", metavar="SPEC"
        ),
    ] = DEFAULT_LEARNER,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="A file for the state, as `manyclass snapshot save` writes one.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            help="A new store for a service, as MANYCLASS_STORE has it.",
            metavar="URL",
            show_default=False,
        ),
    ] = None,
    format: FileFormat = None,
    passes: Annotated[int, typer.Option(min=1, help="How often the rows are learned.")] = 1,
    shuffle: Annotated[
        bool, typer.Option(help="Learn in random order, another in each pass.")
    ] = True,
    held_out: Annotated[
        float, typer.Option(help="Share of the rows that is not learned, to see how it goes.")
    ] = 0.0,
    oversample: Annotated[
        int,
        typer.Option(min=0, help="Repeat rows until each class has so many; 0: as they are."),
    ] = 0,
    patience: Annotated[
        int,
        typer.Option(
            min=0,
            help="Stop when held-out R1 has not risen for so many passes, and keep the best; 0:"
            " make all passes.",
        ),
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of what is held out and of the orders.")] = 0,
) -> None:
    """Learn the instances of files in passes, offline, and write what a service starts from.

    A line that holds no labelled instance is named on standard error and left out; the exit code
    is then 1. Where more lines are bad than good, or a file cannot be read to its end, the run ends
    and nothing is written.
    """
    # Here, not above: the other commands start without loading the engine.
    from manyclass.cli.offline_training import run
    from manyclass.training.trainer import Plan, PlanError

    try:
        plan = Plan(passes, shuffle, held_out, oversample, patience, seed)
        run(files, format, learner, plan, out, store)
    except PlanError as error:
        flag = "--" + error.option.replace("_", "-")
        raise typer.BadParameter(error.reason, param_hint=flag) from error

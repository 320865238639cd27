"""manyclass convert: convert a model of `manyclass fit` to a state for a service."""

from pathlib import Path
from typing import Annotated

import typer

from manyclass.cli import fit_conversion
from manyclass.cli.input_options import Input, reads_labelled
from manyclass.cli.paths import path_of
from manyclass.cli.state_writing import OutOption, StoreOption
from manyclass.training.klr.index import LEARNER


@reads_labelled
def convert(
    model: Annotated[
        Path, typer.Argument(parser=path_of, help="A file of `manyclass fit`.", metavar="MODEL")
    ],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Rows outside the fit, to compare the rankings of the state and the fit.",
            metavar="[FILE...]",
            show_default=False,
        ),
    ] = None,
    learner: Annotated[
        str,
        typer.Option(
            "--learner",
            help="The learner with its limits: path(budget=64,max_outdegree=500).",
            metavar="SPEC",
        ),
    ] = LEARNER,
    out: OutOption = None,
    store: StoreOption = None,
    *,
    input: Input,
) -> None:
    """Convert a model of `manyclass fit` to a state for a service, which continues to learn.

    Nodes of the taxonomy become families of the learner `path`. With FILE..., the command compares
    how the fit and the state rank these rows; the rows are not learned.
    """
    fit_conversion.run(model, files or [], input, learner, out, store)

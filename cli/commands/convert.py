"""manyclass convert: write a state for a service from a model of `manyclass fit`."""

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
            help="Rows that were not fitted, to compare the state with the fit.",
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
    """Write a state for a service from a model of `manyclass fit`; it goes on learning online.

    Nodes of the taxonomy become families of the learner `path`. With FILE..., the rankings of these
    rows by the fit and by the state are compared; they are not learned.
    """
    fit_conversion.run(model, files or [], input, learner, out, store)

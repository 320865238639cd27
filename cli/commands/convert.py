"""manyclass convert: write a state for a service from a model of `manyclass fit`."""

from pathlib import Path
from typing import Annotated

import typer

from manyclass.cli import fit_conversion
from manyclass.cli.reading import FileFormat
from manyclass.training.klr.index import LEARNER


def convert(
    model: Annotated[Path, typer.Argument(help="A file of `manyclass fit`.", metavar="MODEL")],
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
) -> None:
    """Write a state for a service from a model of `manyclass fit`; it goes on learning online.

    Nodes of the taxonomy become families of the learner `path`. With FILE..., the rankings of these
    rows by the fit and by the state are compared; they are not learned.
    """
    fit_conversion.run(model, files or [], format, learner, out, store)

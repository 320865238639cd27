"""The option --learner of a command that learns files."""

from typing import Annotated

import typer

from manyclass.core.abilities import check_weights
from manyclass.core.errors import InstanceError, OptionError
from manyclass.core.learners.options import Options
from manyclass.core.model_set import ModelSet
from manyclass.training.rows import Rows

LearnerOption = Annotated[
    str,
    typer.Option(
        "--learner", help="The learner with its options: pa, ff(rating=5).", metavar="SPEC"
    ),
]


def options_of(specification: str) -> Options:
    """Return the options of --learner; BadParameter."""
    try:
        options = Options.parse(specification)
        ModelSet(options)  # refuses options of members only
    except OptionError as error:
        raise typer.BadParameter(str(error), param_hint="--learner") from error
    return options


def check_learnable(rows: Rows, options: Options) -> None:
    """Raise BadParameter unless the learner can learn rows with these weights."""
    try:
        check_weights(rows.weights, rows.indptr, options)
    except InstanceError as error:
        raise typer.BadParameter(str(error), param_hint="--learner") from error

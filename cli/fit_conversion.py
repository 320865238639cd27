"""A run of `manyclass convert`: make a state of a fitted model, measure it, and write it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import typer
from numpy.typing import NDArray

from manyclass.cli.connection import BAD_LINES, FAILED, complain
from manyclass.cli.input_options import Input
from manyclass.cli.offline_fit import fitted_of
from manyclass.cli.reading import read_files
from manyclass.cli.state_writing import check_targets, serving, write
from manyclass.core.columns import Columns
from manyclass.core.errors import OptionError
from manyclass.core.model import Model
from manyclass.training.accuracy import hits_of
from manyclass.training.klr.index import Converted, convert, options_of
from manyclass.training.klr.model import Model as Fit
from manyclass.training.klr.model import ModelFault
from manyclass.training.rows import Rows

PLACES = 5  # compared of each ranking


def run(
    file: Path,
    held_out: Sequence[str],
    input: Input,
    specification: str,
    out: Path | None,
    store: str | None,
) -> None:
    """Write the state of a fitted model; end the command at any error, and write nothing then."""
    check_targets(out, store)
    fit, text = fitted_of(file)
    try:
        options = options_of(fit, specification)
        made = convert(fit, options)
    except OptionError as error:
        raise typer.BadParameter(str(error), param_hint="--learner") from error
    except ModelFault as error:
        complain(f"{file}: {error}")
        raise typer.Exit(FAILED) from error
    _say(made)
    rejected = 0
    if held_out:
        rows, account = read_files(held_out, input, text)
        rejected = account.rejected
        typer.echo(_Comparison.of(fit, made, rows), err=True)
    write(Model.of(made.learner, made.rows, made.calibration, text), out, store)
    typer.echo(f"serve it: {serving(options, out, store)}", err=True)
    if rejected:
        raise typer.Exit(BAD_LINES)


def _say(made: Converted) -> None:
    learner = made.learner
    typer.echo(
        f"{learner.options.specification}: {learner.classes:,} classes and nodes above them,"
        f" {learner.features:,} features, {learner.edges:,} edges of {made.weights:,} weights,"
        f" {learner.bytes:,} bytes",
        err=True,
    )


@dataclass(frozen=True)
class _Comparison:
    """The rankings of held-out rows by a fit and by the learner made of it."""

    rows: int
    of_fit: tuple[float, float]  # R1, R5
    of_learner: tuple[float, float]
    shared: float  # of the first five classes of the fit, those among the first five
    confidence: float  # on average

    @classmethod
    def of(cls, fit: Fit, made: Converted, rows: Rows) -> Self:
        features, classes = Columns(rows.features), Columns(rows.classes)
        ids_of_classes = made.learner.class_ids(classes)
        ids_of_fit = made.learner.class_ids(Columns(fit.classes))
        best = [_best(block, ids_of_fit) for block in fit.probabilities(rows)]
        by_fit = np.concatenate(best)
        by_learner, scores = made.learner.rank_csr(
            features, rows.indptr, rows.indices, rows.values, PLACES
        )
        true = ids_of_classes[rows.class_indices]
        ends = np.arange(len(rows) + 1) * by_fit.shape[1]
        shared = hits_of(by_learner, ends, by_fit.ravel())
        confidences = [
            made.calibration.confidence(first, second) for first, second in scores[:, :2].tolist()
        ]
        return cls(
            len(rows),
            _recalls(hits_of(by_fit, rows.class_indptr, true)),
            _recalls(hits_of(by_learner, rows.class_indptr, true)),
            float(shared.sum() / by_fit.size),
            float(np.mean([each or 0.0 for each in confidences])),
        )

    def __str__(self) -> str:
        of_fit, of_learner = (
            f"R1 {r1:.4f}  R5 {r5:.4f}" for r1, r5 in (self.of_fit, self.of_learner)
        )
        return (
            f"{self.rows:,} held-out rows: the fit {of_fit} · the state {of_learner} ·"
            f" {100 * self.shared:.1f} % of the first five classes shared ·"
            f" mean confidence {self.confidence:.3f}"
        )


def _best(probabilities: NDArray[np.float32], ids: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the ids of the likeliest classes of each row."""
    return ids[np.argsort(-probabilities, axis=1, kind="stable")[:, :PLACES]]


def _recalls(hits: NDArray[np.bool_]) -> tuple[float, float]:
    """Return R1 and R5 of rankings."""
    return float(hits[:, 0].mean()), float(hits.any(1).mean())

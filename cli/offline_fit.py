"""A run of `manyclass fit`: read, search, fit, and write the model; and rankings by a model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from manyclass.cli.atomic_write import atomic_write, check_target
from manyclass.cli.connection import BAD_LINES, FAILED, INTERRUPTED, complain
from manyclass.cli.input_options import Input
from manyclass.cli.progress_bar import Move, bar
from manyclass.cli.reading import check_mostly_good, parents_of, read_files
from manyclass.core.text import TextAnalysis
from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.klr.fit import (
    Course,
    FitError,
    Fitted,
    Fitting,
    Plan,
    Progress,
    classes_with_rows,
)
from manyclass.training.klr.memory import TooLarge
from manyclass.training.klr.model import VERSION, Model, ModelFault, read_arrays, write_arrays
from manyclass.training.klr.search import ExtraMissing
from manyclass.training.klr.tree import Sharing, tree_of
from manyclass.training.parents import ROOT, single_parents
from manyclass.training.rows import Rows


@dataclass(frozen=True)
class Scope:
    """The classes of a fit and the tree above them, as the command line has them."""

    sharing: Sharing
    taxonomy: str | None
    codes: bool
    task: str | None
    classes_at_least: int


def run(
    files: Sequence[str],
    input: Input,
    text: TextAnalysis,
    scope: Scope,
    plan: Plan,
    out: Path,
    resume: bool,
) -> None:
    """Fit and write the model; end the command at any error."""
    check_target(out, "--out")
    course = _course(out) if resume else None
    rows, account = read_files(files, input, text)
    check_mostly_good(account, "nothing was fitted")
    parents = _parents(scope, rows.classes)
    classes = _classes(rows, scope, parents)
    tree = tree_of(classes, parents, scope.sharing, scope.task or ROOT)
    rows = _of_classes(rows, classes)

    def save(course: Course) -> None:
        _write(out, {**course.arrays(), "version": np.array(VERSION)})

    try:
        fitting = Fitting(rows, classes, tree, plan, course)
        typer.echo(
            f"fit: {len(rows):,} rows ({fitting.searched:,} in the search),"
            f" {len(classes):,} classes, {tree.nodes:,} nodes, {len(tree.groups):,} variances;"
            f" about {fitting.size.bytes / 2**20:,.0f} MiB",
            err=True,
        )
        with bar(None) as move:
            fitted = fitting.run(_Report(move), save)
    except (FitError, TooLarge, ExtraMissing) as error:
        complain(str(error))
        raise typer.Exit(FAILED) from error
    except KeyboardInterrupt:
        complain(f"stopped: --resume continues from {out}, if it was written")
        raise typer.Exit(INTERRUPTED) from None
    _write(out, {**fitted.course.arrays(), **fitted.model.arrays(), "text": np.array(str(text))})
    _say(fitted, out)
    if account.rejected:
        raise typer.Exit(BAD_LINES)


def ranked(
    model: Path, files: Sequence[str], input: Input, top: int
) -> Iterator[list[tuple[str, float]]]:
    """Yield the likeliest classes of each row with their probabilities."""
    made, text = fitted_of(model)
    rows, _ = read_files(files, input, text)
    for block in made.probabilities(rows):
        for row in block:
            best = np.argsort(-row, kind="stable")[:top]
            yield [(made.classes[c], float(row[c])) for c in best]


def fitted_of(file: Path) -> tuple[Model, TextAnalysis]:
    """Return the model of a file and the analysis of its texts; end the command at any error."""
    arrays = _arrays(file)
    if "alpha" not in arrays:
        complain(f"{file}: the fit is not finished: `manyclass fit --resume` continues it")
        raise typer.Exit(FAILED)
    try:
        return Model.of_arrays(arrays), TextAnalysis.parse(str(arrays["text"]))
    except (ModelFault, KeyError, ValueError) as error:
        complain(f"{file}: {error}")
        raise typer.Exit(FAILED) from error


class _Report:
    """Prints a line when a stage or an evaluation begins, and moves the bar at each step."""

    def __init__(self, move: Move) -> None:
        self._move = move
        self._at = ("", 0)

    def __call__(self, progress: Progress) -> None:
        at = progress.stage, progress.evaluation
        if at != self._at:
            self._at = at
            typer.echo(self._line(progress), err=True)
        state = f"fold {progress.fold}, step {progress.step}, Φ {progress.phi:.1f}"
        self._move(0, f"{progress.stage}: {state}")

    def _line(self, progress: Progress) -> str:
        if progress.psi is None and progress.of == 1:
            return progress.stage
        parts = [f"{progress.stage}: evaluation {progress.evaluation} of {progress.of} at most"]
        if progress.psi is not None:
            parts.append(f"Ψ {progress.psi:.2f}")
        parts.append(f"Φ {progress.phi:.2f}")
        if progress.seconds_left is not None:
            parts.append(f"{progress.seconds_left:.0f} s left at most")
        return " · ".join(parts)


def _say(fitted: Fitted, out: Path) -> None:
    model, best = fitted.model, fitted.search.best
    variances = zip(model.tree.groups, np.exp(model.logs).tolist(), strict=True)
    shown = ", ".join(f"{name} {variance:.3g}" for name, variance in list(variances)[:20])
    typer.echo(f"variances: {shown}", err=True)
    typer.echo(
        f"held-out log loss {best.psi / fitted.searched:.4f} a row (Ψ {best.psi:.2f});"
        f" Φ {float(fitted.last.phi.sum()):.2f} after {fitted.last.steps} steps",
        err=True,
    )
    if fitted.search.at_bounds:
        names = ", ".join(model.tree.groups[at] for at in fitted.search.at_bounds)
        complain(f"variances at a bound of the search: {names}")
    if fitted.missing:
        complain(f"{fitted.missing:,} classes have searched rows in one fold only")
    if best.unfinished or not fitted.last.converged.all():
        state = "stalled" if fitted.last.stalled.any() else "not finished"
        complain(f"{best.unfinished} fits of folds did not converge; the last fit: {state}")
    typer.echo(f"{out.stat().st_size} bytes in {out}", err=True)


# --- classes --------------------------------------------------------------------------------------


def _parents(scope: Scope, classes: Sequence[str]) -> Callable[[str], list[str]]:
    """Return the parents of each name, by the taxonomy of the command line."""
    given: Mapping[str, str | None] = {}
    if scope.taxonomy is not None:
        given = parents_of(scope.taxonomy)
    if scope.codes:
        of_codes = Taxonomy.of_codes({*classes, *given})
        return lambda name: sorted(of_codes.parents(name))
    return lambda name: [above] if (above := given.get(name)) else []


def _classes(rows: Rows, scope: Scope, parents: Callable[[str], list[str]]) -> list[str]:
    """Return the classes of the fit: with enough rows, at or below the task."""
    classes = classes_with_rows(rows, scope.classes_at_least)
    if scope.task is None:
        return classes
    parent_of = single_parents(classes, parents)

    def is_below(name: str) -> bool:
        while name != scope.task:
            if name not in parent_of:
                return False
            name = parent_of[name]
        return True

    below = [name for name in classes if is_below(name)]
    if not below:
        raise typer.BadParameter(
            f"no class with rows is at or below {scope.task!r}", param_hint="--task"
        )
    return below


def _of_classes(rows: Rows, classes: Sequence[str]) -> Rows:
    """Return the rows with one of the classes or more."""
    wanted = {*classes}
    kept = np.array([name in wanted for name in rows.classes])
    row = np.repeat(np.arange(len(rows)), np.diff(rows.class_indptr))
    return rows.take(np.unique(row[kept[rows.class_indices]]))


# --- files ----------------------------------------------------------------------------------------


def _course(out: Path) -> Course:
    arrays = _arrays(out)
    if "alpha" in arrays:
        typer.echo(f"{out} is a finished model: nothing is left to do", err=True)
        raise typer.Exit
    try:
        return Course.of_arrays(arrays)
    except ModelFault as error:
        complain(f"{out}: {error}")
        raise typer.Exit(FAILED) from error


def _arrays(file: Path) -> dict[str, NDArray[Any]]:
    try:
        with file.open("rb") as opened:
            return read_arrays(opened)
    except OSError as error:
        complain(f"{file}: {error.strerror or error}")
        raise typer.Exit(FAILED) from error
    except ModelFault as error:
        complain(f"{file}: {error}")
        raise typer.Exit(FAILED) from error


def _write(out: Path, arrays: dict[str, NDArray[Any]]) -> None:
    try:
        with atomic_write(out) as file:
            write_arrays(arrays, file)
    except OSError as error:
        complain(f"{out} cannot be written: {error}")
        raise typer.Exit(FAILED) from error

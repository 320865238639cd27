"""A run of offline training: read, learn, write, and print the command to serve the result."""

import shlex
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import typer

from manyclass.cli.atomic_write import atomic_write, check_target
from manyclass.cli.connection import BAD_LINES, FAILED, INTERRUPTED, complain
from manyclass.cli.progress_bar import bar
from manyclass.cli.reading import read_files, taxonomy_of
from manyclass.core.abilities import check_weights
from manyclass.core.errors import InstanceError, OptionError
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import DEFAULT_LEARNER
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from manyclass.core.taxonomy import Taxonomy
from manyclass.core.text import TextAnalysis
from manyclass.service.errors import with_hint
from manyclass.service.store import open_store
from manyclass.service.store.errors import StoreError, StoreMissing
from manyclass.service.store.protocol import Store
from manyclass.training.rows import Rows
from manyclass.training.trainer import Pass, Plan, Training, train


def run(
    files: Sequence[str],
    format: str | None,
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
    try:
        options = Options.parse(specification)
        ModelSet(options)  # refuses options of members only
    except OptionError as error:
        raise typer.BadParameter(str(error), param_hint="--learner") from error
    try:
        _check_targets(out, store)
        placed = taxonomy_of(taxonomy)
        rows, account = read_files(files, format, text)
        if account.rejected > account.instances:
            complain("most lines are bad, as in a file of another format: nothing was written")
            raise typer.Exit(BAD_LINES)
        try:
            check_weights(rows.weights, rows.indptr, options)
        except InstanceError as error:
            raise typer.BadParameter(str(error), param_hint="--learner") from error
        training = _train(rows, options, plan, placed)
        _write(_model_of(training, text), out, store)
    except KeyboardInterrupt:
        complain("stopped: nothing was written")
        raise typer.Exit(INTERRUPTED) from None
    typer.echo(f"serve it: {serving(options, out, store)}", err=True)
    if account.rejected:
        raise typer.Exit(BAD_LINES)


def serving(options: Options, out: Path | None, store: str | None) -> str:
    """Return the command that serves the trained model; a start with other options is refused."""
    learner = options.full_specification
    flags = ["--learner", learner] if learner != DEFAULT_LEARNER else []
    place = store or "sqlite:NEW.db"
    said = shlex.join(["manyclass", "serve", "--store", place, *flags])
    if store is None:
        said = shlex.join(["manyclass", "copy", f"file:{out}", place]) + " && " + said
    return said


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
        f"{learner.options.specification}: {learner.classes:,} classes, {learner.features:,}"
        f" features, {learner.edges:,} edges, {learner.bytes:,} bytes",
        err=True,
    )
    return training


def _say_pass(made: Pass) -> None:
    _say(f"pass {made.number}", made)


def _say(what: str, made: Pass) -> None:
    parts = [f"{what}: {made.rows:,} rows in {made.seconds:.1f} s"]
    for label, accuracy in (("before learning", made.training), ("held out", made.held_out)):
        if accuracy is not None:
            recall = f"R1 {accuracy.r1:.4f}  R5 {accuracy.r5:.4f}"
            parts.append(f"{label} {recall}  MRR {accuracy.mrr:.4f}")
    typer.echo(" · ".join(parts), err=True)


# --- writing --------------------------------------------------------------------------------------


def _check_targets(out: Path | None, store: str | None) -> None:
    """End the command, before anything is learned, when the result could not be written."""
    if out is None and store is None:
        raise typer.BadParameter("name a place to write to: --out FILE, --store URL or both")
    check_target(out, "--out")
    if store is not None:  # a run that ends before it has anything to write makes none
        _to_store(store, _check_empty, make_new=False)


def _model_of(training: Training, text: TextAnalysis) -> Model:
    return Model.of(training.learner, training.learned, training.calibration, text, training.losses)


def _write(model: Model, out: Path | None, store: str | None) -> None:
    if out is not None:
        typer.echo(f"{_to_file(model, out)} bytes in {out}", err=True)  # it may be standard output
    if store is not None:
        _to_store(store, partial(_save, model))


def _to_file(model: Model, out: Path) -> int:
    """Write the whole file or nothing; return its size."""
    try:
        with atomic_write(out) as file:
            return sum(file.write(piece) for piece in model.dump())
    except OSError as error:
        complain(f"{out} cannot be written: {error}")
        raise typer.Exit(FAILED) from error


def _to_store(url: str, use: Callable[[Store], None], make_new: bool = True) -> None:
    """Use the store; without `make_new`, only if it exists."""
    try:
        with closing(open_store(url, time.time, make_new=make_new)) as opened:
            use(opened)
    except StoreMissing:
        pass  # without `make_new`
    except StoreError as error:
        complain(f"the store cannot be written: {with_hint(error)}")
        raise typer.Exit(FAILED) from error


def _check_empty(store: Store) -> None:
    if store.last_seq or store.snapshots():
        raise StoreError("it is not empty", "name a new one")


def _save(model: Model, store: Store) -> None:
    _check_empty(store)
    info = store.save_snapshot(model.seq, model.dump())
    typer.echo(f"{info.bytes} bytes in the store, as the state after event {info.seq}")

"""The fit of a model: search for parameters, then alpha on all rows; it can be stopped and resumed.

A parameter for all nodes is searched first; separate ones start from it. The search may take a
part of the rows at random.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from time import monotonic
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from manyclass.training.klr.arrays import ByFeature, Real, Targets
from manyclass.training.klr.crossvalidation import (
    CrossValidation,
    Evaluation,
    Outcomes,
    random_folds,
)
from manyclass.training.klr.features import Features
from manyclass.training.klr.kernels import LinearKernel
from manyclass.training.klr.memory import DEFAULT_MOST, Size
from manyclass.training.klr.model import Model, ModelFault
from manyclass.training.klr.newton import Effort, Fit, Newton
from manyclass.training.klr.search import Found, minimizer, search
from manyclass.training.klr.tree import ClassTree
from manyclass.training.klr.workers import Workers
from manyclass.training.rows import Rows

START: Final = 5.0  # variance of all nodes at first
TIED_EVALUATIONS: Final = 10  # of the search for one parameter, at most
SECONDS_BETWEEN_SAVES: Final = 30.0
LAST: Final = Effort(fall=1e-6, products=60)


class FitError(ValueError):
    """Rows or a resumed file that cannot be fitted; nothing was changed."""


@dataclass(frozen=True)
class Plan:
    """The protocol of a fit.

    `evaluations` bounds each stage of the search, which takes `search_rows` of the rows at random,
    0: all.
    """

    folds: int = 5
    seed: int = 0
    evaluations: int = 30
    bias: float = 0.0
    tfidf: bool = True
    threads: int = 1
    most_bytes: int = DEFAULT_MOST
    search_rows: int = 0


@dataclass(frozen=True)
class Progress:
    """A step of a fit."""

    stage: str  # "one variance", "variances" or "all rows"
    evaluation: int  # the number of the current one, from 1
    of: int  # evaluations at most
    fold: int
    step: int  # of Newton
    phi: float
    psi: float | None  # of the last evaluation
    seconds_left: float | None  # of the stage, at most


@dataclass
class Course:
    """The state of a fit that a file keeps, so that it can go on."""

    digest: str  # of rows, tree and plan
    tied: list[Evaluation] = field(default_factory=list)
    separate: list[Evaluation] = field(default_factory=list)
    alphas: list[Real] = field(default_factory=list)  # of each fold
    outcomes: Outcomes | None = None  # of held-out rows at the parameters found
    last: Real | None = None  # alpha on all rows, unfinished
    growths: int = 0  # of the variance of that fit, still to come

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of the file."""
        made: dict[str, NDArray[Any]] = {"course_digest": np.array(self.digest)}
        for name, evaluations in (("tied", self.tied), ("separate", self.separate)):
            table = [[each.psi, each.products, each.unfinished] for each in evaluations]
            made[f"course_{name}"] = np.array(table, float).reshape(-1, 3)
            made[f"course_{name}_logs"] = np.array([each.logs for each in evaluations])
            made[f"course_{name}_gradients"] = np.array([each.gradient for each in evaluations])
        for fold, alpha in enumerate(self.alphas):
            made[f"course_alpha_{fold}"] = alpha
        if self.last is not None:
            made["course_last"] = self.last
            made["course_growths"] = np.array(self.growths)
        if self.outcomes is not None:
            made["course_outcome_scores"] = self.outcomes.top_two
            made["course_outcome_right"] = self.outcomes.right
        return made

    @classmethod
    def of_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Return the state in a file; ModelFault."""
        try:
            made = cls(str(arrays["course_digest"]))
            for name, evaluations in (("tied", made.tied), ("separate", made.separate)):
                evaluations += [
                    Evaluation(logs, float(row[0]), gradient, int(row[1]), int(row[2]))
                    for row, logs, gradient in zip(
                        arrays[f"course_{name}"],
                        arrays[f"course_{name}_logs"],
                        arrays[f"course_{name}_gradients"],
                        strict=True,
                    )
                ]
            while (alpha := arrays.get(f"course_alpha_{len(made.alphas)}")) is not None:
                made.alphas.append(alpha)
            made.last = arrays.get("course_last")
            if made.last is not None:
                made.growths = int(arrays["course_growths"])
            if "course_outcome_scores" in arrays:
                scores = arrays["course_outcome_scores"]
                made.outcomes = Outcomes(scores, arrays["course_outcome_right"])
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise ModelFault(f"the file cannot be resumed: {error}") from error
        return made


@dataclass(frozen=True)
class Fitted:
    """A model and the course of its fit."""

    model: Model
    search: Found
    last: Fit
    missing: int  # classes whose searched rows are all in one fold
    searched: int  # rows
    course: Course


OnProgress = Callable[[Progress], None]
Save = Callable[[Course], None]


class Fitting:
    """A fit of rows whose classes are the columns of a tree.

    Raises FitError for fewer than two classes or a fold without rows, and TooLarge, before arrays
    of scores are made.
    """

    def __init__(
        self,
        rows: Rows,
        classes: list[str],
        tree: ClassTree,
        plan: Plan,
        course: Course | None = None,
    ) -> None:
        minimizer()  # rather before the work than after it
        if len(classes) < 2:
            raise FitError("there must be two classes or more")
        part = _part(len(rows), plan)
        searched = rows if part is None else rows.take(part)
        if not 2 <= plan.folds <= len(searched):
            raise FitError(f"there must be 2 to {len(searched):,} folds, as many as rows at most")
        numbers = {name: number for number, name in enumerate(classes)}
        columns = np.array([numbers.get(name, -1) for name in rows.classes], np.int32)
        whole = Size(
            len(rows),
            len(classes),
            tree.nodes,
            len(rows.features),
            len(rows.indices),
            plan.folds,
            plan.threads,
        )
        self.size = whole.after_search(len(searched)) if part is not None else whole
        self.size.check(plan.most_bytes)
        self.plan = plan
        self._classes = classes
        self._tree = tree
        self._features = Features.of(rows, plan.tfidf)
        self._x = self._features.values(rows)
        if not np.isfinite(self._x.values).all():
            raise FitError("a value is not a finite number")
        self._targets = Targets.of(rows, columns, np.float32)
        self._searched = self._x, self._targets
        if part is not None:
            self._searched = (
                self._features.values(searched),
                Targets.of(searched, columns, np.float32),
            )
        if not self._searched[1].weights.any():
            raise FitError("no row of the search has one of the classes")
        digest = _digest(self._x, self._targets, tree, plan)
        if course is not None and course.digest != digest:
            raise FitError("the file is of other rows, another taxonomy or other options")
        self._course = course or Course(digest)
        self._fold_of = random_folds(len(searched), plan.folds, plan.seed)

    @property
    def searched(self) -> int:
        """Return the number of rows that the search takes."""
        return len(self._fold_of)

    @property
    def missing(self) -> int:
        """Return the number of classes whose searched rows are all in one fold."""
        _, targets = self._searched
        row = np.repeat(np.arange(len(targets)), np.diff(targets.starts))
        counts = np.zeros((self.plan.folds, len(self._classes)), np.int64)
        np.add.at(counts, (self._fold_of[row], targets.classes), 1)
        sums = counts.sum(0)
        return int(((sums == counts).any(0) & (sums > 0)).sum())

    def run(
        self,
        on_progress: OnProgress = lambda progress: None,
        save: Save = lambda course: None,
    ) -> Fitted:
        """Fit; `save` is called with the state now and then."""
        workers = Workers(self.plan.threads)
        try:
            return self._run(workers, on_progress, save)
        finally:
            workers.close()

    def _run(self, workers: Workers, on_progress: OnProgress, save: Save) -> Fitted:
        found, outcomes, newton = self._search(workers, on_progress, save)
        logs = found.best.logs
        tree = self._tree if len(self._tree.groups) > 1 else self._tree.tied()
        alpha, last = self._last(tree, logs, newton, workers, on_progress, save)
        class_rows = np.bincount(self._targets.classes, minlength=len(self._classes))
        model = Model(
            self._classes,
            tree,
            self._features,
            self._x,
            alpha,
            logs,
            self.plan.bias,
            class_rows.astype(np.int64),
            outcomes,
        )
        return Fitted(model, found, last, self.missing, self.searched, self._course)

    def _search(
        self, workers: Workers, on_progress: OnProgress, save: Save
    ) -> tuple[Found, Outcomes, Newton | None]:
        """Return the parameters, and the arrays of the search if it took all rows."""
        course = self._course
        x, targets = self._searched
        tied = LinearKernel(x, self._tree.tied(), self.plan.bias, workers)
        criterion = CrossValidation(tied, targets, self._fold_of, workers=workers)
        if course.alphas:
            criterion.resume(course.alphas, (course.separate or course.tied)[-1].logs)
        course.alphas = criterion.alphas
        groups = len(self._tree.groups)
        start = np.log([START])
        first = _Stage("one variance", criterion, course.tied, on_progress, save, course)
        most = self.plan.evaluations
        found = first.run(start, most if groups == 1 else min(most, TIED_EVALUATIONS))
        if groups > 1:
            criterion.use(LinearKernel(x, self._tree, self.plan.bias, workers))
            second = _Stage("variances", criterion, course.separate, on_progress, save, course)
            found = second.run(np.repeat(found.best.logs, groups), most)
        if course.outcomes is None:
            course.outcomes = criterion.outcomes(found.best.logs, Effort())
        return found, course.outcomes, criterion.newton if x is self._x else None

    def _last(
        self,
        tree: ClassTree,
        logs: NDArray[np.float64],
        searched: Newton | None,
        workers: Workers,
        on_progress: OnProgress,
        save: Save,
    ) -> tuple[Real, Fit]:
        """Fit all rows: from the mean of the alphas of the folds, if the folds are of all rows."""
        course = self._course
        weights = self._targets.weights
        saved = monotonic()

        def on_step(fit: Fit) -> None:
            nonlocal saved
            course.growths = fit.growths
            phi = float(fit.phi.sum())
            on_progress(Progress("all rows", 1, 1, 0, fit.steps, phi, None, None))
            if monotonic() - saved > SECONDS_BETWEEN_SAVES:
                save(course)
                saved = monotonic()

        if searched is None:
            course.alphas = []
            kernel = LinearKernel(self._x, tree, self.plan.bias, workers)
            newton = Newton(kernel, self._targets, workers=workers)
            if course.last is None:
                course.last, course.growths = np.zeros_like(newton.u), newton.growths(logs)
        else:
            newton = searched
            if course.last is None:
                course.last = _mean(course.alphas)
            course.alphas = []
        return course.last, newton.grow(course.last, weights, logs, LAST, course.growths, on_step)


def _part(rows: int, plan: Plan) -> NDArray[np.int64] | None:
    """Return the rows that the search takes, ascending; None: all."""
    if not 0 < plan.search_rows < rows:
        return None
    return np.sort(np.random.default_rng(plan.seed).permutation(rows)[: plan.search_rows])


def _mean(alphas: list[Real]) -> Real:
    """Return the mean of the alphas of the folds, each of which leaves out its own rows."""
    mean = alphas[0]
    for alpha in alphas[1:]:
        mean += alpha
    mean /= len(alphas) - 1
    return mean


class _Stage:
    """A search whose evaluations are reported and saved."""

    def __init__(
        self,
        name: str,
        criterion: CrossValidation,
        evaluations: list[Evaluation],
        on_progress: OnProgress,
        save: Save,
        course: Course,
    ) -> None:
        self._name = name
        self._criterion = criterion
        self._evaluations = evaluations
        self._on_progress = on_progress
        self._save = save
        self._course = course
        self._seconds = list[float]()  # of each evaluation of this process
        self._saved = monotonic()

    def run(self, start: NDArray[np.float64], most: int) -> Found:
        known = list(self._evaluations)

        def evaluate(logs: NDArray[np.float64]) -> Evaluation:
            began = monotonic()

            def on_fold(fold: int, fit: Fit) -> None:
                self._on_progress(self._progress(most, fold, fit))

            made = self._criterion.evaluate(logs, Effort(), on_fold)
            self._evaluations.append(made)
            self._seconds.append(monotonic() - began)
            if monotonic() - self._saved > SECONDS_BETWEEN_SAVES:
                self._save(self._course)
                self._saved = monotonic()
            return made

        return search(evaluate, start, most, known)

    def _progress(self, most: int, fold: int, fit: Fit) -> Progress:
        done = len(self._evaluations)
        mean = float(np.mean(self._seconds)) if self._seconds else None
        return Progress(
            self._name,
            done + 1,
            most,
            fold + 1,
            fit.steps,
            float(fit.phi.sum()),
            self._evaluations[-1].psi if done else None,
            None if mean is None else mean * (most - done),
        )


def classes_with_rows(rows: Rows, least: int = 1) -> list[str]:
    """Return the classes of at least so many rows, in the order of the columns."""
    counts = np.bincount(rows.class_indices, minlength=len(rows.classes))
    return [rows.classes[column] for column in np.flatnonzero(counts >= max(least, 1)).tolist()]


def _digest(x: ByFeature, targets: Targets, tree: ClassTree, plan: Plan) -> str:
    """Return a digest of everything that the course of the fit depends on."""
    hashed = sha256()
    arrays = (x.starts, x.rows, x.values, targets.starts, targets.classes, targets.weights)
    for array in (*arrays, tree.parents, tree.leaves, tree.counts):
        hashed.update(np.ascontiguousarray(array).data)
    kept = replace(plan, threads=1, most_bytes=0, evaluations=0)
    hashed.update(repr(kept).encode())
    if plan.search_rows:
        hashed.update(f"search_rows={plan.search_rows}".encode())
    return hashed.hexdigest()

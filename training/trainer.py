"""Learns rows in passes and stops early when held-out accuracy no longer rises.

Confidence is calibrated with the rankings of rows that are new to the learner: those of the first
pass, and those of rows kept back until the passes are over. A learner is far surer about rows that
it knows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.calibration import Calibration
from manyclass.core.columns import Columns
from manyclass.core.expected_loss import ExpectedLoss
from manyclass.core.learner import Learner
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.sections import Sections
from manyclass.core.taxonomy import Taxonomy
from manyclass.training.accuracy import Accuracy, ranks_of
from manyclass.training.losses import COUNTED_AT_ONCE, count_losses
from manyclass.training.rows import Rows

LEARNED_AT_ONCE = 4096  # rows copied at a time, and learned between two checks for Ctrl-C

CALIBRATION_ROWS: Final = 1000
# The last outcomes to which the calibration is fitted at the end; with fewer than the least it
# stays as it was learned online.
SETTLED: Final = 4000
LEAST_SETTLED: Final = 500

OnProgress = Callable[[int, int, int], None]  # number of the pass, rows learned in it, its rows


def _unheard(number: int, learned: int, rows: int) -> None:
    """Ignore the progress."""


class PlanError(ValueError):
    """A plan that cannot be carried out. `option` names the part at fault, `reason` says why."""

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(f"{option}: {reason}")
        self.option = option
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Plan:
    """Passes, order and early stopping of a training. PlanError for a value out of its range."""

    passes: int = 1  # at most
    shuffle: bool = True  # the rows before each pass; without it, rows keep the files' order
    held_out: float = 0.0  # share of the rows for validation: random, or the last without shuffle
    oversample: int = 0  # minimum rows of each class in a pass; 0: off
    patience: int = 0  # passes without a rise of held-out R1 before stopping; 0: all passes
    seed: int = 0  # of the split and of the orders
    # Rows learned only once, after several passes, for the calibration: random, or the last without
    # shuffle; at most a tenth.
    calibration_rows: int = CALIBRATION_ROWS

    def __post_init__(self) -> None:
        def need(condition: bool, option: str, message: str) -> None:
            if not condition:
                raise PlanError(option, message)

        need(self.passes >= 1, "passes", "must be at least 1")
        need(0 <= self.held_out < 1, "held_out", "must be at least 0 and below 1")
        need(self.oversample >= 0, "oversample", "must be 0 (off) or a number of rows")
        need(self.patience >= 0, "patience", "must be 0 (off) or a number of passes")
        need(self.seed >= 0, "seed", "must be at least 0")
        need(self.calibration_rows >= 0, "calibration_rows", "must be 0 (none) or a number of rows")
        need(
            self.patience == 0 or self.held_out > 0,
            "patience",
            "needs rows that are held out: it is their R1 that has to rise",
        )


@dataclass(frozen=True, slots=True)
class Pass:
    """The accuracy and time of one pass, or of the rows kept back until after the passes."""

    number: int  # 1 is the first; rows kept back have that of the kept pass
    rows: int
    training: Accuracy  # progressive: each row was ranked right before it was learned
    held_out: Accuracy | None  # after the pass; None when nothing is held out
    seconds: float  # of learning


@dataclass(frozen=True, slots=True)
class Training:
    """A trained learner with its calibration and expected losses, and the passes that made it."""

    learner: Learner
    calibration: Calibration
    losses: ExpectedLoss  # fitted like the calibration; new without a taxonomy
    passes: list[Pass]  # in order, discarded ones included
    kept: Pass  # the last pass that the learner contains
    kept_back: Pass | None  # the rows learned after the passes; None without any

    @property
    def learned(self) -> int:
        """The number of instances the learner learned, summed over its passes."""
        after = 0 if self.kept_back is None else self.kept_back.rows
        return sum(each.rows for each in self.passes[: self.kept.number]) + after


@dataclass(frozen=True)
class Parts:
    """The rows of a training. Positions are of rows, those of oversampled ones repeated."""

    held_out: Rows  # never learned
    learned: NDArray[np.int64]  # in each pass
    kept_back: NDArray[np.int64]  # learned once, after the passes


def train(
    rows: Rows,
    options: Options,
    plan: Plan,
    on_progress: OnProgress = _unheard,
    ended: Callable[[Pass], None] = lambda made: None,
    taxonomy: Taxonomy | None = None,
) -> Training:
    """Train a learner with these options on the rows, as planned, with the classes in a taxonomy.

    With patience, the pass with the best held-out R1 is kept (the first of equal ones), else the
    last pass; the rows kept back are learned after it. The same rows, options and plan make the
    same state. `on_progress` is called within a pass, `ended` after each. Raises PlanError if no
    rows are left to learn or to hold out.
    """
    parts = parts_of(rows, plan)
    course = _Course(rows, parts.held_out)
    taxonomy = Taxonomy() if taxonomy is None else taxonomy
    taxonomy.note_classes([*rows.classes])
    learner, calibration = make(options, taxonomy=taxonomy), Calibration()
    if options.builds_offline:
        course.plant(learner, np.concatenate([parts.learned, parts.kept_back]))
    losses = ExpectedLoss()
    passes: list[Pass] = []
    best: tuple[Pass, Sections] | None = None
    for number in range(1, plan.passes + 1):
        order = order_of_pass(rows, parts.learned, plan, number)
        made = course.learn(
            learner,
            order,
            number,
            (calibration, losses) if number == 1 else None,
            on_progress,
        )
        passes.append(made)
        ended(made)
        if not plan.patience:
            continue
        if best is None or _r1(made) > _r1(best[0]):
            best = made, learner.dump()
        elif number - best[0].number >= plan.patience:
            break
    kept = passes[-1]
    if best is not None and best[0] is not kept:
        kept, learner = best[0], Learner.load(options, best[1], taxonomy=taxonomy)
    kept_back = None
    if len(parts.kept_back):
        order = order_of_pass(rows, parts.kept_back, plan, plan.passes + 1)
        losses = ExpectedLoss()  # scores grow from pass to pass
        kept_back = course.learn(learner, order, kept.number, (calibration, losses))
    scores, right = course.outcomes
    settled = settled_part(len(right), kept_back is not None)
    calibration.settle(scores[settled], right[settled])
    return Training(learner, calibration, losses, passes, kept, kept_back)


def settled_part(outcomes: int, are_kept_back: bool) -> slice:
    """Return which of the last new rows' outcomes are those of a learner that hardly changes.

    The part is empty after too few. A learner improves fast over the first half of its first pass.
    """
    begin = max(outcomes - SETTLED, 0 if are_kept_back else outcomes // 2)
    return slice(begin if outcomes - begin >= LEAST_SETTLED else outcomes, outcomes)


class _Course:
    """The rows of a training with their columns."""

    def __init__(self, rows: Rows, held_out: Rows) -> None:
        self._rows = rows
        self._held_out = held_out
        self._columns = Columns(rows.features), Columns(rows.classes)
        self.outcomes = np.empty((0, 2)), np.empty(0, np.uint8)  # of the last new rows

    def plant(self, learner: Learner, known: NDArray[np.int64]) -> None:
        """Build the label trees of the learner over these rows."""
        learner.build_csr(*self._rows.take(known).labelled(*self._columns))

    def learn(
        self,
        learner: Learner,
        order: NDArray[np.int64],
        number: int,
        outcomes: tuple[Calibration, ExpectedLoss] | None,
        on_progress: OnProgress = _unheard,
    ) -> Pass:
        """Learn the rows in this order. If they are new, calibration and losses learn outcomes."""
        began = perf_counter()
        ranks = np.empty(len(order), np.int32)
        top_two = np.empty((len(order), 2), np.float64)
        # Of a repeated row only the first outcome is that of a new row.
        firsts = np.sort(np.unique(order, return_index=True)[1])
        counts = outcomes is not None and len(learner.taxonomy) > 0
        at_once = COUNTED_AT_ONCE if counts else LEARNED_AT_ONCE
        for begin in range(0, len(order), at_once):
            some = self._rows.take(order[begin : begin + at_once])
            end = begin + len(some)
            new = firsts[(firsts >= begin) & (firsts < end)]
            if outcomes is not None and counts:
                count_losses(outcomes[1], learner, self._rows.take(order[new]), *self._columns)
            counted = np.zeros(len(some), np.uint8)
            counted[new - begin] = 1
            ranks[begin:end] = learner.learn_csr(
                *some.labelled(*self._columns),
                epoch=int(outcomes is None),
                weights=some.weights,
                top_two=top_two[begin:end],
                calibration=None if outcomes is None else outcomes[0],
                counts=counted,
            )
            on_progress(number, end, len(order))
        if outcomes is not None:
            self.outcomes = top_two[firsts], (ranks[firsts] == 1).astype(np.uint8)
        seconds = perf_counter() - began
        held_out = None
        if len(self._held_out):
            held_out = Accuracy.of(ranks_of(learner, self._held_out, *self._columns))
        return Pass(number, len(order), Accuracy.of(ranks), held_out, seconds)


def parts_of(rows: Rows, plan: Plan) -> Parts:
    """Return the rows to hold out, to learn and to keep back.

    Raises PlanError if no row is left to learn, or none to hold out although the plan needs it.
    """
    order = np.arange(len(rows))
    if plan.shuffle:
        order = np.random.default_rng(plan.seed).permutation(len(rows))
    held_out = round(len(rows) * plan.held_out)
    if plan.held_out and not held_out:
        raise PlanError("held_out", f"{plan.held_out} of {len(rows)} rows is not one row")
    if held_out == len(rows):
        raise PlanError("held_out", f"of {len(rows)} rows nothing is left to learn")
    learned, validation = np.split(order, [len(rows) - held_out])
    # In one pass every row is new.
    most = 0 if plan.passes == 1 else min(plan.calibration_rows, len(learned) // 10)
    last = learned[len(learned) - most :]
    if plan.oversample:
        learned = learned[rows.take(learned).oversampling(plan.oversample)]
    is_last = np.isin(learned, last)
    return Parts(rows.take(validation), learned[~is_last], learned[is_last])


def order_of_pass(
    rows: Rows, learned: NDArray[np.int64], plan: Plan, number: int
) -> NDArray[np.int64]:
    """Return the positions of the rows of a pass, in the order of learning."""
    if not plan.shuffle:
        return learned
    return np.random.default_rng([plan.seed, number]).permutation(learned)


def _r1(made: Pass) -> float:
    return made.held_out.r1 if made.held_out is not None else 0.0

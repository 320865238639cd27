"""Learns rows in passes and stops early when held-out accuracy no longer rises."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from manyclass.core.columns import Columns
from manyclass.core.learners.learner import Learner, load, make
from manyclass.core.learners.options import Options
from manyclass.core.sections import Sections
from manyclass.training.accuracy import Accuracy, ranks_of
from manyclass.training.rows import Rows

LEARNED_AT_ONCE = 4096  # rows copied at a time, and learned between two checks for Ctrl-C

OnProgress = Callable[[int, int, int], None]  # number of the pass, rows learned in it, its rows


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

    def __post_init__(self) -> None:
        def need(condition: bool, option: str, message: str) -> None:
            if not condition:
                raise PlanError(option, message)

        need(self.passes >= 1, "passes", "must be at least 1")
        need(0 <= self.held_out < 1, "held_out", "must be at least 0 and below 1")
        need(self.oversample >= 0, "oversample", "must be 0 (off) or a number of rows")
        need(self.patience >= 0, "patience", "must be 0 (off) or a number of passes")
        need(self.seed >= 0, "seed", "must be at least 0")
        need(
            self.patience == 0 or self.held_out > 0,
            "patience",
            "needs rows that are held out: it is their R1 that has to rise",
        )


@dataclass(frozen=True, slots=True)
class Pass:
    """The accuracy and time of one pass."""

    number: int  # 1 is the first
    rows: int
    training: Accuracy  # progressive: each row was ranked right before it was learned
    held_out: Accuracy | None  # after the pass; None when nothing is held out
    seconds: float  # of learning


@dataclass(frozen=True, slots=True)
class Training:
    """A trained learner and the passes that made it."""

    learner: Learner
    passes: list[Pass]  # in order, discarded ones included
    kept: Pass  # the last pass that the learner contains

    @property
    def learned(self) -> int:
        """The number of instances the learner learned, summed over its passes."""
        return sum(each.rows for each in self.passes[: self.kept.number])


def train(
    rows: Rows,
    options: Options,
    plan: Plan,
    on_progress: OnProgress = lambda number, learned, rows: None,
    ended: Callable[[Pass], None] = lambda made: None,
) -> Training:
    """Train a learner with these options on the rows, as planned.

    With patience, the state after the pass with the best held-out R1 is returned (the first of
    equal ones), else the state after the last pass. The same rows, options and plan make the same
    state. `on_progress` is called within a pass, `ended` after each. Raises PlanError if no rows
    are left to learn or to hold out.
    """
    validation, learned = held_out_and_learned(rows, plan)
    features, classes = Columns(rows.features), Columns(rows.classes)
    learner = make(options)
    if options.builds_offline:
        learner.build_csr(*rows.take(learned).labelled(features, classes))
    passes: list[Pass] = []
    best: tuple[Pass, Sections] | None = None
    for number in range(1, plan.passes + 1):
        began = perf_counter()
        order = order_of_pass(rows, learned, plan, number)
        ranks = _learn(learner, rows, order, features, classes, number, on_progress)
        seconds = perf_counter() - began
        held_out = None
        if len(validation):
            held_out = Accuracy.of(ranks_of(learner, validation, features, classes))
        made = Pass(number, len(order), Accuracy.of(ranks), held_out, seconds)
        passes.append(made)
        ended(made)
        if not plan.patience:
            continue
        if best is None or _r1(made) > _r1(best[0]):
            best = made, learner.dump()
        elif number - best[0].number >= plan.patience:
            break
    if best is None or best[0] is passes[-1]:
        return Training(learner, passes, passes[-1])
    return Training(load(options, best[1]), passes, best[0])


def held_out_and_learned(rows: Rows, plan: Plan) -> tuple[Rows, NDArray[np.int64]]:
    """Return the held-out rows, and the positions to learn, oversampled ones repeated.

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
    if plan.oversample:
        learned = learned[rows.take(learned).oversampling(plan.oversample)]
    return rows.take(validation), learned


def order_of_pass(
    rows: Rows, learned: NDArray[np.int64], plan: Plan, number: int
) -> NDArray[np.int64]:
    """Return the positions of the rows of a pass, in the order of learning."""
    if not plan.shuffle:
        return learned
    return np.random.default_rng([plan.seed, number]).permutation(learned)


def _learn(
    learner: Learner,
    rows: Rows,
    order: NDArray[np.int64],
    features: Columns,
    classes: Columns,
    number: int,
    on_progress: OnProgress,
) -> NDArray[np.int32]:
    """Learn the rows in this order; return the rank of each before it was learned."""
    ranks = np.empty(len(order), np.int32)
    for begin in range(0, len(order), LEARNED_AT_ONCE):
        some = rows.take(order[begin : begin + LEARNED_AT_ONCE])
        ranks[begin : begin + len(some)] = learner.learn_csr(
            *some.labelled(features, classes), epoch=number - 1, weights=some.weights
        )
        on_progress(number, begin + len(some), len(order))
    return ranks


def _r1(made: Pass) -> float:
    return made.held_out.r1 if made.held_out is not None else 0.0

"""Learns rows in passes, and stops when that no longer helps on rows it has not learned."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from manyclass.core.index import Columns
from manyclass.core.learners.learner import Learner, load, make
from manyclass.core.learners.options import Options, may_be_planted
from manyclass.core.sections import Sections
from manyclass.training.accuracy import Accuracy, ranks_of
from manyclass.training.rows import Rows

LEARNED_AT_ONCE = 4096  # rows: as often Ctrl-C is heard, and what a pass copies

Heard = Callable[[int, int, int], None]  # number of the pass, rows learned in it, rows it has


class PlanError(ValueError):
    """A plan that cannot be carried out: which part of it, and why."""

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(f"{option}: {reason}")
        self.option = option
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Plan:
    """How rows are learned. PlanError for a value out of its range."""

    passes: int = 1  # at most
    shuffle: bool = True  # the rows of each pass, anew; without, the order is that of the files
    held_out: float = 0.0  # share of the rows that are not learned: drawn, or the last in order
    oversample: int = 0  # rows, at least, in which a class stands in a pass; 0: as they are
    patience: int = 0  # passes that held-out R1 may stay without rising; 0: all passes are made
    seed: int = 0  # of what is held out and of the orders

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
    """What one pass came to."""

    number: int  # 1 is the first
    rows: int
    training: Accuracy  # progressive: each row was ranked right before it was learned
    held_out: Accuracy | None  # after the pass; None when nothing is held out
    seconds: float  # of learning


@dataclass(frozen=True, slots=True)
class Training:
    """A learner that was trained, and how it went."""

    learner: Learner
    passes: list[Pass]  # all that were made
    kept: Pass  # the one after which the learner is as it is

    @property
    def learned(self) -> int:
        """The instances that made the learner, those of every pass counted."""
        return sum(each.rows for each in self.passes[: self.kept.number])


def train(
    rows: Rows,
    options: Options,
    plan: Plan,
    heard: Heard = lambda number, learned, rows: None,
    ended: Callable[[Pass], None] = lambda made: None,
) -> Training:
    """A learner with these options that has learned the rows as planned.

    With patience it is as it was after the pass with the best held-out R1, the first of equal
    ones; else as after the last pass. The same rows, options and plan make the same state. `heard`
    is told how far a pass is, `ended` of each pass that was made. Raises PlanError when nothing is
    left to learn or to be held out.
    """
    kept_back, learned = held_out_and_learned(rows, plan)
    features, classes = Columns(rows.features), Columns(rows.classes)
    learner = make(options)
    if may_be_planted(options):  # the rows to learn are a copy
        learner.plant_csr(*rows.take(learned).labelled(features, classes))
    passes: list[Pass] = []
    best: tuple[Pass, Sections] | None = None
    for number in range(1, plan.passes + 1):
        began = perf_counter()
        order = order_of_pass(rows, learned, plan, number)
        ranks = _learn(learner, rows, order, features, classes, number, heard)
        seconds = perf_counter() - began
        held_out = None
        if len(kept_back):
            held_out = Accuracy.of(ranks_of(learner, kept_back, features, classes))
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
    """The rows that are held out, and which of the others are learned, oversampled ones repeated.

    PlanError when there is none to learn, or none to hold out where the plan wants some.
    """
    order = np.arange(len(rows))
    if plan.shuffle:
        order = np.random.default_rng(plan.seed).permutation(len(rows))
    held_out = round(len(rows) * plan.held_out)
    if plan.held_out and not held_out:
        raise PlanError("held_out", f"{plan.held_out} of {len(rows)} rows is not one row")
    if held_out == len(rows):
        raise PlanError("held_out", f"of {len(rows)} rows nothing is left to learn")
    learned, kept_back = np.split(order, [len(rows) - held_out])
    if plan.oversample:
        learned = learned[rows.take(learned).oversampling(plan.oversample)]
    return rows.take(kept_back), learned


def order_of_pass(
    rows: Rows, learned: NDArray[np.int64], plan: Plan, number: int
) -> NDArray[np.int64]:
    """The rows of a pass in the order in which they are learned."""
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
    heard: Heard,
) -> NDArray[np.int32]:
    """Learn the rows in this order; their ranks before that."""
    ranks = np.empty(len(order), np.int32)
    for begin, some in _portions(rows, order):
        ranks[begin : begin + len(some)] = learner.learn_csr(
            *some.labelled(features, classes), passes_done=number - 1
        )
        heard(number, begin + len(some), len(order))
    return ranks


def _portions(rows: Rows, order: NDArray[np.int64]) -> Iterator[tuple[int, Rows]]:
    for begin in range(0, len(order), LEARNED_AT_ONCE):
        yield begin, rows.take(order[begin : begin + LEARNED_AT_ONCE])


def _r1(made: Pass) -> float:
    return made.held_out.r1 if made.held_out is not None else 0.0

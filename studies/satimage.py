"""Kernel logistic regression on the satellite image, as in section 6.1 of Seeger (2006).

Gaussian kernels; their parameters by the cross-validation likelihood of a random partition into
five folds. mc-tied: one kernel for all classes; mc-sep: one for each; 1rest: a model of each class
against the others, ranked by log probability. The numbers of a pixel are standardised by mean and
deviation of the training rows.
"""

import sys
import time
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.evaluation.datasets import Dataset
from manyclass.training.klr.arrays import Real, Targets
from manyclass.training.klr.crossvalidation import CrossValidation, Evaluation, random_folds
from manyclass.training.klr.newton import Effort, Newton
from manyclass.training.klr.search import search
from studies.declaration import Pivot, Record, Study, Trial
from studies.rbf import WIDEST, RbfKernel

FOLDS: Final = 5
BIAS: Final = 1.0
START: Final = np.log([5.0, 5.0])  # variance and width
TIED, SEPARATE, ONE_AGAINST_REST = "mc-tied", "mc-sep", "1rest"
EVALUATIONS: Final = {TIED: 10, SEPARATE: 15, ONE_AGAINST_REST: 8}
LAST: Final = Effort(fall=1e-6, products=60)
PRINTED: Final[list[Record]] = [
    {"dataset": "satimage", "estimator": f"{name}, paper", "split": 0, "error %": error}
    for name, error in ((SEPARATE, 7.81), (ONE_AGAINST_REST, 8.01), (TIED, 8.37))
]


def dense(data: Dataset) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return training and test rows, standardised."""
    rows = data.rows
    numbers = np.zeros((len(rows), len(rows.features)))
    numbers[np.repeat(np.arange(len(rows)), np.diff(rows.indptr)), rows.indices] = rows.values
    training = numbers[: data.published]
    scaled = (numbers - training.mean(0)) / training.std(0)
    return scaled[: data.published], scaled[data.published :]


def measured(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield test error and log loss; the seed draws the partition. mc-sep begins at mc-tied."""
    x, tested = dense(data)
    classes = data.rows.class_indices  # one to a row
    true, wanted = classes[: len(x)], classes[len(x) :]
    count = len(data.rows.classes)
    fold_of = random_folds(len(x), FOLDS, seed)
    began = time.process_time()
    if name == ONE_AGAINST_REST:
        each = [_against_rest(x, tested, true == c, fold_of) for c in range(count)]
        yield _record(name, seed, np.stack(each, 1), wanted, began, {})
        return
    tied = RbfKernel(x, count, True, BIAS)
    criterion = CrossValidation(tied, _targets(true), fold_of, together=True)
    best = _searched(criterion, START, EVALUATIONS[TIED])
    yield _fitted(TIED, seed, tied, best, true, tested, wanted, began)
    separate = RbfKernel(x, count, False, BIAS)
    criterion.use(separate)
    best = _searched(criterion, np.repeat(best.logs, count), EVALUATIONS[SEPARATE])
    yield _fitted(SEPARATE, seed, separate, best, true, tested, wanted, began)


def _targets(true: NDArray[np.int32]) -> Targets:
    starts = np.arange(len(true) + 1, dtype=np.int64)
    return Targets(
        starts, true.astype(np.int32), np.ones(len(true), np.float32), np.ones(len(true))
    )


def _searched(criterion: CrossValidation, start: NDArray[np.float64], most: int) -> Evaluation:
    variances = len(start) // 2
    highest = np.repeat([9.0, WIDEST], variances)

    def evaluate(logs: NDArray[np.float64]) -> Evaluation:
        found = criterion.evaluate(logs, Effort())
        print(f"    psi {found.psi:.2f}", np.exp(logs).round(1), found.products, file=sys.stderr)
        return found

    return search(evaluate, start, most, highest=highest).best


def _final(kernel: RbfKernel, logs: NDArray[np.float64], true: NDArray[np.int32]) -> Real:
    newton = Newton(kernel, _targets(true))
    alpha = np.zeros_like(newton.u)
    newton.cold_fit(alpha, np.ones(len(true)), logs, LAST)
    return alpha


def _fitted(
    name: str,
    seed: int,
    kernel: RbfKernel,
    best: Evaluation,
    true: NDArray[np.int32],
    tested: NDArray[np.float64],
    wanted: NDArray[np.int32],
    began: float,
) -> Record:
    scores = kernel.scores(tested, _final(kernel, best.logs, true))
    more = {"Psi / n": best.psi / len(true)}
    return _record(name, seed, log_probabilities(scores), wanted, began, more)


def _against_rest(
    x: NDArray[np.float64],
    tested: NDArray[np.float64],
    true: NDArray[np.bool_],
    fold_of: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the log probability of the class at each tested row."""
    kernel = RbfKernel(x, 2, True, BIAS)
    classes = true.astype(np.int32)
    criterion = CrossValidation(kernel, _targets(classes), fold_of, together=True)
    best = _searched(criterion, START, EVALUATIONS[ONE_AGAINST_REST])
    scores = kernel.scores(tested, _final(kernel, best.logs, classes))
    return log_probabilities(scores)[:, 1]


def log_probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logs of the softmax of each row."""
    above = scores - scores.max(1, keepdims=True)
    logs: NDArray[np.float64] = above - np.log(np.exp(above).sum(1, keepdims=True))
    return logs


def _record(
    name: str,
    seed: int,
    logs: NDArray[np.float64],
    wanted: NDArray[np.int32],
    began: float,
    more: Record,
) -> Record:
    made: Record = {
        "estimator": name,
        "error %": 100 * float((logs.argmax(1) != wanted).mean()),
        "log loss": float(-log_probabilities(logs)[np.arange(len(wanted)), wanted].mean()),
        "CPU s": time.process_time() - began,
        **more,
    }
    print(f"    partition {seed}: {made}", file=sys.stderr, flush=True)
    return made


STUDY: Final = Study(
    about="Gaussian kernels on the satellite image: error over random partitions",
    trials=[Trial("satimage", name, splits=10) for name in (SEPARATE, ONE_AGAINST_REST)],
    measure=measured,
    tables=[Pivot("mean over the partitions", ("error %", "log loss", "Psi / n", "CPU s"))],
    printed=PRINTED,
)

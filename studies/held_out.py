"""The measure of most studies: train an estimator on a split, test it on the held-out rows."""

from collections.abc import Iterator
from functools import partial
from math import isfinite
from typing import Any, Final

from manyclass.core.learners.options import Options
from manyclass.evaluation.datasets import Dataset
from manyclass.evaluation.estimator import Maker
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.evaluation.run import Outcome, fit_and_test, train_and_test
from manyclass.training.rows import Rows
from studies.declaration import Record
from studies.independent import Independent
from studies.peers import PEERS

ESTIMATORS: Final[dict[str, Maker]] = {**PEERS, "ind-chosen": partial(Independent, "ind-chosen")}
"""The estimators that are not learners of the core."""


class Sparsified(LearnerEstimator):
    """A learner that keeps only a share of its edges, the heaviest, after training."""

    def __init__(self, share: float, *given: Any) -> None:
        super().__init__(*given)
        self._share = share

    def fit(self, rows: Rows) -> None:
        super().fit(rows)
        self.learner.sparsify(round(self._share * self.learner.edges))


def held_out(data: Dataset, name: str, passes: int, seed: int) -> Iterator[Record]:
    """Yield accuracy and cost after each pass; unknown and infinite measures are left out.

    The name is one of ESTIMATORS or a specification, perhaps with ` keep=0.3` (the share of edges
    kept after training) or ` oversample=10` (each class has at least so many training rows).
    """
    outcome = _outcome(data, name, passes, seed)
    for each in outcome.passes:
        found = {
            "pass": each.number,
            **each.test,
            "training R1": each.training["R1"],
            "T_train s": each.train_seconds,
            "d": each.touched,
            "|W|": each.edges,
            "bytes": each.bytes,
            "ranks/s": outcome.ranks_per_second,
        }
        yield {
            name: value for name, value in found.items() if value is not None and isfinite(value)
        }


def _outcome(data: Dataset, name: str, passes: int, seed: int) -> Outcome:
    training, test = data.split(seed)
    specification, _, change = name.partition(" ")
    kind, _, amount = change.partition("=")
    if specification in ESTIMATORS:
        return fit_and_test(ESTIMATORS[specification](seed), training, test, seed, data.taxonomy)
    options = Options.parse(specification)
    if kind == "keep":
        sparsified = Sparsified(float(amount), training, options, passes, seed)
        return fit_and_test(sparsified, training, test, seed, data.taxonomy)
    if kind == "oversample":
        training = training.take(training.oversampling(int(amount))).shuffled(seed)
    return train_and_test(options, training, test, passes, seed, data.taxonomy)

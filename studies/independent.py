"""IND with a threshold chosen by held-out rows (Madani et al., JMLR 2009, section 4.2)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from manyclass.core.learners.options import Options
from manyclass.evaluation.learner_estimator import LearnerEstimator
from manyclass.evaluation.measures import hits_in
from manyclass.training.rows import Rows

THRESHOLDS = (
    *(round(0.01 * step, 2) for step in range(1, 10)),
    *(round(0.05 * step, 2) for step in range(2, 13)),
)
"""The thresholds of the paper: 0.01, 0.02, ..., 0.09, 0.1, 0.15, ..., 0.6 (section 6.3.7)."""
LEARNED = 0.8  # share of the training rows for trials; the others are held out


class Independent:
    """Learner `ind` with the p_ind (`threshold`) of the highest R1 on a random fifth of the rows.

    It is then trained on all training rows. With one threshold nothing is tried.
    """

    def __init__(self, name: str, seed: int, thresholds: Sequence[float] = THRESHOLDS) -> None:
        self.name = name
        self._seed = seed
        self._thresholds = thresholds

    def fit(self, rows: Rows) -> None:
        self.threshold = self._thresholds[0]
        if len(self._thresholds) > 1:
            self.threshold = self._best(*rows.shuffled(self._seed).split(LEARNED))
        self._learner = LearnerEstimator(rows, _options(self.threshold))
        self._learner.fit(rows)

    def rank(self, rows: Rows, k: int) -> NDArray[np.int32]:
        return self._learner.rank(rows, k)

    def bytes(self) -> int:
        return self._learner.bytes()

    def _best(self, learned: Rows, held_out: Rows) -> float:
        """Return the best threshold; only ranking reads it, so one trained learner tries all."""
        trial = LearnerEstimator(learned, _options(self._thresholds[0]))
        trial.fit(learned)
        right = dict[float, int]()
        for threshold in self._thresholds:
            trial.learner.configure(_options(threshold))
            right[threshold] = int(hits_in(trial.rank(held_out, 1), held_out).sum())
        return max(right, key=right.__getitem__)


def _options(threshold: float) -> Options:
    return Options.of("ind", min_weight=threshold)

"""A review of labels by out-of-fold rankings: accuracy by class, confusions, likely errors.

A suspect is a row whose ranking contradicts its label, the simplest form of confident learning
(Northcutt, Jiang, Chuang 2021), with calibrated confidence.
"""

from dataclasses import dataclass
from math import isfinite
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.calibration import Calibration
from manyclass.evaluation.measures import by_ranks, counts_by_class
from manyclass.evaluation.out_of_fold import OutOfFold
from manyclass.training.rows import Rows

# The weight of the precision in a suspicion; the rest is the weight of the confidence. The highest
# confidences differ little. Among these rows, precision puts classes last that are ranked first too
# often (docs/label-errors.md).
PRECISION_SHARE: Final = 0.1


@dataclass(frozen=True, slots=True)
class ClassAccuracy:
    """Counts of rows of a class, of rows where it is ranked first, and of rows of both kinds."""

    name: str
    rows: int
    first: int
    right: int

    @property
    def precision(self) -> float | None:
        """Return the share of right rows among rows with the class first; None without any."""
        return self.right / self.first if self.first else None

    @property
    def recall(self) -> float | None:
        """Return the share of right rows among rows of the class; None without such rows."""
        return self.right / self.rows if self.rows else None

    @property
    def errors(self) -> int:
        """Return the number of rows of exactly one kind."""
        return self.rows + self.first - 2 * self.right


@dataclass(frozen=True, slots=True)
class Confusion:
    """Rows of class `true`, and not of class `first`, for which `first` is ranked first."""

    first: str
    true: str
    rows: list[int]  # most suspicious first


class LabelReview:
    """Rows with their out-of-fold rankings, and the likely label errors among them."""

    def __init__(self, rows: Rows, rankings: OutOfFold) -> None:
        self.rows = rows
        self.first = rankings.first
        self.is_right = rankings.ranks == 1
        self.is_contradicted = ~self.is_right & (rankings.first >= 0)
        self.recalls = by_ranks(rankings.ranks)
        self._counts = counts_by_class(self.first, self.is_right, rows)
        self.calibration = calibration = _calibration(rankings, rows)
        first, second, true = rankings.scores.T
        self.confidence = _confidences(calibration, first, second)
        # The confidence as if only the first class and the label had been ranked.
        self.against_label = _confidences(calibration, first, true)
        predicted, right, _ = self._counts
        mean = self.is_right.mean()
        precisions = (right + mean) / (predicted + 1)  # near the mean for a rare class
        parts = self.against_label, precisions[self.first]
        self.suspicion = np.average(parts, axis=0, weights=[1 - PRECISION_SHARE, PRECISION_SHARE])
        worst_first = np.argsort(-self.suspicion[rankings.order], kind="stable")  # nan is last
        ordered = rankings.order[worst_first]
        self._contradicted = ordered[self.is_contradicted[ordered]].tolist()

    def classes(self) -> list[ClassAccuracy]:
        """Return the accuracy of each class, most errors first."""
        predicted, right, true = (counts.tolist() for counts in self._counts)
        found = map(ClassAccuracy, self.rows.classes, true, predicted, right)
        return sorted(found, key=lambda each: (-each.errors, each.name))

    def confusions(self) -> list[Confusion]:
        """Return the confused pairs of classes, most frequent first.

        A row with several classes counts for each of them.
        """
        pairs: dict[tuple[str, str], list[int]] = {}
        for row in self._contradicted:
            for true in self.labels(row):
                pairs.setdefault((self.first_class(row), true), []).append(row)
        found = [Confusion(*pair, rows) for pair, rows in pairs.items()]
        return sorted(found, key=lambda each: (-len(each.rows), each.first, each.true))

    def suspects(self) -> list[int]:
        """Return the rows whose first class is not a label, most suspicious first.

        Empty if there are too few rows for a confidence.
        """
        return [row for row in self._contradicted if isfinite(self.suspicion[row])]

    def labels(self, row: int) -> list[str]:
        """Return the names of the row's classes."""
        begin, end = self.rows.class_indptr[row : row + 2]
        return [self.rows.classes[column] for column in self.rows.class_indices[begin:end]]

    def first_class(self, row: int) -> str:
        """Return the name of the class ranked first; the row must have one."""
        return self.rows.classes[int(self.first[row])]


def _calibration(rankings: OutOfFold, rows: Rows) -> Calibration:
    """Return a calibration of all rankings, fitted as at the end of offline training.

    It keeps their outcomes, at most the last 100,000.
    """
    calibration = Calibration()
    top_two = np.ascontiguousarray(rankings.scores[rankings.order, :2])
    right = rankings.ranks[rankings.order] == 1
    firsts = [rows.classes[cls] if cls >= 0 else None for cls in rankings.first[rankings.order]]
    outcomes = zip(top_two.tolist(), right.tolist(), firsts, strict=True)
    for (first, second), is_right, name in outcomes:
        calibration.add(first, second, is_right, name)
    calibration.settle(top_two, right.astype(np.uint8))
    return calibration


def _confidences(
    calibration: Calibration, first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the confidence of each pair of scores, NaN without one."""
    found = map(calibration.confidence, first.tolist(), second.tolist())
    return np.array([np.nan if each is None else each for each in found])

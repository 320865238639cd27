"""Reliability of confidence: outcomes by bins, and the expected calibration error."""

from collections.abc import Sequence
from typing import NamedTuple


class Bin(NamedTuple):
    """Outcomes of similar confidence: their number, the sum of confidences, and the right ones."""

    outcomes: int
    confidence: float
    right: float


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """Return the expected calibration error (Naeini, Cooper, Hauskrecht 2015).

    It is the mean of |mean confidence - share right| over the bins, weighted by their outcomes;
    None without outcomes.
    """
    outcomes = sum(each.outcomes for each in bins)
    if not outcomes:
        return None
    return sum(abs(each.confidence - each.right) for each in bins) / outcomes

"""How far confidence is from what comes true: by bins, and as one number."""

from collections.abc import Sequence
from typing import NamedTuple


class Bin(NamedTuple):
    """Outcomes of about the same confidence: how many, and the sums over them of the confidence and
    of what came true (1 right, 0 wrong)."""

    outcomes: int
    confidence: float
    right: float


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """The expected calibration error: |mean confidence - share right| of each bin, weighed by its
    outcomes (Naeini, Cooper, Hauskrecht 2015); None without outcomes."""
    outcomes = sum(each.outcomes for each in bins)
    if not outcomes:
        return None
    return sum(abs(each.confidence - each.right) for each in bins) / outcomes

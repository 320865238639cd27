"""The points of a curve that matter: the least limit for a target, and the best point."""

from collections.abc import Sequence
from typing import Protocol

from manyclass.core.calibration import interval_of

LEAST_DRAWN = 20  # answers of a point: the accuracy of fewer is noise
GROWTH = 1.2  # of the answers from one drawn point to the next, below the share
SHARE_DRAWN = 0.01  # of the outcomes, from one drawn point to the next


class Counted(Protocol):
    """A point: the answers above its limit, and how many of them were right."""

    @property
    def answers(self) -> int:
        """The number of answers, or of classes in answers."""

    @property
    def right(self) -> int:
        """The number of right ones among them."""


def low_ends(points: Sequence[Counted]) -> list[float]:
    """Return the lower end of the interval of each point's accuracy."""
    return [interval_of(each.right, each.answers)[0] for each in points]


def least_limit(points: Sequence[Counted], target: float) -> int | None:
    """Return the position of the point of the least limit that reaches the target.

    A point reaches a target if the lower end of its interval does; None without such a point.
    """
    reaching = [at for at, low in enumerate(low_ends(points)) if low >= target]
    return reaching[-1] if reaching else None


def best_point(points: Sequence[Counted]) -> int | None:
    """Return the position of the point with the highest lower end; None without a point."""
    low = low_ends(points)
    return low.index(max(low)) if low else None


def drawn(points: Sequence[Counted], outcomes: int) -> list[int]:
    """Return the positions of the points to draw, at most 150; the last point is among them."""
    positions = list[int]()
    next_answers = float(LEAST_DRAWN)
    for at, point in enumerate(points):
        if point.answers >= next_answers or at == len(points) - 1:
            positions.append(at)
            step = min((GROWTH - 1) * point.answers, SHARE_DRAWN * outcomes)
            next_answers = point.answers + max(step, 1)
    return positions

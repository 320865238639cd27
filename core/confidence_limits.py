"""The points of a curve that matter: the least limit for a target, and the best point."""

from collections.abc import Sequence

from manyclass.core.calibration import interval_of
from manyclass.core.operating_points import Curve, Point

LEAST_DRAWN = 20  # answers of a point: the accuracy of fewer is noise
GROWTH = 1.2  # of the answers from one drawn point to the next, below the share
SHARE_DRAWN = 0.01  # of the outcomes, from one drawn point to the next


def low_ends(points: Sequence[Point]) -> list[float]:
    """Return the lower end of the interval of each point's accuracy."""
    return [interval_of(each.right, each.answers)[0] for each in points]


def least_limit(curve: Curve, target: float) -> int | None:
    """Return the position of the point of the least limit that reaches the target.

    A point reaches a target if the lower end of its interval does; None without such a point.
    """
    reaching = [at for at, low in enumerate(low_ends(curve.points)) if low >= target]
    return reaching[-1] if reaching else None


def best_point(curve: Curve) -> int | None:
    """Return the position of the point with the highest lower end; None without a point."""
    low = low_ends(curve.points)
    return low.index(max(low)) if low else None


def drawn(curve: Curve) -> list[int]:
    """Return the positions of the points to draw, at most 150; the last point is among them."""
    positions = list[int]()
    next_answers = float(LEAST_DRAWN)
    for at, point in enumerate(curve.points):
        if point.answers >= next_answers or at == len(curve.points) - 1:
            positions.append(at)
            step = min((GROWTH - 1) * point.answers, SHARE_DRAWN * curve.outcomes)
            next_answers = point.answers + max(step, 1)
    return positions

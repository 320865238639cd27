"""The points of a curve that matter: the least limit for a target, and the best point."""

from collections.abc import Sequence

from manyclass.core.calibration import interval_of
from manyclass.core.operating_points import Curve, Point


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

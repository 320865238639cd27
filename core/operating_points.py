"""Operating points: how many answers reach a limit of confidence, and how many are right."""

from typing import NamedTuple

TARGETS = (0.8, 0.9, 0.95, 0.99)  # shares of right answers


class Point(NamedTuple):
    """The answers with a confidence of at least `limit`, and how many of them were right."""

    limit: float
    answers: int
    right: int

    @property
    def accuracy(self) -> float:
        """The share of right answers."""
        return self.right / self.answers


class Curve(NamedTuple):
    """The operating points of outcomes, the highest limit first.

    Outcomes without a class count in `outcomes` and reach no limit. `classes` has, for each point,
    the number of classes ranked first at or above its limit.
    """

    outcomes: int
    right: int
    points: list[Point]
    classes: list[int]


class Group(NamedTuple):
    """The outcomes of a class or of a source.

    `reached` has the point of the least limit for each target, or None. `best` is the point with
    the highest lower end of its interval; None without a confidence.
    """

    name: str
    outcomes: int
    right: int
    reached: list[Point | None]
    best: Point | None


class Groups(NamedTuple):
    """A page of groups; the number of all groups, and of the groups that reach each target."""

    total: int
    reached: list[int]
    groups: list[Group]

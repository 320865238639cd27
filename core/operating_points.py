"""Operating points: how many answers reach a limit of confidence, and how many are right."""

from typing import NamedTuple

TARGETS = (0.8, 0.9, 0.95, 0.99)  # shares of right answers
PLACES = 10  # of a ranking whose classes have a probability of their own


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


class ProbabilityPoint(NamedTuple):
    """The classes with a probability of at least `limit`, how many of them were right, and how many
    rankings have such a class.
    """

    limit: float
    classes: int
    right: int
    rankings: int

    @property
    def answers(self) -> int:
        """The number of classes."""
        return self.classes

    @property
    def precision(self) -> float:
        """The share of right classes."""
        return self.right / self.classes


class ProbabilityCurve(NamedTuple):
    """The points of rankings, the highest limit first.

    `true_classes` counts all classes of their events, ranked or not.
    """

    rankings: int
    true_classes: int
    points: list[ProbabilityPoint]


class Groups(NamedTuple):
    """A page of groups; the number of all groups, and of the groups that reach each target."""

    total: int
    reached: list[int]
    groups: list[Group]

"""The result of learning an instance."""

from typing import NamedTuple


class Learned(NamedTuple):
    """The instance's rank and scores before it was learned, and whether the learner was updated.

    `rank` is the rank of the best true class, 0 if it was not retrieved. `updated` says whether a
    margin required an update. `first` and `second` are the two highest scores of all classes, 0
    for a missing class, as a ranking would have returned them just before.
    """

    rank: int
    updated: bool
    first: float
    second: float


NOTHING_LEARNED = Learned(0, False, 0.0, 0.0)

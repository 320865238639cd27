"""What learning an instance came to, and how it was ranked before."""

from typing import NamedTuple


class Learned(NamedTuple):
    """How the instance was ranked before it was learned, and whether anything was to be learned.

    `rank` is where the best true class stood, 0 when it was not retrieved; `updated` says whether a
    margin asked for an update; `first` and `second` are the two highest scores of all classes, true
    or not, 0 where there is no first or second class, as `rank` would have given them right before.
    """

    rank: int
    updated: bool
    first: float
    second: float


NOTHING_LEARNED = Learned(0, False, 0.0, 0.0)

from collections.abc import Mapping, Sequence
from typing import Literal, Self, final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.operating_points import Curve, Groups, ProbabilityCurve
from manyclass.core.reliability import Bin

NEWEST_OUTCOMES: int  # that measure a calibration, and give the limits for a wanted accuracy
MOST_OUTCOMES: int  # that are kept

def interval_of(right: int, answers: int) -> tuple[float, float]:
    """Return the ends of the Wilson interval of a share at 90 %; 0 and 1 without answers."""

@final
class Calibration:
    """Maps from the scores of a ranking to the probability that each class is right.

    The map of the first class takes the two highest scores; its probability is the confidence.
    Those of the classes ranked second to tenth take the highest score and their own. It learns
    online from outcomes and is invariant to the scale of the scores. It keeps the last 100,000
    outcomes, each with the confidence before it was learned, the class ranked first and the source
    of the event; fewer if their names take more than 8 MiB. The newest 10,000 measure its quality
    and give the limits for a wanted accuracy. Of the rankings, a sample is kept with the
    probability of each class, the newest 4,000, which give the limits for a wanted precision. It is
    part of the state and depends on the events alone.
    Threads: any number may call `confidence`, `probabilities` and the functions of limits; other
    methods one thread at a time.
    """

    def __new__(cls, hash_seed: int = 0) -> Self:
        """Create a calibration. `hash_seed` salts the table of names."""
    @property
    def outcomes(self) -> int:
        """The number of rankings learned; a ranking without a first class does not count."""

    def confidence(self, first: float, second: float) -> float | None:
        """Return the probability, 0 to 1, that the class of score `first` is right.

        `first` and `second` are the two highest scores; the probability never rises with `second`.
        Return None before 100 outcomes, and if `first` is 0: the ranking was empty.
        """

    def limit_for(self, accuracy: float) -> float | None:
        """Return the least limit of confidence whose answers were right at least this often.

        It is about the newest 10,000 outcomes, by the lower end of a Wilson interval at 90 %, and
        found anew with every 20 outcomes, from 2,000 on with every 200. Return None if the answers
        above no limit were.
        """

    def probabilities(self, scores: Sequence[float]) -> list[float | None]:
        """Return the probability that each class of a ranking is right, by its scores, best first.

        That of the first is the confidence, and no probability is larger than the one before it. A
        class ranked eleventh or lower has that of a tenth one with its score. None stands for a
        place with less than 100 outcomes.
        """

    def probability_limit_for(self, precision: float) -> float | None:
        """Return the least limit above which the ranked classes were right at least this often.

        It is about the first ten classes of the kept rankings, by the lower end of a Wilson
        interval at 90 %, and found anew with every 100 of them. Return None if no limit reaches the
        precision.
        """

    def probability_curve(self) -> ProbabilityCurve:
        """Return precision and recall of the kept rankings by the limit of probability."""

    def add_ranking(
        self,
        scores: Sequence[float],
        are_true: Sequence[bool],
        true_classes: int,
        cls: str | None = None,
        source: str | None = None,
    ) -> None:
        """Learn which of the first classes of a ranking were right.

        `scores` are those of at most ten classes, best first, and `are_true` says which of them the
        event has, of `true_classes` in all, 1 or more. `cls` and `source` are as in `add`. A
        ranking without a class is kept and teaches nothing.
        """

    def add(
        self,
        first: float,
        second: float,
        is_right: bool,
        cls: str | None = None,
        source: str | None = None,
    ) -> None:
        """Learn whether the first class of a ranking with these two highest scores was right.

        `cls` is the name of that class, `source` that of the event. An outcome whose `first` is 0,
        a ranking without a class, is kept and teaches nothing.
        """

    def forget_class(self, name: str) -> None:
        """Remove the name of a class from the kept outcomes."""

    def settle(self, top_two: NDArray[np.float64], right: NDArray[np.uint8]) -> None:
        """Fit the confidence to the two highest scores (n, 2) and outcomes (n,), 1 for right.

        All these outcomes count equally, so the confidence has less noise than after `add`, which
        gives recent outcomes more weight. They do not join the kept outcomes. Nothing changes
        without outcomes here, or without any before. Raise ValueError for other shapes and for
        scores that are not finite.
        """

    def curve(self, newest: int, aliases: Mapping[str, str]) -> Curve:
        """Return the operating points of the newest outcomes, at most this many.

        `aliases` are the present names of renamed classes. Learning waits meanwhile, as for
        `groups`.
        """

    def mean_confidences(self, sizes: Sequence[int]) -> list[float | None]:
        """Return the mean confidence of runs of the kept outcomes, of these sizes, newest first.

        An outcome of an instance for which no class was ranked counts as 0. None for a run of which
        an outcome is not kept.
        """

    def groups(
        self,
        by: Literal["class", "source"],
        newest: int,
        aliases: Mapping[str, str],
        targets: Sequence[float],
        offset: int,
        limit: int,
    ) -> Groups:
        """Return operating points by the class ranked first, or by the source.

        They are of the newest outcomes, at most this many; groups with most outcomes come first,
        equal ones in the order of their names. `offset` and `limit` choose a page.
        """

    @property
    def resident_bytes(self) -> int:
        """The memory of the kept outcomes."""

    @property
    def brier(self) -> float | None:
        """The mean of (confidence - outcome)² over the newest 10,000; an outcome is 0 or 1."""

    @property
    def reliability(self) -> list[Bin]:
        """The newest 10,000 outcomes in ten bins of equal width, by the confidence before each."""

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the state as flat arrays."""

    @classmethod
    def load(cls, sections: Mapping[str, NDArray[np.generic]], hash_seed: int = 0) -> Self:
        """Return the dumped state; raise SnapshotError if no outcomes can lead to the arrays."""

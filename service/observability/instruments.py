"""The instruments of the service, for the event loop's thread only.

The instruments of prometheus_client lock and check at every call, which takes 2 µs, a tenth of the
time of a ranking.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from prometheus_client.metrics_core import HistogramMetricFamily

HITS_AT = (1, 5, 10)


class Histogram:
    """The number of observations below each bound, and their sum."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = list(bounds)
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float, times: int = 1) -> None:
        """Count `times` observations of a value."""
        self._counts[bisect_left(self._bounds, value)] += times
        self._sum += value * times

    def observe_each(self, values: Sequence[float]) -> None:
        """Count an observation of each value."""
        counts, bounds = self._counts, self._bounds
        for value in values:
            counts[bisect_left(bounds, value)] += 1
        self._sum += sum(values)

    def copy(self) -> "Histogram":
        """Return another histogram with the same observations."""
        made = Histogram(self._bounds)
        made.add(self._counts, self._sum)
        return made

    def add(self, counts: Sequence[int], total: float) -> None:
        """Add observations by bound, and their sum."""
        self._counts = [own + more for own, more in zip(self._counts, counts, strict=True)]
        self._sum += total

    def add_to(self, family: HistogramMetricFamily, labels: Sequence[str] = ()) -> None:
        """Add all observations to a family, under these labels."""
        bounds = [*(f"{bound:g}" for bound in self._bounds), "+Inf"]
        counts = accumulate(self._counts)
        family.add_metric(labels, list(zip(bounds, counts, strict=True)), self._sum)


class Score:
    """The progressive accuracy of a learner, and the time it spent on learning."""

    __slots__ = ("_at_rank", "examples", "reciprocal_ranks", "seconds")

    def __init__(self) -> None:
        self.examples = 0
        self.reciprocal_ranks = 0.0
        self.seconds = 0.0
        self._at_rank = [0] * (HITS_AT[-1] + 1)

    def add(self, rank: int | None, seconds: float) -> None:
        """Count an event whose best true class was at `rank`, or None if it was not retrieved."""
        self.examples += 1
        self.seconds += seconds
        if rank is not None:
            self.reciprocal_ranks += 1 / rank
            if rank <= HITS_AT[-1]:
                self._at_rank[rank] += 1

    def add_each(self, ranks: Sequence[int], seconds: Sequence[float]) -> None:
        """Count events as `add` does; a rank of 0 means that no true class was retrieved."""
        self.examples += len(ranks)
        self.seconds += sum(seconds)
        at_rank = self._at_rank
        for rank in ranks:
            if rank > 0:
                self.reciprocal_ranks += 1 / rank
                if rank <= HITS_AT[-1]:
                    at_rank[rank] += 1

    def hits(self) -> dict[int, int]:
        """Return, by k, the number of events with a true class among the first k."""
        return {k: sum(self._at_rank[: k + 1]) for k in HITS_AT}


class ServedScore:
    """The accuracy of the served rankings, by their later labels by id.

    Each label is in one of the first four counts: its best true class was served first, was another
    of the served classes, was not served, or the ranking had abstained. `first_before_learning`
    counts the labels, except for abstentions, whose class the later model ranked first just before
    it learned them.
    """

    __slots__ = ("abstained", "first", "first_before_learning", "later", "missed")

    def __init__(self) -> None:
        self.first = 0
        self.later = 0
        self.missed = 0
        self.abstained = 0
        self.first_before_learning = 0

    def add(self, served_rank: int | None, rank_before: int | None) -> None:
        """Count a label whose best true class was served at `served_rank`: 0 if it was not among
        the classes, None if the ranking abstained.
        """
        if served_rank is None:
            self.abstained += 1
            return
        if served_rank == 0:
            self.missed += 1
        elif served_rank == 1:
            self.first += 1
        else:
            self.later += 1
        self.first_before_learning += rank_before == 1

    @property
    def served(self) -> int:
        """The number of labels of rankings that did not abstain."""
        return self.first + self.later + self.missed

    def by_result(self) -> dict[str, int]:
        """Return the four counts by name."""
        return {
            "first": self.first,
            "later": self.later,
            "missed": self.missed,
            "abstained": self.abstained,
        }

"""Progressive accuracy over the last events, from the ranks of their true classes."""

from collections import deque
from collections.abc import Iterable


class Window:
    """Accuracy over the last `size` ranks; the rank None means not retrieved."""

    def __init__(self, size: int) -> None:
        self._ranks: deque[int | None] = deque(maxlen=size)

    def add(self, ranks: Iterable[int | None]) -> None:
        """Add the ranks of the next events and drop the oldest."""
        self._ranks.extend(ranks)

    def recall(self, k: int) -> float:
        """Return the share of events whose true class ranked within k; 0 without events."""
        return self._mean(float(rank is not None and rank <= k) for rank in self._ranks)

    def reciprocal_rank(self) -> float:
        """Return the mean of 1/rank, with 0 for a class not retrieved; 0 without events."""
        return self._mean(1 / rank if rank else 0.0 for rank in self._ranks)

    def _mean(self, values: Iterable[float]) -> float:
        return sum(values) / max(len(self._ranks), 1)

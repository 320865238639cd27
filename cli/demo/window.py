"""How well a service did on the last so many events, from where the true class stood each time."""

from collections import deque
from collections.abc import Iterable


class Window:
    """Accuracy over the last `size` ranks; None is the rank of a class that was not retrieved."""

    def __init__(self, size: int) -> None:
        self._ranks: deque[int | None] = deque(maxlen=size)

    def add(self, ranks: Iterable[int | None]) -> None:
        """Take in the ranks of the next events; the oldest fall out."""
        self._ranks.extend(ranks)

    def recall(self, k: int) -> float:
        """How often the true class stood among the first k; 0 without events."""
        return self._mean(float(rank is not None and rank <= k) for rank in self._ranks)

    def reciprocal_rank(self) -> float:
        """The mean of 1/rank, 0 where the class was not retrieved; 0 without events."""
        return self._mean(1 / rank if rank else 0.0 for rank in self._ranks)

    def _mean(self, values: Iterable[float]) -> float:
        return sum(values) / max(len(self._ranks), 1)

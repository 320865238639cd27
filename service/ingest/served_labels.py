"""The comparison of delayed labels with the served rankings."""

from collections.abc import Sequence

from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.observability.instruments import ServedScore


class ServedLabels:
    """The part that scores each served ranking of this process once, by its first label.

    Belongs to the event loop's thread.
    """

    def __init__(self, pending: PendingLabels, score: ServedScore) -> None:
        self._pending = pending
        self._score = score

    def add(self, number: int, classes: Sequence[str], rank_before: int | None) -> None:
        """Score a learned label of the instance with this number, which then no longer waits.

        `rank_before` is the rank of the best true class just before the event was learned. Without
        a true class, the instance continues to wait.
        """
        if not classes:
            return
        served = self._pending.label(number)
        if served is None:
            return
        true = set(classes)
        ranks = [rank for rank, each in enumerate(served.classes, 1) if each in true]
        served_rank = None if served.abstained else min(ranks, default=0)
        self._score.add(served_rank, rank_before)

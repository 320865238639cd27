"""Scores delayed labels against the rankings as they were served."""

from collections.abc import Sequence

from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.observability.instruments import ServedScore


class ServedLabels:
    """Scores each ranking that this process served once, by the first label that comes for it.

    Belongs to the event loop's thread.
    """

    def __init__(self, pending: PendingLabels, score: ServedScore) -> None:
        self._pending = pending
        self._score = score

    def add(self, number: int, classes: Sequence[str], rank_before: int | None) -> None:
        """Take a learned label of the instance with this number; it waits for none any more.

        `rank_before` is the rank of the best true class just before the event was learned. Without
        a true class the instance waits on.
        """
        if not classes:
            return
        served = self._pending.label(number)
        if served is None:
            return
        true = set(classes)
        places = [place for place, each in enumerate(served.classes, 1) if each in true]
        first = None if served.abstained else min(places, default=0)
        self._score.add(first, rank_before)

from typing import Self, final

from manyclass.core.enrolled import Enrolled
from manyclass.core.instance import Instance
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.observability.instruments import Histogram

@final
class BatchBody:
    """The instances and options of a plain body of many instances."""

    @property
    def instances(self) -> list[Instance]:
        """The instances, each with a feature."""

    @property
    def ids(self) -> list[str | None]:
        """The id that the client gave each instance."""

    @property
    def notes(self) -> list[tuple[str | None, str | None] | None]:
        """The source of each instance, without a text; None for one without a source."""

    @property
    def k(self) -> int:
        """The number of classes of a ranking."""

    @property
    def threshold(self) -> float | None:
        """The score that a class has to be above."""

    @property
    def min_confidence(self) -> float | None:
        """The confidence below which a result has no classes."""

    @property
    def min_seq(self) -> int:
        """The last event that the model has to have learned."""

    @staticmethod
    def read(data: bytes, most_instances: int, most_features: int) -> BatchBody | None:
        """Return a body as it is read; None for one that is not plain, and for all refusals.

        Releases the GIL while it reads.
        """

@final
class BatchRankings:
    """Ranks the instances of a request in blocks, and writes their results as JSON.

    A note is the source and the text of an instance, which are stored with it.
    """

    def __new__(
        cls,
        instances: list[Instance],
        ids: list[str | None],
        notes: list[tuple[str | None, str | None] | None],
        k: int,
        threshold: float | None,
        min_confidence: float | None,
    ) -> Self: ...
    @property
    def is_done(self) -> bool:
        """True once all instances are ranked."""

    @property
    def abstained(self) -> int:
        """The number of results of the last block without classes: the confidence is too low."""

    def rank_block(
        self,
        enrolled: Enrolled,
        pending: PendingLabels,
        rank_duration: Histogram,
        seconds: float,
    ) -> bytes:
        """Rank the next instances for so long, and at least one; return their results, with commas
        between them.

        The block is ranked with the GIL released; an index does so under one hold of its lock.
        """

from typing import final

from manyclass.core.enrolled import Enrolled
from manyclass.core.event import Text
from manyclass.core.instance import Instance
from manyclass.core.text import Reading, TextAnalysis
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.observability.instruments import Histogram

@final
class BatchBody:
    """The instances and options of a plain body of many instances."""

    def __len__(self) -> int:
        """Return the number of instances, each with a feature."""

    @property
    def k(self) -> int:
        """The number of classes of a ranking."""

    @property
    def min_seq(self) -> int:
        """The last event that the model has to have learned."""

    @property
    def has_signs(self) -> bool:
        """True if a value of an instance is below 0."""

    @property
    def size(self) -> int:
        """The bytes of all instances in wire form."""

    @staticmethod
    def read(
        data: bytes,
        analysis: TextAnalysis,
        most_instances: int,
        most_features: int,
        most_bytes: int,
    ) -> BatchBody | None:
        """Return a body as it is read; None for one that is not plain, and for all refusals:
        one of them is more than `most_bytes` of instances in wire form.

        Texts are read by the analysis. Releases the GIL while it reads.
        """

@final
class BatchRankings:
    """Ranks the instances of a request in blocks, and writes their results as JSON."""

    @staticmethod
    def of_body(body: BatchBody) -> BatchRankings:
        """Return the rankings of the instances of a plain body."""

    @staticmethod
    def of(
        instances: list[Instance],
        ids: list[str | None],
        notes: list[tuple[str | None, Text | None, Reading | None] | None],
        k: int,
        threshold: float | None,
        min_confidence: float | None,
        seq: int | None = None,
    ) -> BatchRankings:
        """Return the rankings of instances that were read otherwise. Each result has the `seq`.

        An id is that of the client, if there is one. A note is the source, the text and its
        reading of an instance, which are stored with it.
        """

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

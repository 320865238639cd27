from typing import final

from manyclass.core.enrolled import Enrolled
from manyclass.core.event import Text
from manyclass.core.instance import Instance
from manyclass.core.text import Reading, TextAnalysis
from manyclass.service.http.titles import Titles
from manyclass.service.ingest.pending_labels import PendingLabels
from manyclass.service.observability.instruments import Histogram

@final
class BatchBody:
    """The instances and options of a plain body of many instances."""

    def __len__(self) -> int:
        """Return the number of instances, each with a feature or a vector."""

    @property
    def k(self) -> int:
        """The number of classes of a ranking."""

    @property
    def min_seq(self) -> int:
        """The number of the event that the model must include."""

    @property
    def has_signs(self) -> bool:
        """True if a value of an instance is below 0."""

    @property
    def with_vector(self) -> Instance | None:
        """The first instance with a vector; those of the others have the same dimension."""

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
        """Read a plain body. Return None for other bodies and for all refusals, such as more than
        `most_bytes` of instances in wire form.

        Texts are read with this analysis. Releases the GIL while it reads.
        """

@final
class BatchRankings:
    """The rankings of a request's instances, made in blocks and written as JSON."""

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
        min_accuracy: float | None = None,
        min_probability: float | None = None,
        min_precision: float | None = None,
        probabilities: bool = False,
        keep: bool = True,
        seq: int | None = None,
    ) -> BatchRankings:
        """Return the rankings of instances that Python has read. Each result has the `seq`.

        An id is the client's id, or None. A note has the source, the text and its reading, which
        are stored with the instance, unless it is not to `keep`.
        """

    @property
    def is_done(self) -> bool:
        """True once all instances are ranked."""

    @property
    def abstained(self) -> int:
        """The number of abstentions in the last block."""

    def rank_block(
        self,
        enrolled: Enrolled,
        pending: PendingLabels,
        titles: Titles,
        rank_duration: Histogram,
        seconds: float,
    ) -> bytes:
        """Rank instances for `seconds`, at least one; return the results, separated by commas.

        The block is ranked with the GIL released, and an index holds its lock for the whole block.
        """

"""A ranked instance and its ranking until the label comes, or the reason why there is none."""

from enum import IntEnum
from typing import Annotated, NamedTuple

from msgspec import Meta

from manyclass.core.event import Text
from manyclass.core.instance import Instance
from manyclass.core.text import Reading, TextAnalysis

LONGEST_ID = 200

Id = Annotated[str, Meta(min_length=1, max_length=LONGEST_ID)]


class StoredInstance(NamedTuple):
    """A ranked instance as bytes, its age in seconds, and the source and the text it came with.

    An instance of a text has a `reading`, also if the text was not kept. `number` identifies it in
    its process: `process`, or this one without a name.
    """

    data: bytes
    age: float
    number: int
    process: str | None = None
    source: str | None = None
    text: Text | None = None
    reading: Reading | None = None
    batch: str | None = None

    @property
    def instance(self) -> Instance:
        """Return the instance."""
        return Instance.from_bytes(self.data)

    def is_read_by(self, analysis: TextAnalysis) -> bool:
        """Return whether the instance is the same under this analysis."""
        return self.reading is None or self.reading.analysis == analysis

    def read_again(
        self, analysis: TextAnalysis, most_features: int = 2**32 - 1
    ) -> "StoredInstance | Absence":
        """Return the instance as this analysis reads its text, with at most so many features.

        An instance that fits already is returned as it is; so is one without a text that this
        analysis has read, and one of features.
        """
        reading = self.reading
        if reading is None:
            return self
        if self.is_read_by(analysis) and (self.text is None or len(self.instance) <= most_features):
            return self
        if self.text is None:
            return Absence.TEXT_NOT_KEPT
        reading = Reading(analysis, min(reading.most_features, most_features))
        instance = analysis.instance_of(self.text, reading.most_features).instance
        instance = instance.with_vector_of(self.instance)
        return self._replace(data=bytes(instance), reading=reading)


class ServedClasses(NamedTuple):
    """The first classes of a ranking as it was served, best first, and its confidence.

    A ranking that abstained has its classes here too, though the answer had none.
    """

    classes: tuple[str, ...]
    confidence: float | None
    abstained: bool


class WaitingInstance(NamedTuple):
    """A ranked instance that waits for its label: its id, its bytes and its age in seconds.

    `text` is the beginning of its text, of which the whole is stored.
    """

    id: str
    data: bytes
    age: float
    served: ServedClasses
    source: str | None = None
    text: Text | None = None
    is_text_cut: bool = False
    reading: Reading | None = None
    batch: str | None = None


class Absence(IntEnum):
    """The reason why an id has no instance. When processes disagree, the highest value wins."""

    NEVER_SEEN = 0
    TOO_LATE = 1  # it was ranked, and is no longer stored
    NO_ANSWER = 2  # of a process that may have ranked it
    TEXT_NOT_KEPT = 3  # another analysis has read it

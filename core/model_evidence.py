"""The evidence of a model beside the weights of its learners: descriptions and vectors."""

from collections.abc import Iterable, Mapping, Sequence

from manyclass.core.descriptions import Description, Descriptions
from manyclass.core.errors import DescriptionsFull, DimensionConflict
from manyclass.core.event import Event
from manyclass.core.model_learners import EVIDENCE_SHARE, ModelLearners
from manyclass.core.model_set import ModelSet
from manyclass.core.text import TextAnalysis


class ModelEvidence(ModelLearners):
    """Learners, with the descriptions of their classes and the sums of vectors that all share.

    Threads: as for Model.
    """

    def __init__(self, model_set: ModelSet, hash_seed: int, text: TextAnalysis) -> None:
        """Create learners that have learned nothing, without descriptions.

        `text` is the analysis that reads the descriptions.
        """
        super().__init__(model_set, hash_seed)
        self.descriptions = Descriptions()
        self._text = text

    @property
    def text(self) -> TextAnalysis:
        """The analysis of texts; a change reads all descriptions again."""
        return self._text

    @text.setter
    def text(self, text: TextAnalysis) -> None:
        if text != self._text:
            self._text = text
            for name in self.descriptions:
                self._note_description(name)

    def _check_dimensions(self, events: Sequence[Event]) -> None:
        """Raise DimensionConflict if a vector differs from those before, also of this request."""
        known = self.evidence.dimension
        others = f"all before have {known}"
        for position, event in enumerate(events):
            dimension = _dimension_of(event)
            if not known and dimension:
                known, others = dimension, f"another one of the request has {dimension}"
            if dimension not in (0, known):
                raise DimensionConflict(position, dimension, others)

    def _check_room(self, described: Iterable[str]) -> None:
        """Raise DescriptionsFull if a request describes these classes and no description fits.

        One request may exceed the limit of bytes, as long as there was room before it.
        """
        names = set(described)
        if not names:
            return
        classes, size = self.options.max_classes, self.options.max_bytes // EVIDENCE_SHARE
        new = sum(name not in self.descriptions for name in names)
        if new and len(self.descriptions) + new > classes:
            raise DescriptionsFull(f"be those of {classes:,} classes", "MANYCLASS_MAX_CLASSES")
        if self.evidence.bytes_of_descriptions >= size:
            most = f"take {size:,} bytes, a quarter of MANYCLASS_MAX_BYTES"
            raise DescriptionsFull(most, "MANYCLASS_MAX_BYTES")

    def _describe(self, name: str, changes: Mapping[str, object], seq: int) -> None:
        """Change the description of a class by event `seq`."""
        before = self.descriptions.get(name, Description(since=seq))
        self._put_description(name, before.changed(changes))

    def take_descriptions(self, other: "ModelEvidence") -> None:
        """Take over all descriptions of another model, and forget the rest."""
        names = sorted({*self.descriptions, *other.descriptions})
        changed = [
            name for name in names if self.descriptions.get(name) != other.descriptions.get(name)
        ]
        for name in changed:  # first, because their vectors may have another dimension
            self._put_description(name, Description())
        for name in changed:
            self._put_description(name, other.descriptions.get(name, Description()))

    def _put_description(self, name: str, description: Description) -> None:
        """Replace the description of a class; an empty one removes it.

        A vector of another dimension than those of the model is left out: `check` accepted it, and
        another event came before, perhaps one that only a rebuild learns for a class.
        """
        known = self.evidence.dimension
        if description.instance.has_vector and known and description.instance.dimension != known:
            description = description.changed({"vector": None})
        if name in self.descriptions or not description.is_empty:
            self.descriptions.put(name, description)
            self._note_description(name)

    def _note_description(self, name: str) -> None:
        """Let the learners rank by the present description of a class."""
        description = self.descriptions.get(name, Description())
        self.evidence.describe(name, description.read(self.text).instance, description.since)

    def _rename_evidence(self, name: str, to: str) -> None:
        """Give vectors and description to the present name of a class; it keeps a description of
        its own."""
        self.evidence.rename(name, to)
        described = self.descriptions.get(name)
        if described is not None:
            self._put_description(name, Description())
            self._put_description(to, self.descriptions.get(to, described))


def _dimension_of(event: Event) -> int:
    """Return the dimension of the vector that an event teaches or describes a class by, or 0."""
    if event.kind == "learn":
        return event.instance.dimension
    if event.kind == "describe":
        return Description().changed(event.described).instance.dimension
    return 0

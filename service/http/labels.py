"""The labels of an event, and the fingerprint that distinguishes it from a retry."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple, Self

import msgspec

from manyclass.core.event import Text
from manyclass.core.instance import Instance
from manyclass.service.http.decoding import names_of, parents_of
from manyclass.service.http.problems import invalid
from manyclass.service.http.schemas.learn import MOST_PAIRS, LearnEvent, LearnRequest


class Labels(NamedTuple):
    """The true and the wrong classes of an event, its weight, and the classes that it places."""

    classes: list[str | int]
    rejected: list[str | int]
    weight: float
    parents: dict[str, str | int | None]

    @classmethod
    def of(cls, form: LearnEvent | LearnRequest) -> Self:
        """Return the labels of a form. Raises Problem if it has no classes."""
        if form.classes is None and form.rejected is None:
            raise invalid("An event needs true classes in `classes`, or wrong classes in `not`.")
        return cls(
            [] if form.classes is None else names_of(form.classes, "classes"),
            [] if form.rejected is None else names_of(form.rejected, "not"),
            1.0 if form.weight is None else form.weight,
            {} if form.parents is None else parents_of(form.parents),
        )

    @property
    def most_features(self) -> int:
        """The largest number of features of an instance that can be learned with all names."""
        return MOST_PAIRS // max(1, len(self.classes) + len(self.rejected))

    def of_instance(self, instance_id: str) -> int:
        """Return a 64-bit hash of an instance, by its id, with the true classes alone."""
        return Labels(self.classes, [], 1.0, {}).fingerprint(instance_id)

    def fingerprint(self, instance: Instance | str, text: Text | None = None) -> int:
        """Return a 64-bit hash of the content, independent of the order of features, fields and
        classes, of the analysis of the `text`, and of the form of the vector.

        `instance` may be the id of an instance.
        """
        given: object = instance
        vector = None
        if isinstance(instance, Instance):
            given = {"text": text} if text else sorted(instance.items())
            vector = instance.vector
        parts: list[object] = [given, _sorted(self.classes)]
        if self.rejected or self.weight != 1:
            parts += _sorted(self.rejected), self.weight
        if self.parents:
            parts.append(sorted((name, str(parent)) for name, parent in self.parents.items()))
        if vector is not None:
            parts.append({"vector": vector.tobytes()})
        content = msgspec.json.encode(parts, order="sorted")
        return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


def check_correction(features: int, names: int) -> None:
    """Raise Problem for an instance of too many features for all its present and former classes.

    A rebuild learns all features times all classes without a pause, and leaves none out.
    """
    if features * names > MOST_PAIRS:
        raise invalid(
            f"The number of features times that of classes is at most {MOST_PAIRS}.", "classes"
        )


def _sorted(names: Sequence[str | int]) -> list[str]:
    return sorted({str(name) for name in names})

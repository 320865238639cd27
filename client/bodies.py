"""The bodies of requests, as dicts."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypedDict

Features = Mapping[str, float] | Sequence[str | int]
Text = str | Mapping[str, str]  # one text, or the texts of fields such as `title` and `body`
GivenText = str | Mapping[str, str | None]  # a field that is None is absent


class Array(Protocol):
    """An array of NumPy, of PyTorch or of the standard library."""

    def tolist(self) -> Any:
        """Return its numbers."""


# Numbers, base64 of little-endian float32, or {"int8": base64}. An array is sent as base64.
Vector = Sequence[float] | Array | str | Mapping[str, str]


class Origin(TypedDict, total=False):
    """Names by which events are listed and deleted; an event has to match all given ones."""

    source: str
    reviewer: str
    batch: str


class InstanceBody(TypedDict, total=False):
    """An instance to rank: `features` or `text`, a `vector`, or both. `source` is the origin of the
    instance or event."""

    features: Features
    text: GivenText
    vector: Vector
    id: str
    source: str


_Rejection = TypedDict("_Rejection", {"not": Sequence[str | int]}, total=False)  # a keyword


class EventBody(InstanceBody, _Rejection, total=False):
    """A labelled event: an instance, or the `id` of a ranked one, and its true `classes`, or wrong
    classes in `not`. `weight` says how much the event counts; `parents` places classes in the
    taxonomy. `reviewer` names who labelled the instance, `batch` the import it came with.
    `replace` corrects the label that the instance of the `id` has already."""

    classes: Sequence[str | int]
    weight: float
    parents: Mapping[str, str | int]
    event_id: str
    reviewer: str
    batch: str
    replace: bool


class ClassDescription(TypedDict, total=False):
    """The parts of the description of a class to change; None removes a part."""

    title: str | None
    description: str | None
    alt_labels: Sequence[str] | None
    vector: Vector | None


_OfClass = TypedDict("_OfClass", {"class": str | int})  # a keyword


class DescribedClass(ClassDescription, _OfClass, total=False):
    """A class with parts of its description, and perhaps its parent in the taxonomy; None stands
    for the top."""

    parent: str | int | None

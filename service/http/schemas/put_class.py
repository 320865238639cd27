"""The bodies of calls that place classes in the taxonomy and describe them."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from manyclass.core.descriptions import LONGEST_DESCRIPTION, LONGEST_TITLE, MOST_OTHER_NAMES
from manyclass.core.event_parts import MOST_PLACEMENTS
from manyclass.service.http.schemas.parts import Name, Vector

_TAKES = {
    "title": f'a string of at most {LONGEST_TITLE} characters, or null: "Ice hockey"',
    "description": f"a string of at most {LONGEST_DESCRIPTION} characters, or null",
    "alt_labels": (
        f"a list of at most {MOST_OTHER_NAMES} strings of at most {LONGEST_TITLE} characters, or"
        ' null: ["Eishockey"]'
    ),
    "class": 'the name of a class: "hockey"',
    "classes": (
        f'a list of 1 to {MOST_PLACEMENTS} objects: [{{"class": "hockey", "title": "Ice hockey"}}]'
    ),
}
_MOVE = "True if a class may leave its present parent; else the answer is 409."
_KEPT = " If it is absent, the present value stays; null removes it."


class _Description(msgspec.Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """The place of a class in the taxonomy, and its description."""

    takes: ClassVar = _TAKES
    parent: Annotated[
        Name | UnsetType | None,
        Meta(
            description="The parent of the class, or null for the top of the taxonomy. If it is"
            " absent, the class stays where it is, in the taxonomy or outside."
        ),
    ] = UNSET
    title: Annotated[
        Annotated[str, Meta(max_length=LONGEST_TITLE)] | UnsetType | None,
        Meta(description="The name of the class for people." + _KEPT),
    ] = UNSET
    description: Annotated[
        Annotated[str, Meta(max_length=LONGEST_DESCRIPTION)] | UnsetType | None,
        Meta(description="What the class is about." + _KEPT),
    ] = UNSET
    alt_labels: Annotated[
        Annotated[
            list[Annotated[str, Meta(max_length=LONGEST_TITLE)]], Meta(max_length=MOST_OTHER_NAMES)
        ]
        | UnsetType
        | None,
        Meta(description="Other names of the class, also in other languages." + _KEPT),
    ] = UNSET
    vector: Annotated[
        Vector | UnsetType,
        Meta(
            description="The embedding of the texts of the class, by the model that embeds the"
            " instances." + _KEPT
        ),
    ] = UNSET


class PutClassRequest(_Description, forbid_unknown_fields=True, gc=False, kw_only=True):
    """The place of a class in the taxonomy, its description, or both."""

    move: Annotated[bool | None, Meta(description=_MOVE)] = False


class DescribedClass(_Description, forbid_unknown_fields=True, gc=False, kw_only=True):
    """A class with its place in the taxonomy, its description, or both."""

    name: Name = msgspec.field(name="class")


class PutClassesRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The parent of each class, or null for the top of the taxonomy; and classes with their
    descriptions."""

    takes: ClassVar = _TAKES
    parents: (
        Annotated[dict[str, Name | None], Meta(min_length=1, max_length=MOST_PLACEMENTS)] | None
    ) = None
    classes: (
        Annotated[list[DescribedClass], Meta(min_length=1, max_length=MOST_PLACEMENTS)] | None
    ) = None
    move: Annotated[bool | None, Meta(description=_MOVE)] = False


class ClassesPut(msgspec.Struct, gc=False):
    """The number of the last event, which placed or described the classes."""

    seq: int

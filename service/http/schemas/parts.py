"""Parts that several bodies share: names, features, texts, classes, warnings."""

from typing import Annotated

import msgspec
from msgspec import Meta, UnsetType
from typing_extensions import TypeAliasType

MOST_CLASSES = 1000  # of one event, or to rank among
LARGEST_SEQ = 2**63 - 1


# JSON has one kind of number: 5.0 is the integer 5, so it is read as float where that may come.
Name = str | int | float
Names = list[Name]
Features = msgspec.Raw  # manyclass.core.event reads it
GivenText = Annotated[
    str | dict[str, str | None],  # manyclass.core.text counts the fields, and measures their names
    Meta(
        description="A text, or an object of the texts of fields, such as `title` and `body`. The"
        " analysis of the store makes its features: by default words, pairs of neighbouring words,"
        " and runs of 4 characters of the first 64 different words, as `~goal`; in scripts without"
        " spaces, characters and their pairs. The features of a field have its name in front, as in"
        " `title:goalie`. A word longer than a name may be is left out, and all behind the largest"
        " number of features"
        " of an instance; `warnings` reports it. A field that is null is absent.",
        examples=["The goalie saved it.", {"title": "Ice hockey", "body": "The goalie saved it."}],
    ),
]
TextFields = TypeAliasType("TextFields", dict[str, str])  # named, as generated clients want it
Classes = Annotated[Names, Meta(min_length=1, max_length=MOST_CLASSES)]


class WarningDocument(msgspec.Struct, gc=False):
    """A probable mistake in a request that was answered, at a JSON pointer into its body."""

    detail: str
    pointer: str


Warnings = Annotated[
    list[WarningDocument] | UnsetType,
    Meta(
        description="Instances without features (texts without words, and `features` without a"
        " value other than 0), values below 0 that are absent to a learner, texts that are not"
        " instances as a whole, and names in `among` that no class has. Absent when there are none."
    ),
]

"""Parts that several bodies share: names, features, texts, classes, warnings."""

from typing import Annotated

import msgspec
from msgspec import Meta, UnsetType
from typing_extensions import TypeAliasType

from manyclass.core.instance import LONGEST_NAME

MOST_CLASSES = 1000  # of one event, or to rank among
LARGEST_SEQ = 2**63 - 1


# JSON has one kind of number, so 5.0 is the integer 5; such fields are read as int or float.
Name = str | int | float
Names = list[Name]
Features = msgspec.Raw  # manyclass.core.event reads it
Vector = msgspec.Raw  # manyclass.core.instance reads it
GivenText = Annotated[
    str | dict[str, str | None],  # manyclass.core.text counts the fields, and measures their names
    Meta(
        description="A text, or an object with the texts of fields such as `title` and `body`. The"
        " text analysis of the store turns it into features: by default words, pairs of"
        " neighbouring words, and runs of 4 characters of the first 64 different words, such as"
        " `~goal`; in scripts without spaces, characters and their pairs. The features of a field"
        " begin with its name, as in `title:goalie`. Words longer than a name may be are left out,"
        " and so are features beyond the largest number of features of an instance; `warnings`"
        " reports it. A field that is null is absent.",
        examples=["The goalie saved it.", {"title": "Ice hockey", "body": "The goalie saved it."}],
    ),
]
TextFields = TypeAliasType("TextFields", dict[str, str])  # named, so that generated clients name it
OriginName = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
Reviewer = Annotated[
    OriginName | None,
    Meta(
        description="The person who labelled the instance; the name of the key if it has one;"
        " another name is refused with 403, unless it is an admin key."
        " Learning ignores it; `GET /events` and `DELETE /events` find events by it."
    ),
]
Classes = Annotated[Names, Meta(min_length=1, max_length=MOST_CLASSES)]


class WarningDocument(msgspec.Struct, gc=False):
    """A probable mistake in a request that was answered, at a JSON pointer into its body."""

    detail: str
    pointer: str


Warnings = Annotated[
    list[WarningDocument] | UnsetType,
    Meta(
        description="Warnings about instances without features and vector (texts without words, and"
        " `features` without a value other than 0), values below 0 that a learner ignores, texts"
        " of which some words or features were left out, and names in `among` that no class has."
        " Absent if there are none."
    ),
]

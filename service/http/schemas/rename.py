"""The bodies of the call that renames a class."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from manyclass.service.http.schemas.parts import Name

_RENAME = "The next name of the class, which no class has."
_MERGE = "The class that it becomes a part of."


class RenameRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The next name of a class, or the class to merge it into: one of the two."""

    rename: Annotated[Name | UnsetType, Meta(description=_RENAME)] = UNSET
    merge_into: Annotated[Name | UnsetType, Meta(description=_MERGE)] = UNSET


class Renamed(msgspec.Struct, gc=False):
    """The number of the event that renamed or merged the class."""

    seq: int

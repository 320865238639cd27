"""The bodies of the call that renames a class."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from manyclass.service.http.schemas.parts import Name

_RENAME = "The next name of the class, which no class has."
_MERGE = "The class that it becomes a part of."
_RELEASE = "True for a former name, which is to be that of a class of its own again."


class RenameRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The next name of a class, the class to merge it into, or the release of a former name: one of
    the three."""

    rename: Annotated[Name | None, Meta(description=_RENAME)] = None
    merge_into: Annotated[Name | None, Meta(description=_MERGE)] = None
    release: Annotated[Literal[True] | None, Meta(description=_RELEASE)] = None


class Renamed(msgspec.Struct, gc=False):
    """The number of the event that renamed or merged the class, or released its former name."""

    seq: int

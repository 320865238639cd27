"""The bodies of the call that renames a class."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from manyclass.service.http.schemas.parts import Name

_RENAME = "The new name of the class, which no class may have yet."
_MERGE = "The name of the class that takes over its events."
_RELEASE = "True to make a former name a class of its own again."


class RenameRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The change of a name: exactly one of `rename`, `merge_into` and `release`."""

    rename: Annotated[Name | None, Meta(description=_RENAME)] = None
    merge_into: Annotated[Name | None, Meta(description=_MERGE)] = None
    release: Annotated[Literal[True] | None, Meta(description=_RELEASE)] = None


class Renamed(msgspec.Struct, gc=False):
    """The number of the event that renamed or merged the class, or released its former name.

    `rebuilds` is true if a rebuild follows: until its end, which `GET /rebuild` shows, rankings
    lack the former events of the merged class, or of the released name.
    """

    seq: int
    rebuilds: bool

"""The bodies of calls that place classes in the taxonomy."""

from typing import Annotated

import msgspec
from msgspec import Meta

from manyclass.core.event_parts import MOST_PLACEMENTS
from manyclass.service.http.schemas.parts import Name

_MOVE = "True if a class may leave its present parent; else the answer is 409."


class PlaceClassRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The parent of a class, or null for the top of the taxonomy."""

    parent: Name | None
    move: Annotated[bool | None, Meta(description=_MOVE)] = False


class PlaceClassesRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The parent of each class, or null for the top of the taxonomy."""

    parents: Annotated[dict[str, Name | None], Meta(min_length=1, max_length=MOST_PLACEMENTS)]
    move: Annotated[bool | None, Meta(description=_MOVE)] = False


class Placed(msgspec.Struct, gc=False):
    """The number of the event that placed the classes."""

    seq: int

"""The bodies of calls about the history of events."""

import msgspec
from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from manyclass.service.http.schemas.parts import Classes, TextFields

# Maps with a name, so that generated clients name them too.
TaughtFeatures = TypeAliasType("TaughtFeatures", dict[str, float])
TaughtParents = TypeAliasType("TaughtParents", dict[str, str])


class EventRecord(BaseModel):
    """An event that was taught.

    `key` addresses it: its `event_id`, or `seq:` and its number if that id finds another event or
    none. `id` is that of the ranked instance, of an event whose label named it. `classes` are the
    true ones after corrections. `undone`: a restore went back to a snapshot before it, so the state
    is without it. `rank_before` is the rank of the best true class before it was learned, null if
    none was retrieved; `outcome_known` is false if that was not recorded. `time` is in unix
    seconds. The instance is `text`, or its fields, if it was sent as text, else `features`.
    """

    seq: int
    key: str
    event_id: str | None
    id: str | None
    time: float | None
    source: str | None
    classes: tuple[str, ...]
    rejected: tuple[str, ...] = Field(serialization_alias="not")
    weight: float
    parents: TaughtParents
    corrected: bool
    undone: bool
    rank_before: int | None
    outcome_known: bool
    text: str | TextFields | None
    features: TaughtFeatures | None


class EventPage(BaseModel):
    """Events in order. Pass `next` as `after` for more; null at the end.

    A page may have fewer events than `limit`, or none, before the end: large events make it
    shorter, and a search through a long history goes on with `next`.
    """

    events: list[EventRecord]
    next: int | None


class CorrectRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The true classes of an event, in place of its former ones."""

    classes: Classes


class Amended(msgspec.Struct, gc=False):
    """The number of the event that amends another, and that of the amended one.

    `changed` is false if the event was so already; then `seq` is its own number.
    """

    seq: int
    amended: int
    changed: bool


class Deleted(BaseModel):
    """The number of the last event that deletes others, null if none was found, and their count.

    Call again while `more` is true: one call deletes 100,000 events at most.
    """

    seq: int | None
    deleted: int
    more: bool

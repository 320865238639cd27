"""The bodies of calls about the history of events."""

import msgspec
from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from manyclass.service.http.schemas.parts import Classes, Reviewer, TextFields

# Named maps, so that generated clients name them too.
TaughtFeatures = TypeAliasType("TaughtFeatures", dict[str, float])
TaughtParents = TypeAliasType("TaughtParents", dict[str, str])


class EventRecord(BaseModel):
    """A learned event.

    `key` addresses the event in calls: its `event_id`, or `seq:` and its number if the id finds
    another event or none. `id` is the id of the ranked instance if the event labelled one.
    `classes` are the true classes after corrections. `undone` is true if a restore went back to a
    snapshot before the event, so the state does not include it. `rank_before` is the position of
    the best true class before the event was learned, null if none was retrieved; `outcome_known` is
    false if this was not recorded. `time` is in unix seconds. The instance is `text`, or its
    fields, if it was sent as text, else `features`. `dimension` is that of its vector, null without
    one; `vector` has the numbers, of a vector of length 1, if the request has `vectors`.
    """

    seq: int
    key: str
    event_id: str | None
    id: str | None
    time: float | None
    source: str | None
    reviewer: str | None
    batch: str | None
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
    dimension: int | None
    vector: tuple[float, ...] | None


class EventPage(BaseModel):
    """Events in order. Pass `next` as `after` for the next page; it is null at the end.

    A page before the end may have fewer events than `limit`, or none, because events are large or a
    search through a long history is unfinished.
    """

    events: list[EventRecord]
    next: int | None


class CorrectRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The right classes of an event, which replace its present ones, and who says so."""

    classes: Classes
    reviewer: Reviewer = None


class Amended(msgspec.Struct, gc=False):
    """The number of the amending event, and the number of the amended one.

    `changed` is false if the event had these classes already; then `seq` is its own number.
    """

    seq: int
    amended: int
    changed: bool


class Deleted(BaseModel):
    """The number of the last deleting event, null if no event was found, the count of deleted
    events, and the count of instances that waited for review and are removed.

    Call again while `more` is true: one call deletes at most 100,000 events.
    """

    seq: int | None
    deleted: int
    waiting: int = 0
    more: bool

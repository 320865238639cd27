"""The bodies of POST /learn: one event, many, or a stream of them."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from manyclass.core.event import Text
from manyclass.core.event_parts import LARGEST_WEIGHT, MOST_PLACEMENTS, SMALLEST_WEIGHT
from manyclass.core.text_fields import without_nulls
from manyclass.service.http.problems import Fault
from manyclass.service.http.schemas.parts import (
    Classes,
    Features,
    GivenText,
    Name,
    OriginName,
    Reviewer,
    Vector,
    Warnings,
)
from manyclass.service.ingest.stored_instance import Id

Rejected = Annotated[
    Classes | None,
    Meta(description="Wrong classes. The event says nothing about all other classes."),
]
Weight = Annotated[
    Annotated[float, Meta(ge=SMALLEST_WEIGHT, le=LARGEST_WEIGHT)] | None,
    Meta(description="How much the event counts; 1 by default."),
]
Source = Annotated[
    OriginName | None,
    Meta(
        description="Where the instance comes from: a user, a channel. Learning ignores it;"
        " `GET /events` and `DELETE /events` find events by it."
    ),
]
Batch = Annotated[
    OriginName | None,
    Meta(description="The import that the event came with, such as a file. Used as `source` is."),
]
Replace = Annotated[
    bool | None,
    Meta(description="Correct the label that the instance of `id` has, if it has another one."),
]
Parents = Annotated[dict[str, Name], Meta(max_length=MOST_PLACEMENTS)] | None

MOST_REQUEST_PLACEMENTS = 5000  # in all events of a request, checked without a pause
MOST_PAIRS = 200_000  # features times classes of an event: as many edges, learned without a pause


class LearnEvent(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A labelled event: an instance, as `features` or `text`, a `vector`, or both, or the `id` of
    one; and its true classes in `classes`, or wrong classes in `not`, or both."""

    classes: Classes | None = None
    rejected: Rejected = msgspec.field(name="not", default=None)
    weight: Weight = None
    parents: Parents = None
    features: Features | UnsetType = UNSET
    given_text: GivenText | None = msgspec.field(name="text", default=None)
    vector: Vector | UnsetType = UNSET
    id: Id | None = None
    event_id: Id | None = None
    source: Source = None
    reviewer: Reviewer = None
    batch: Batch = None
    replace: Replace = None

    @property
    def text(self) -> Text | None:
        """The text, without fields that are null."""
        return None if self.given_text is None else without_nulls(self.given_text)


def names_in(form: "LearnEvent | LearnRequest") -> int:
    """Return the number of class names in the event; each is an object once it is decoded."""
    return (
        (0 if form.classes is None else len(form.classes))
        + (0 if form.rejected is None else len(form.rejected))
        + (0 if form.parents is None else 2 * len(form.parents))
    )


def placements_in(form: "LearnEvent") -> int:
    """Return the number of classes that the event places in the taxonomy."""
    return 0 if form.parents is None else len(form.parents)


class LearnRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The body of /learn: one event, or many as `events`."""

    classes: Classes | None = None
    rejected: Rejected = msgspec.field(name="not", default=None)
    weight: Weight = None
    parents: Parents = None
    features: Features | UnsetType = UNSET
    given_text: GivenText | None = msgspec.field(name="text", default=None)
    vector: Vector | UnsetType = UNSET
    id: Id | None = None
    event_id: Id | None = None
    source: Source = None
    reviewer: Reviewer = None
    batch: Batch = None
    replace: Replace = None
    events: list[LearnEvent] | None = None

    @property
    def text(self) -> Text | None:
        """The text, without fields that are null."""
        return None if self.given_text is None else without_nulls(self.given_text)


class LearnAnswer(msgspec.Struct, gc=False):
    """An event that is durable and learned. `rank_before` is the best true class's position before
    learning, or null if it was not retrieved.

    An event without features and vector makes no new class, unless the learner ignores features.
    """

    seq: int
    accepted: int
    duplicates: int
    rank_before: int | None
    updated: bool
    warnings: Warnings = UNSET


class LearnManyAnswer(msgspec.Struct, gc=False):
    """Events that are durable and learned: `accepted` counts new events, `duplicates` events that
    were learned before and changed nothing. `ranks_before` has the `rank_before` of each event,
    null for a duplicate."""

    seq: int
    accepted: int
    duplicates: int
    ranks_before: list[int | None]
    warnings: Warnings = UNSET


class Progress(msgspec.Struct, gc=False, tag="progress", tag_field="kind"):
    """The progress of a stream: `accepted` counts new events, `duplicates` events that were learned
    before and changed nothing. `r1` and `r5` are recall at 1 and 5 over the accepted events with
    true classes so far."""

    lines: int
    accepted: int
    duplicates: int
    rejected: int
    seq: int
    r1: float | None
    r5: float | None


class Summary(Progress, gc=False, tag="summary", tag_field="kind"):
    """The last line of a stream that was read to its end."""


class StreamFault(msgspec.Struct, gc=False, tag="fault", tag_field="kind"):
    """A skipped line, and the reason."""

    line: int
    status: int
    detail: str
    errors: list[Fault] = []


class StreamWarning(msgspec.Struct, gc=False, tag="warning", tag_field="kind"):
    """An accepted line, with a warning about its instance as in `warnings`."""

    line: int
    detail: str
    pointer: str


class StreamFailure(Progress, gc=False, tag="failure", tag_field="kind"):
    """The last line of a stream that ended early. Each line up to `learned_up_to_line` is durable
    and learned, or was reported."""

    status: int
    detail: str
    learned_up_to_line: int

"""The bodies of the calls about the queue of review."""

from typing import Annotated

import msgspec
from msgspec import Meta
from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from manyclass.service.http.schemas.parts import OriginName, Reviewer, TextFields
from manyclass.service.http.schemas.rank import RankInstance
from manyclass.service.ingest.stored_instance import Id

DEFAULT_REVIEWED = 20
MOST_REVIEWED = 100
MOST_LEASED = 1000  # ids in one call
MOST_FEATURES = 500  # of one instance

# A named map, so that it is a component of the document and generated clients name it too.
StoredFeatures = TypeAliasType("StoredFeatures", dict[str, float])


class ReviewInstance(BaseModel):
    """An instance that waits for its label, and its ranking now, by the primary learner or by the
    `learner` of the request. Instances for a second label have the ranking that was served."""

    id: str = Field(description="the id by which POST /learn labels the instance")
    ranked: list[str] = Field(description="the first classes, best first, at most five")
    probabilities: list[float | None] = Field(
        description="that each of them is right; null with too few outcomes, for `suspect`, and if"
        " the instance is for a second label, as they would show the first one"
    )
    confidence: float | None = Field(description="rounded to six decimal places")
    abstained: bool = Field(description="true if the ranking was served without classes")
    age: float = Field(description="seconds since the instance was ranked")
    source: str | None = Field(description="the source that was sent with the instance")
    batch: str | None = Field(description="the batch in which the instance was given for review")
    text: str | TextFields | None = Field(
        description="the first 4,096 bytes of the text, of all fields together; null if the"
        " instance was not sent as text or the text was dropped"
    )
    text_cut: bool = Field(description="true if the text was longer")
    event: str | None = Field(
        description="the key of the event whose label is likely wrong, which PUT /events/{name}"
        " corrects or confirms; null for an instance without a label"
    )
    classes: list[str] = Field(description="the label of that event, else empty")
    second: bool = Field(
        description="true if another reviewer has labelled the instance, and a second label is"
        " asked for: it is compared and not learned"
    )
    features: StoredFeatures
    omitted_features: int = Field(description="the number of features beyond the first 500")
    dimension: int | None = Field(description="of the vector; null without one")


class Review(BaseModel):
    """Instances to label. `waiting` is the number of all instances of the request that wait.

    `reviewer` is the name to which the instances are leased for `lease_seconds`, null without one:
    that of the key, or that of the request. `process` is the name of the process that answered,
    null if only one process can use the store. `failing` is the reason why the stored instances
    cannot be read or new ones are in memory only, such as a full disk; null if all is well.
    """

    process: str | None
    reviewer: str | None
    lease_seconds: float
    waiting: int
    failing: str | None
    instances: list[ReviewInstance]


class GiveRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Instances that people shall label, and the `batch` that they came with, such as a file."""

    instances: Annotated[list[RankInstance], Meta(min_length=1)]
    batch: OriginName | None = None


class Given(msgspec.Struct, gc=False):
    """The ids of the instances, in their order; they wait, also after a restart, but for those
    `labelled` already.
    """

    ids: list[str]
    labelled: list[str]


class LeaseRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Instances that a reviewer goes on with, and instances that others may have."""

    reviewer: Reviewer = None
    renew: Annotated[list[Id], Meta(max_length=MOST_LEASED)] | None = None
    release: Annotated[list[Id], Meta(max_length=MOST_LEASED)] | None = None


class Leased(msgspec.Struct, gc=False):
    """The instances of `renew` that the reviewer has, and instances that do not wait: they have a
    label, or were never there. Another reviewer has the rest.
    """

    held: list[str]
    not_waiting: list[str]


class UndoRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The instance whose label is taken back, and the reviewer who gave it. With `seq`, instead of
    the label: the number of an event with `not` and without `classes`.
    """

    id: Id
    reviewer: Reviewer = None
    seq: Annotated[int, Meta(ge=1)] | None = None


class Undone(msgspec.Struct, gc=False):
    """The number of the event that deletes the label, and the deleted label's event."""

    seq: int
    deleted: int

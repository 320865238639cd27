"""The answer of GET /stats."""

from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from manyclass.service.history.rebuild import RebuildReport
from manyclass.service.http.schemas.learners import AccuracyByWindow, LearnerStats
from manyclass.service.http.schemas.snapshots import RecoveryReport, Snapshot

# A named map, so that it is a component of the document and generated clients name it too.
SettingTexts = TypeAliasType("SettingTexts", dict[str, str])


class VectorStats(BaseModel):
    """The vectors of past events: their dimension (0 before the first), the number of events by
    their weights, where one of several classes counts for each of them, and the number of classes
    with vectors of events or of their description. `bytes` is the counted size of their
    sums and of all descriptions, which the learners share.
    """

    dimension: int
    events: int
    classes: int
    bytes: int
    resident_bytes: int


class LateLabelStats(BaseModel):
    """Ranked instances that wait for a label by `id`."""

    waiting: int
    bytes: int


class DiskStats(BaseModel, from_attributes=True):
    """The room on the disk of the store, in bytes."""

    free: int
    total: int


class HealthStats(BaseModel):
    """Figures of this process for an operator. Counts are since the process started."""

    disk: DiskStats | None = Field(
        description="null if the store has no file on the machine of the service"
    )
    store_full: bool = Field(description="true while the store has no room for an event")
    queued_events: int = Field(description="events that are not answered yet")
    refused_by_queue: int = Field(description="events or requests refused with 503: a full queue")
    failed_commits: int = Field(description="number of failed appends to the log")
    snapshot_failures: int
    review_stored: bool | None = Field(
        description="false while what waits for review cannot be stored and is in memory only, see"
        " `review.failing`; null if it is never stored, as in /readyz"
    )


class ReviewStats(BaseModel, from_attributes=True):
    """The queue of instances that wait for review, as of its last change.

    `failing` is the reason why the store does not take new ones, or cannot be read; null if it can.
    New ones are in memory only then, and ranking and learning go on.
    """

    items: int
    bytes: int
    failing: str | None


class HistoryStats(BaseModel, from_attributes=True):
    """The history of events, from event `first_seq` on. `amendments` counts the amended events that
    wait for a rebuild, `erasures` the deleted ones of these, which are on the disk until then, and
    the oldest has waited for `amendment_age_seconds`; `deleted_events` counts the events that have
    left the history because of its limits. Counts are since the process started."""

    first_seq: int
    events: int
    bytes: int = Field(description="size of the history; MANYCLASS_HISTORY_BYTES bounds it")
    deleted_events: int
    lost_events: int = Field(
        description="number of events trimmed from the log while the archive failed"
    )
    failures: int = Field(description="number of failed writes to the history")
    amendments: int
    erasures: int
    amendment_age_seconds: float
    rebuild_failures: int
    last_rebuild: RebuildReport | None


class ServedStats(BaseModel):
    """The accuracy of the rankings that this process has served since its start.

    A label by `id` is compared with the first five classes that the answer had. `first` counts
    the labels whose true class was ranked first, `later` the labels whose true class was among the
    other four, and `missed` the rest; rankings that abstained count in `abstained` alone. `r1` is
    the share of `first` among `first`, `later` and `missed`. `r1_before_learning` is the share of
    the same labels whose class the model ranked first just before learning them. Both are null
    without labels.
    """

    first: int
    later: int
    missed: int
    abstained: int
    r1: float | None
    r1_before_learning: float | None


class ProcessStats(BaseModel, from_attributes=True):
    """A process that uses the store. `seq` is null while it restores its state."""

    name: str
    seq: int | None
    leads: bool


class Stats(BaseModel):
    """The contents of the service, its accuracy and its settings.

    Sizes, outdegrees and accuracy at this level are for the primary learner; `learners` has them
    for every learner. Only `classes` counts what descriptions and vectors rank beside it, too.

    `process` is the name of the process that answered, `leads` is true if it takes the snapshots
    and trims the log, and `processes` lists all live processes on the store, as of the last
    heartbeat. The three are null if only one process can use the store. `digest` is a hash of the
    whole state after event `seq`, null unless requested; the other figures may be slightly newer.
    """

    seq: int
    digest: str | None
    process: str | None
    leads: bool | None
    processes: list[ProcessStats] | None
    log_seq: int
    store_unreachable_seconds: float = Field(description="time since the store last answered")
    features: int
    classes: int = Field(
        description="classes that a ranking can have, which `GET /classes` lists: the classes of"
        " the primary learner, and those with a description or with vectors of events"
    )
    edges: int
    learned: int = Field(
        description="events that the primary learner has learned; none of a vector alone, unless it"
        " knew the class"
    )
    bytes: int = Field(description="size of the state; MANYCLASS_MAX_BYTES bounds it")
    resident_bytes: int
    evicted_features: int
    evicted_classes: int
    taxonomy: int = Field(description="the number of classes and other nodes in the taxonomy")
    described: int = Field(description="the number of classes with a title or other description")
    taxonomy_bytes: int = Field(description="memory of the taxonomy, which all learners share")
    vectors: VectorStats
    outdegrees: list[int] = Field(description="the number of features with 0, 1, 2, … edges")
    accuracy: AccuracyByWindow = Field(description="by the number of last events it covers")
    learners: list[LearnerStats]
    late_labels: LateLabelStats
    health: HealthStats
    review: ReviewStats
    history: HistoryStats | None = Field(description="null if the service keeps none")
    served: ServedStats
    newest_snapshot: Snapshot | None
    recovery: RecoveryReport
    durability: str
    settings: SettingTexts

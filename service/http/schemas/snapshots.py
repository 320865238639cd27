"""The answers about snapshots, recovery and readiness."""

from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from manyclass.service.log.pause import Reason

# A named map, so that it is a component of the document and generated clients name it too.
RefusedSnapshots = TypeAliasType("RefusedSnapshots", dict[str, str])


class Snapshot(BaseModel, from_attributes=True):
    """A stored state after event `seq`. `taken_at` is in unix seconds."""

    seq: int
    bytes: int
    taken_at: float


class SnapshotList(BaseModel):
    """The stored snapshots, newest first."""

    snapshots: list[Snapshot]


class Restored(BaseModel):
    """The number of the event that restored a snapshot, and the number of that snapshot."""

    seq: int
    restored: int


class RecoveryReport(BaseModel, from_attributes=True, coerce_numbers_to_str=True):
    """The recovery of the state: the loaded snapshot, the reason for each refused snapshot by its
    number, and the number of replayed events."""

    snapshot: Snapshot | None
    refused: RefusedSnapshots
    replayed: int
    last_seq: int = Field(description="number of the last event replayed")
    seconds: float


class Live(BaseModel):
    """The process runs."""

    status: str = "live"


class Ready(BaseModel):
    """The state is restored and replayed, and for `to=learn` the store is reachable.

    `learns` is false while learning is paused. Learning resumes by itself, except after `failed`.
    """

    status: str = "ready"
    seq: int
    learns: bool
    reason: Reason | None = Field(description="why learning is paused; null if it is not")
    detail: str | None = Field(description="the reason as a sentence")
    review_stored: bool | None = Field(
        description="false while what waits for review cannot be stored and is in memory only; null"
        " if it is never stored: with MANYCLASS_REVIEW_STORED=no, or a store in memory"
    )
    recovery: RecoveryReport

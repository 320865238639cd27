"""The answers about snapshots, recovery and readiness."""

from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from manyclass.service.log.pause import Reason

# A map with a name, so that it is a component of the document: generated clients name it too.
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
    """The recovery of the state: the snapshot that was loaded, the snapshots that were refused, by
    number, and the events that were replayed."""

    snapshot: Snapshot | None
    refused: RefusedSnapshots
    replayed: int
    last_seq: int = Field(description="number of the last event replayed")
    seconds: float


class Live(BaseModel):
    """The process runs."""

    status: str = "live"


class Ready(BaseModel):
    """The state is restored and replayed; the store is reachable if learning was asked for.

    `learns` is false while learning is paused. It goes on by itself, except after `failed`.
    """

    status: str = "ready"
    seq: int
    learns: bool
    reason: Reason | None = Field(description="why learning is paused; null while it is not")
    detail: str | None = Field(description="the same in a sentence")
    recovery: RecoveryReport

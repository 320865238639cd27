"""The counts and sizes of the engine, for metrics and /stats."""

from dataclasses import dataclass, field

from manyclass.service.history.rebuild import RebuildReport
from manyclass.service.log.live_model import LearnerCounts


@dataclass(frozen=True, slots=True)
class HistoryStats:
    """The counts of the history of events since the engine was ready, and its size."""

    first_seq: int  # number of the oldest event
    events: int  # from `first_seq` on, packed or in the log
    bytes: int  # of the segments
    deleted_events: int  # beyond the limits
    lost_events: int  # trimmed from the log before they were packed
    failures: int  # failed attempts to pack events
    amendments: int  # amended events that wait for a rebuild
    erasures: int  # of these, the deleted ones
    amendment_age_seconds: float  # of the oldest amendment
    rebuild_failures: int
    last_rebuild: RebuildReport | None


@dataclass(frozen=True, slots=True)
class EngineStats:
    """The counts since the engine was ready, all 0 before, and the present sizes of its queues."""

    queued_events: int = 0  # admitted and not yet answered
    queued_bytes: int = 0
    log_lag: int = 0  # durable and not yet applied
    commits: int = 0  # appends to the log; concurrent requests share one
    commit_seconds: float = 0.0
    failed_commits: int = 0
    uncertain: int = 0  # failed commits whose outcome was not known in time
    conflicts: int = 0
    queue_full: int = 0
    snapshot_failures: int = 0
    snapshot_seconds: float | None = None  # duration of the newest snapshot, None without one
    snapshot_pause_seconds: float | None = None  # pause of learning for the newest snapshot
    counts: LearnerCounts = field(default_factory=LearnerCounts)  # a restore does not reset them
    is_leader: bool = True  # takes the scheduled snapshots and trims the log
    processes: int = 1  # processes on the store
    rewinds: int = 0  # number of times that the log had lost events
    foreign_entries: int = 0  # entries of the log that other programs wrote, skipped
    store_full: bool = False  # the store has no room for an append
    store_unreachable_seconds: float = 0.0  # since a shared store last answered; 0 while it does
    history: HistoryStats | None = None  # None without a history

"""The figures of the engine, for metrics and /stats."""

from dataclasses import dataclass, field

from manyclass.service.history.rebuild import RebuildReport
from manyclass.service.log.live_model import LearnerCounts


@dataclass(frozen=True, slots=True)
class HistoryStats:
    """The figures of the history of events; counts are since the engine was ready."""

    first_seq: int  # of the oldest event that it has
    events: int  # from there on, packed or in the log
    bytes: int  # of its segments
    deleted_events: int  # by the limits
    lost_events: int  # not packed before the log had to be trimmed
    failures: int  # times that events could not be packed
    amendments: int  # amended events that wait for a rebuild
    amendment_age_seconds: float  # of the oldest amendment
    rebuild_failures: int
    last_rebuild: RebuildReport | None


@dataclass(frozen=True, slots=True)
class EngineStats:
    """Counts since the engine was ready, all 0 before, and the sizes of its queues now."""

    queued_events: int = 0  # admitted and not yet answered
    queued_bytes: int = 0
    log_lag: int = 0  # durable and not yet applied
    commits: int = 0  # appends to the log; concurrent requests share one
    commit_seconds: float = 0.0
    failed_commits: int = 0
    uncertain: int = 0  # of these, appends whose outcome was not known in time
    conflicts: int = 0
    queue_full: int = 0
    snapshot_failures: int = 0
    snapshot_seconds: float | None = None  # the newest took so long; None without one
    snapshot_pause_seconds: float | None = None  # learning waited so long for the newest
    counts: LearnerCounts = field(default_factory=LearnerCounts)  # also over a restore
    is_leader: bool = True  # takes the snapshots by the schedule, and trims the log
    processes: int = 1  # that use the store
    rewinds: int = 0  # times the state was restored anew because the log had lost events
    foreign_entries: int = 0  # of the log, skipped because no process of the service wrote them
    store_full: bool = False  # the store has no room for an append
    store_unreachable_seconds: float = 0.0  # since a shared store last answered; 0 while it does
    history: HistoryStats | None = None  # None if none is kept

"""The errors that a store raises: each says what happened and what an operator can do."""

HISTORY_HINT = (
    "the state and the log are complete without these events; an old backup may have them"
)


class StoreError(Exception):
    """Base of the errors of a store. `hint` says what an operator can do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class StoreUnavailable(StoreError):
    """The store cannot do this now but may later. Nothing was changed."""


class CommitOutcomeUnknown(StoreUnavailable):
    """It is not known whether these events are in the log: they may still be learned."""


class StoreFull(StoreUnavailable):
    """There is no room left for this. Nothing was changed."""


class StoreMissing(StoreError):
    """There is no such store, and the caller did not want to make one."""


class StoreInUse(StoreError):
    """Another process uses this store."""


class StoreDamaged(StoreError):
    """The store as a whole cannot be read, or has lost acknowledged events."""


class LogDamaged(StoreError):
    """Event `seq` is missing or damaged, so no event after it can be applied."""

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(
            f"the log is damaged at event {seq}: {reason}",
            "the state in use is intact: save it (`manyclass snapshot save FILE`) before a restart",
        )
        self.seq = seq
        self.reason = reason


class SegmentMissing(StoreError):
    """There is no segment up to event `seq`: it has left the history, or is lost."""

    def __init__(self, seq: int) -> None:
        super().__init__(f"the history up to event {seq} is missing", HISTORY_HINT)


class LogTrimmed(StoreError):
    """Event `seq` was trimmed from the log, up to event `floor`; snapshots and segments include it.

    The store is intact. A reader continues from a newer snapshot, or reads the history.
    """

    def __init__(self, seq: int, floor: int) -> None:
        super().__init__(
            f"event {seq} is no longer in the log, which was trimmed up to event {floor}",
            "nothing is damaged: try again",
        )
        self.seq = seq
        self.floor = floor


class LogRewound(StoreError):
    """The log has lost events that it gave to this process, up to and with event `seq`."""

    def __init__(self, seq: int) -> None:
        super().__init__(
            f"the log no longer has event {seq} in the form that was applied",
            "the store lost its last writes; make every write durable there to prevent this",
        )
        self.seq = seq


class SnapshotMissing(StoreError):
    """No snapshot was taken at `seq`, or it has been deleted since."""

    def __init__(self, seq: int, hint: str = "`manyclass snapshot list` shows them") -> None:
        super().__init__(f"there is no snapshot {seq}", hint)
        self.seq = seq


class SnapshotDamaged(StoreError):
    """The snapshot at `seq` is not what was saved. `part` says where: "manifest", "chunk 3"."""

    def __init__(self, seq: int, part: str, reason: str) -> None:
        super().__init__(
            f"snapshot {seq} is damaged, {part}: {reason}", "use an older one, or take a new one"
        )
        self.seq = seq
        self.part = part
        self.reason = reason

"""What the service needs of a store: a log of events, snapshots, and errors a caller can act on.

Events and snapshots are bytes here; what they mean is the engine's business.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """A snapshot that is wholly there: the state after event `seq`."""

    seq: int
    bytes: int
    taken_at: float  # unix seconds


class Store(Protocol):
    """Numbered events, kept in order, and snapshots of what they led to.

    Events are numbered 1, 2, 3, ... without holes, and no number is ever given twice, also not
    after a failed append, a trim or a restart.

    Threads: one thread appends; meanwhile any other may call the rest. `close` comes last.
    """

    durability: str  # for people: what an answer of 200 to /learn promises

    @property
    def last_seq(self) -> int:
        """The highest number in use, 0 for a new store; a snapshot newer than the log counts."""

    def append(self, events: Sequence[bytes]) -> int:
        """The number of the last of the events, all of which are as durable as the store can make
        them. When it raises, none of them is in the log and their numbers are still free.
        """

    def read(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Number and bytes of every event after `after`, in order.

        Raises LogDamaged where one is damaged or missing; those before it have been given.
        """

    def save_snapshot(self, seq: int, chunks: Iterable[bytes | memoryview]) -> SnapshotInfo:
        """The snapshot as it will be listed. It is visible only when whole, and replaces an
        older one at the same `seq` in one step. The chunks are consumed while it is written.
        """

    def open_snapshot(self, seq: int) -> Iterator[bytes]:
        """The bytes that were saved, cut in chunks of the store's own choice.

        Raises SnapshotMissing at once, SnapshotDamaged at once or when the damage is met: what
        was read counts only when the iterator has ended.
        """

    def snapshots(self) -> list[SnapshotInfo]:
        """The snapshots, newest first, damaged ones among them: only reading one tells."""

    def delete_snapshot(self, seq: int) -> None:
        """Forget a snapshot; SnapshotMissing when it is not there."""

    def trim(self, seq: int) -> None:
        """Allow the store to forget the events up to and with `seq`."""

    def close(self) -> None:
        """Give the store back. Closing twice is fine."""


class StoreError(Exception):
    """Base of what a store raises. `hint` says what an operator can do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class StoreUnavailable(StoreError):
    """The store cannot do this now and may later. Nothing was changed."""


class StoreFull(StoreUnavailable):
    """There is no room left for this. Nothing was changed."""


class StoreInUse(StoreError):
    """Another process has this store."""


class StoreDamaged(StoreError):
    """The store as a whole cannot be read, or has lost what it once acknowledged."""


class LogDamaged(StoreError):
    """Event `seq` cannot be had, so none after it can be applied."""

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(
            f"the log is damaged at event {seq}: {reason}",
            "put a backup of the store in its place; what follows this event cannot be replayed",
        )
        self.seq = seq
        self.reason = reason


class SnapshotMissing(StoreError):
    """No snapshot was taken at `seq`, or it has been deleted since."""

    def __init__(self, seq: int) -> None:
        super().__init__(f"there is no snapshot {seq}", "`manyclass snapshot list` shows them")
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

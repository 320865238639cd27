"""The interface of a store: a log of events, snapshots, and errors that a caller can act on.

A store handles events and snapshots as bytes; the engine interprets them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """A complete snapshot: the state after event `seq`."""

    seq: int
    bytes: int
    taken_at: float  # unix seconds


class StoredState(Protocol):
    """The snapshots of states, and the events that follow them."""

    def read(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Yield the number and bytes of every event after `after`, in order.

        Raise LogDamaged at the first damaged or missing event, after yielding the events before it;
        LogTrimmed if that event was trimmed.
        """

    def open_snapshot(self, seq: int) -> Iterator[bytes]:
        """Yield the saved bytes in chunks of sizes that the store chooses.

        Raise SnapshotMissing at once, and SnapshotDamaged at once or at the damage. So use the
        bytes only after the iterator has ended.
        """

    def snapshots(self) -> list[SnapshotInfo]:
        """Return the snapshots, newest first. Only reading a snapshot detects its damage."""

    def close(self) -> None:
        """Release the store. Further calls have no effect."""


class Store(StoredState, Protocol):
    """A log of numbered events in order, and snapshots of the states that follow from them.

    Events are numbered 1, 2, 3, ... without holes. A number is never assigned twice, not even after
    a failed append, a trim or a restart.

    Threads: one thread appends; any thread may call the other methods meanwhile. Call `close` last.
    """

    @property
    def durability(self) -> str:
        """The durability of an event after a 200 of /learn, as a sentence for people."""

    @property
    def last_seq(self) -> int:
        """The highest number in use, 0 for a new store; includes a snapshot newer than the log."""

    def append(self, events: Sequence[bytes]) -> int:
        """Append the events; return the number of the last one.

        On return all events are as durable as the store can make them. After an error none of them
        is in the log, and their numbers are still free.
        """

    def check_append(self, size: int) -> None:
        """Raise the error that an append of so many bytes would meet now; no event is appended."""

    def save_snapshot(
        self, seq: int, chunks: Iterable[bytes | memoryview], keep_existing: bool = False
    ) -> SnapshotInfo:
        """Save a snapshot; return it as `snapshots` lists it.

        The snapshot becomes visible when it is complete, and atomically replaces an older one at
        the same `seq`. With `keep_existing` the older one stays instead. The chunks are consumed
        during the write.
        """

    def delete_snapshot(self, seq: int) -> None:
        """Delete a snapshot; raise SnapshotMissing if the store does not have it."""

    def trim(self, seq: int) -> None:
        """Allow the store to delete the events up to and including `seq`."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The events of one append to a log that several processes share."""

    first_seq: int
    events: list[bytes]
    append_id: int  # the append's id; 0 for an append of another process


@dataclass(frozen=True, slots=True)
class PeerMessage:
    """A message from another process."""

    sender: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Process:
    """A process that uses the store."""

    name: str
    seq: int | None  # the last event it has applied; None while it restores its state
    is_leader: bool
    seen_at: float  # unix seconds, by the server's clock
    rules: int  # its version of the rules of learning


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The store's answer to a heartbeat: the state of the log, the snapshots and the processes."""

    last_seq: int  # of the log
    is_leader: bool  # True if this process holds the lease
    snapshots: list[SnapshotInfo]  # newest first
    processes: list[Process]  # the live ones, including this one, by name
    is_full: bool = False  # no room for an append; the leader may still take a snapshot


class SharedStore(Store, Protocol):
    """A store that several processes use at once: its log defines the order of the events.

    One process, the leader, holds a lease. Only the leader trims the log and deletes snapshots; in
    other processes these calls raise StoreUnavailable. A trim stops at the last event that the
    slowest live process has applied.
    """

    name: str  # unique to this process

    @property
    def foreign_entries(self) -> int:
        """The number of entries that `follow` skipped because another program wrote them.

        Every process skips the same entries.
        """

    def append(self, events: Sequence[bytes], append_id: int = 0, after: int | None = None) -> int:
        """Append the events as `Store.append` does; return the number of the last one.

        Other processes append too, so the numbers need not follow those of the previous append.
        `follow` yields the events in a batch with this append_id, which grows from call to call.
        With `after`, the events are appended only if that event is the last one in the log. Raise
        StoreUnavailable if the events are not in the log, CommitOutcomeUnknown if they may be.
        """

    def confirm(self) -> None:
        """Wait until all events known to be in the log are as durable as after `append`.

        Raise the errors of `append`.
        """

    def follow(self, after: int) -> Iterator[Batch | PeerMessage | None]:
        """Yield the events after `after` as they reach the log, and messages to this process.

        The events have no holes. The first batch begins at `after` + 1, even if its append began
        before that number. Yield None about twice a second while there is nothing new or the store
        is unreachable. End after `close`. Raise LogRewound, LogTrimmed
        and LogDamaged.
        """

    def heartbeat(self, seq: int | None, rules: int = 1, may_lead: bool = True) -> Heartbeat:
        """Record this process as live; return the state of the log and of all processes.

        `seq` is the last event applied here, or None during a restore; `rules` is this process's
        version of the rules. With `may_lead`, keep the lease or take it if it is free. Call this
        about once a second. Raise StoreUnavailable.
        """

    def post(self, messages: Sequence[tuple[str, bytes]]) -> None:
        """Send messages (process, body), without a guarantee of delivery; StoreUnavailable."""


def as_shared(store: Store) -> SharedStore | None:
    """Return the store as a shared one, or None if only one process can use it."""
    return cast(SharedStore, store) if hasattr(store, "follow") else None

"""What the service needs of a store: a log of events, snapshots, and errors a caller can act on.

Events and snapshots are bytes here; what they mean is the engine's business.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast


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

    @property
    def durability(self) -> str:
        """For people: what an answer of 200 to /learn promises, as far as it is known now."""

    @property
    def last_seq(self) -> int:
        """The highest number in use, 0 for a new store; a snapshot newer than the log counts."""

    @property
    def is_older_than_rules(self) -> bool:
        """True if a release without versions of the rules of learning began the log.

        The events that it appended were learned under version 1 of the rules.
        """

    def append(self, events: Sequence[bytes]) -> int:
        """The number of the last of the events, all of which are as durable as the store can make
        them. When it raises, none of them is in the log and their numbers are still free.
        """

    def read(self, after: int) -> Iterator[tuple[int, bytes]]:
        """Number and bytes of every event after `after`, in order.

        Raises LogDamaged where one is damaged or missing; those before it have been given.
        """

    def save_snapshot(
        self, seq: int, chunks: Iterable[bytes | memoryview], keep_existing: bool = False
    ) -> SnapshotInfo:
        """The snapshot as it is listed. It is visible only when whole, and replaces an older one
        at the same `seq` in one step, or with `keep_existing` gives way to it. The chunks are
        consumed while it is written.
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


@dataclass(frozen=True, slots=True)
class Batch:
    """What one append brought into a log that several processes share."""

    first_seq: int
    events: list[bytes]
    ticket: int  # of the append that brought it; 0 when that was another process's


@dataclass(frozen=True, slots=True)
class PeerMessage:
    """What another process has to say."""

    sender: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Process:
    """One of those that use the store."""

    name: str
    seq: int | None  # the last event it has applied; None while it restores its state
    leads: bool
    seen_at: float  # unix seconds, by the server's clock
    rules: int = 1  # the version of the rules of learning it has; older releases do not tell


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """How things stand among the processes that use the store."""

    last_seq: int  # of the log
    leads: bool  # whether this process holds the lease
    snapshots: list[SnapshotInfo]  # newest first
    processes: list[Process]  # those alive, this one among them, by name
    is_full: bool = False  # there is no room for an append; the leader may still take a snapshot


class SharedStore(Store, Protocol):
    """A store that several processes use at once: the order of its log is the order for all.

    One of them holds a lease. Only that one trims and deletes snapshots; to the others these raise
    StoreUnavailable. A trim stops at what the slowest live process has applied.
    """

    name: str  # of this process; no other has it

    @property
    def foreign_entries(self) -> int:
        """Return how many entries `follow` has skipped because no process of this store wrote
        them. Every process skips the same ones.
        """

    def append(self, events: Sequence[bytes], ticket: int = 0, after: int | None = None) -> int:
        """The number of the last of the events, as `Store.append` has it, but for three things.

        Others append too, so the numbers need not follow those of the append before. And `follow`
        gives the events back under the ticket, which grows from call to call. Raises
        StoreUnavailable when they are not in the log, CommitOutcomeUnknown when nobody knows. With
        `after`, they come right behind that event, or not at all.
        """

    def confirm(self) -> None:
        """Return when everything this process knows to be in the log is as durable as `append`
        makes it. Raises as that does.
        """

    def follow(self, after: int) -> Iterator[Batch | PeerMessage | None]:
        """Every event after `after` as soon as it is in the log, without holes and without end;
        letters to this process between them; None about twice a second when there is nothing, also
        while the store cannot be reached. Ends after `close`.

        The first batch begins at `after` + 1, also when the append that brought it began before.
        Raises LogRewound, LogDamaged.
        """

    def beat(self, seq: int | None, rules: int = 1, may_lead: bool = True) -> Heartbeat:
        """Tell the others that this process lives, has applied event `seq` (None: it restores its
        state) and has this version of the rules; keep the lease or take it when it is free, unless
        it may not lead, and hear how things stand.

        To be called about once a second. Raises StoreUnavailable.
        """

    def post(self, letters: Sequence[tuple[str, bytes]]) -> None:
        """Send each (process, body). Nobody promises that a letter arrives. StoreUnavailable."""


def as_shared(store: Store) -> SharedStore | None:
    """The store as one that other processes use too; None when this process has it for itself."""
    return cast(SharedStore, store) if hasattr(store, "follow") else None

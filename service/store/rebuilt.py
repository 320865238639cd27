"""The part of a shared store that keeps a state which a rebuild made, until it is settled."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from manyclass.service.store.protocol import Store


@dataclass(frozen=True, slots=True)
class RebuiltState:
    """A stored state: as if the events up to `seq` had always been as they were amended."""

    token: str  # names it
    seq: int
    plan: bytes  # of its maker, for settling
    adopted: int | None  # the event that made it the state of all processes


class RebuiltStates(Protocol):
    """Keeps one rebuilt state at a time. Any thread may call it at any time.

    Only the leader may save, adopt and drop; in other processes these raise StoreUnavailable.
    """

    def save(self, seq: int, chunks: Iterable[bytes | memoryview], plan: bytes) -> RebuiltState:
        """Save a state durably; StoreUnavailable while there is another."""

    def find(self) -> RebuiltState | None:
        """Return the kept state. The log is not trimmed behind its `seq` while there is one."""

    def adopt(self, token: str, event: bytes) -> int:
        """Append the event that adopts the kept state, if it is still there; return its number.

        Raise StoreUnavailable if the event is not in the log, CommitOutcomeUnknown if it may be.
        """

    def open(self, token: str) -> Iterator[bytes]:
        """Yield the bytes of the kept state. SnapshotMissing if it is gone, SnapshotDamaged."""

    def drop(self, token: str, applied: int) -> None:
        """Delete the kept state, if there is one of this name.

        If it is not adopted, raise StoreUnavailable unless `applied` is the last event of the log:
        the event that adopts it may come after that.
        """


def rebuilt_states_of(store: Store) -> RebuiltStates | None:
    """Return the rebuilt states of a shared store; None if one process alone uses the store."""
    return getattr(store, "rebuilt_states", None)

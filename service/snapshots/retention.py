"""Retention: deletes the snapshots and events that no start will need."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from manyclass.service.log.snapshot_loader import SnapshotLoader
from manyclass.service.store.protocol import Store


class PastEvents(Protocol):
    """The history behind the log, which limits what may be deleted. Methods block."""

    @property
    def packs(self) -> bool:
        """False if the log itself is the history."""

    @property
    def is_held(self) -> bool:
        """True while a rebuild reads the log."""

    def pack_behind(self, last_seq: int, oldest: int, is_full: bool) -> int:
        """Pack the events up to `last_seq`; return the last event that may be trimmed."""

    def bases(self, snapshots: Iterable[int]) -> list[int]:
        """Return the snapshots from which the history can begin."""

    def base_of_waiting(self, snapshots: Sequence[int]) -> int | None:
        """Return the newest snapshot before all amended events that wait for a rebuild."""


class Retention:
    """The part that trims the log up to the oldest of the newest `keep` snapshots.

        snapshot 1    snapshot 5    snapshot 9          keep = 2
        ──────────────────┬─────────────────── log
             deleted      │      kept

    So recovery can start from each kept snapshot. An older snapshot stays only while a restore mark
    in the rest of the log names it, or as the base of the history: the state before its first
    event.
    """

    def __init__(
        self, store: Store, loader: SnapshotLoader, keep: int, history: PastEvents | None = None
    ) -> None:
        self._store = store
        self._loader = loader
        self._keep = keep
        self._history = history

    def prune(self, restores: list[tuple[int, int]], is_full: bool) -> None:
        """Delete snapshots and trim the log; if `is_full`, keep only one snapshot. Blocks. Raises
        StoreError.

        Events are moved to the history first. If the log itself is the history, amended events stay
        in it until a rebuild has learned them, and all events stay while a rebuild runs. `restores`
        has the number of each restore mark and of the snapshot that it names.
        """
        damaged = self._loader.damaged
        present = [info.seq for info in self._store.snapshots()]
        usable = [seq for seq in present if seq not in damaged or seq == present[0]]
        kept = usable[: 1 if is_full else self._keep]
        oldest = kept[-1]
        base = None
        if self._history is not None and self._history.packs:
            oldest = self._history.pack_behind(present[0], oldest, is_full)
            base = min(self._history.bases(usable), default=None)
        elif self._history is not None and not is_full:
            base = self._history.base_of_waiting(usable)
            held = 0 if self._history.is_held else oldest
            oldest = min(oldest, held, oldest if base is None else base)
        named = {snapshot_seq for mark_seq, snapshot_seq in restores if mark_seq > oldest}
        for seq in present:
            if seq not in kept and seq not in named and seq != base:
                self._store.delete_snapshot(seq)
        damaged.clear()
        self._store.trim(oldest)

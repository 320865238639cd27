from typing import Self, final

import numpy as np
from numpy.typing import NDArray

REMEMBERED: int

@final
class DedupWindow:
    """The ids of the last events with an id, to recognise retries.

    Threads: one at a time. `dump` and `load` release the GIL.
    """

    def __new__(cls, capacity: int = ...) -> Self: ...
    def __len__(self) -> int: ...
    def find(self, event_id: str) -> tuple[int, int] | None:
        """Return (seq, fingerprint) of the event with this id, or None if it is not remembered."""

    def add(self, event_id: str, seq: int, fingerprint: int) -> None:
        """Remember a new id; a full window drops the oldest id."""

    def dump(self) -> NDArray[np.uint64]:
        """Return rows of (id hash high, low, fingerprint, seq), oldest first."""

    def copy(self) -> DedupWindow:
        """Return another window with the same ids, of the default capacity."""

    @classmethod
    def load(cls, rows: NDArray[np.uint64], capacity: int = ...) -> DedupWindow:
        """Return the dumped window; raise ValueError for other rows."""

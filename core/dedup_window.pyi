from typing import Self, final

import numpy as np
from numpy.typing import NDArray

REMEMBERED: int

@final
class DedupWindow:
    """The last event ids with seq and fingerprint of their events, to recognise retries.

    `capacity` is the number of ids, by default REMEMBERED; ValueError unless it is 1 to 2^32 - 2.
    Threads: one at a time. `dump` and `load` release the GIL.
    """

    def __new__(cls, capacity: int = ...) -> Self: ...
    def __len__(self) -> int: ...
    def find(self, event_id: str) -> tuple[int, int] | None:
        """Return (seq, fingerprint) of the event with this id; None if it is not remembered."""

    def add(self, event_id: str, seq: int, fingerprint: int) -> None:
        """Remember a new id; a full window drops the oldest id."""

    def dump(self) -> NDArray[np.uint64]:
        """Return an array (n, 4) of rows (id hash high, low, fingerprint, seq), oldest first."""

    def copy(self) -> DedupWindow:
        """Return a copy with the default capacity."""

    @classmethod
    def load(cls, rows: NDArray[np.uint64], capacity: int = ...) -> DedupWindow:
        """Return the dumped window; raise ValueError for rows that `dump` does not return."""

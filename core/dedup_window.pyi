from typing import Self, final

import numpy as np
from numpy.typing import NDArray

REMEMBERED: int

@final
class DedupWindow:
    """The ids of the last events that carried one, by which a retry is recognised.

    Threads: one at a time. The calls on all of it, dump and load, release the GIL.
    """

    def __new__(cls, capacity: int = ...) -> Self: ...
    def __len__(self) -> int: ...
    def find(self, event_id: str) -> tuple[int, int] | None:
        """(seq, fingerprint) of the event that had this id, while it is remembered."""

    def add(self, event_id: str, seq: int, fingerprint: int) -> None:
        """Remember an id that is not remembered; the oldest goes when there is no room."""

    def dump(self) -> NDArray[np.uint64]:
        """Rows of (id hash high, low, fingerprint, seq), oldest first."""

    @classmethod
    def load(cls, rows: NDArray[np.uint64], capacity: int = ...) -> DedupWindow:
        """What was dumped; ValueError when the rows are not such rows."""

"""The events that restores have undone."""

from bisect import bisect_left
from collections.abc import Sequence


class Undone:
    """The numbers of the events that the restores of a state have undone."""

    def __init__(self, restores: Sequence[tuple[int, int]]) -> None:
        """`restores` has the number of each restore mark of the state, and of its snapshot."""
        ranges: list[tuple[int, int]] = []  # (snapshot, mark), newest first, disjoint
        for mark, source in sorted(restores, reverse=True):
            if not ranges or mark <= ranges[-1][0]:  # otherwise the restore itself was undone
                ranges.append((source, mark))
        ranges.reverse()
        self.ranges = [range(source + 1, mark) for source, mark in ranges]
        self._sources = [source for source, _ in ranges]
        self._marks = [mark for _, mark in ranges]

    def __contains__(self, seq: int) -> bool:
        """Return whether the event is between a snapshot and a mark that restored it."""
        at = bisect_left(self._sources, seq) - 1
        return at >= 0 and seq < self._marks[at]

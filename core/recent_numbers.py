"""Small whole numbers, one for each example: their total, and the last 10,000."""

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from manyclass.core.sections import LARGEST_COUNT, Sections, need, runs

LONGEST_WINDOW = 10_000  # examples


class RecentNumbers:
    """Totals over all examples, and the numbers of the last 10,000. Part of the state."""

    LARGEST: ClassVar[int]  # an example's number, at most 255
    TOTALS: ClassVar[str]  # name of the section with the totals
    NUMBERS: ClassVar[str]  # name of the section with the last numbers

    def __init__(self) -> None:
        self.examples = 0
        self.total = 0
        self._last = np.zeros(LONGEST_WINDOW, np.uint8)

    def add(self, number: int) -> None:
        """Count an example."""
        self._last[self.examples % LONGEST_WINDOW] = number
        self.examples += 1
        self.total += number

    def mean(self, window: int) -> float | None:
        """Return the mean of the last `window` examples, at most 10,000; None without examples."""
        size = min(window, self.examples, LONGEST_WINDOW)
        if size == 0:
            return None
        last = self._last[np.arange(self.examples - size, self.examples) % LONGEST_WINDOW]
        return float(last.sum()) / size

    @classmethod
    def sections(cls) -> dict[str, str]:
        """Return the type of each section of a snapshot by its name."""
        return {cls.TOTALS: "<u8", cls.NUMBERS: "u1"}

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the sections of a snapshot; empty without examples."""
        if self.examples == 0:
            return {}
        return {
            self.TOTALS: np.array([self.examples, self.total], "<u8"),
            self.NUMBERS: self._last[: min(self.examples, LONGEST_WINDOW)].copy(),
        }

    @classmethod
    def load(cls, sections: Sections) -> Self:
        """Return the numbers of a snapshot's sections; SnapshotError if these are inconsistent."""
        found = cls()
        if not cls.sections().keys() & sections.keys():
            return found
        arrays = runs(sections, cls.sections())
        totals: list[int] = arrays[cls.TOTALS].tolist()
        last = arrays[cls.NUMBERS]
        need(len(totals) == 2, cls.TOTALS, "it is not two totals")
        examples, total = totals
        need(0 < examples <= LARGEST_COUNT, cls.TOTALS, "there can be no such count")
        need(total <= examples * cls.LARGEST, cls.TOTALS, "no examples have so large a total")
        need(len(last) == min(examples, LONGEST_WINDOW), cls.NUMBERS, "examples are missing")
        need(int(last.max()) <= cls.LARGEST, cls.NUMBERS, "no example has so large a number")
        found.examples, found.total = examples, total
        found._last[: len(last)] = last
        return found

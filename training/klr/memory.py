"""The memory of a fit, known before it starts."""

from dataclasses import dataclass, replace
from typing import Self

from manyclass.training.klr.kernels import CLASSES_AT_ONCE
from manyclass.training.klr.newton import BUFFERS

NUMBER = 4  # bytes of a float32
DEFAULT_MOST = 8 * 2**30
PER_VALUE = 72  # bytes of a value while the sparse arrays are sorted
PER_ROW = 400  # of a row of values, weights, losses and other numbers of float64
OVERHEAD = 64 * 2**20


class TooLarge(ValueError):
    """A fit would need more memory than it may take; nothing was computed."""


@dataclass(frozen=True)
class Size:
    """The size of a fit."""

    rows: int
    classes: int
    nodes: int
    features: int
    values: int  # non-zero
    folds: int
    threads: int = 1

    @property
    def bytes(self) -> int:
        """Return the most bytes that the arrays take at once, above those of the rows read."""
        scores = self.rows * self.classes * NUMBER
        buffers = BUFFERS + 2 + self.folds  # two are the criterion's, one is for each fold's alpha
        sparse = self.values * PER_VALUE + self.features * 2 * 8
        blocks = 2 * self.rows * min(self.classes, CLASSES_AT_ONCE) * NUMBER
        scratch = self.threads * (blocks + 32 * (self.nodes + self.classes))
        return buffers * scores + sparse + scratch + self.rows * PER_ROW + OVERHEAD

    def after_search(self, rows: int) -> Self:
        """Return the size of a fit whose search takes only so many of the rows.

        It is that of the search or that of the last fit, of all rows with one alpha, whichever is
        the larger; the values of the searched rows count in both.
        """
        part = self.values * rows // self.rows
        values = self.values + part
        search = replace(self, rows=rows, values=values)
        return max(search, replace(self, values=values, folds=1), key=lambda each: each.bytes)

    def check(self, most: int) -> None:
        """Raise TooLarge, with the ways out, if the fit needs more bytes than `most`."""
        if self.bytes > most:
            raise TooLarge(
                f"{self.rows:,} rows with {self.classes:,} classes take about"
                f" {self.bytes / 2**30:.1f} GiB, and --max-bytes allows {most / 2**30:.1f} GiB:"
                " give fewer rows, search with a part of them (--search-rows, if it is the search"
                " that is too large), leave out rare classes with --classes-at-least, or fit one"
                " part of the taxonomy with --task"
            )

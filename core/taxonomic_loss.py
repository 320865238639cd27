"""Progressive taxonomic loss: how far the class ranked first is from the true class."""

import numpy as np
from numpy.typing import NDArray

from manyclass.core.sections import LARGEST_COUNT, Sections, need, runs
from manyclass.core.taxonomy import LONGEST_PATH

LONGEST_WINDOW = 10_000  # examples
MOST_EDGES = 2 * LONGEST_PATH

SECTIONS = {"taxonomic_totals": "<u8", "taxonomic_edges": "u1"}


class TaxonomicLoss:
    """Half the edges from the class ranked first to the nearest true class: 1 between siblings.

    Totals over the examples since there was a taxonomy, and the last 10,000. Part of the state.
    """

    def __init__(self) -> None:
        self.examples = 0
        self.edges = 0
        self._last = np.zeros(LONGEST_WINDOW, np.uint8)

    def add(self, edges: int) -> None:
        """Count an example, by the edges between the two classes."""
        self._last[self.examples % LONGEST_WINDOW] = edges
        self.examples += 1
        self.edges += edges

    def mean(self, window: int) -> float | None:
        """Return the mean of the last examples, at most `window` and 10,000; None without any."""
        size = min(window, self.examples, LONGEST_WINDOW)
        if size == 0:
            return None
        last = self._last[np.arange(self.examples - size, self.examples) % LONGEST_WINDOW]
        return float(last.sum()) / 2 / size

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the sections of a snapshot, none without examples."""
        if self.examples == 0:
            return {}
        return {
            "taxonomic_totals": np.array([self.examples, self.edges], "<u8"),
            "taxonomic_edges": self._last[: min(self.examples, LONGEST_WINDOW)].copy(),
        }

    @classmethod
    def load(cls, sections: Sections) -> "TaxonomicLoss":
        """Restore from the sections of a snapshot; SnapshotError if they are inconsistent."""
        loss = cls()
        if not SECTIONS.keys() & sections.keys():
            return loss
        arrays = runs(sections, SECTIONS)
        totals: list[int] = arrays["taxonomic_totals"].tolist()
        last = arrays["taxonomic_edges"]
        need(len(totals) == 2, "taxonomic_totals", "it is not two totals")
        examples, edges = totals
        need(0 < examples <= LARGEST_COUNT, "taxonomic_totals", "there can be no such count")
        need(edges <= examples * MOST_EDGES, "taxonomic_totals", "paths are not as long")
        need(len(last) == min(examples, LONGEST_WINDOW), "taxonomic_edges", "examples are missing")
        need(int(last.max()) <= MOST_EDGES, "taxonomic_edges", "paths are not as long")
        loss.examples, loss.edges = examples, edges
        loss._last[: len(last)] = last
        return loss

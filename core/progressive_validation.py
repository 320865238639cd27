"""Progressive validation: each example is ranked before it is learned, and its rank counted."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from manyclass.core.sections import LARGEST_COUNT, Sections, need, runs
from manyclass.core.taxonomic_loss import ParentAccuracy, TaxonomicLoss

HITS_AT = (1, 5, 10)
DEEPEST = max(HITS_AT)  # largest k of a recall at k
WINDOWS = (100, 1_000, 10_000)
_LONGEST = max(WINDOWS)
_NOT_RETRIEVED = 0

SECTIONS = {
    "progress_counts": "<u8",
    "progress_reciprocal_ranks": "<f8",
    "progress_ranks": "<u4",
}


class ProgressiveValidation:
    """Totals over all examples, and the ranks of the last 10,000.

    It is part of the state and depends on the events only.
    """

    def __init__(self) -> None:
        self.examples = 0
        self.hits = dict.fromkeys(HITS_AT, 0)
        self.reciprocal_rank_sum = 0.0
        self.taxonomic_loss = TaxonomicLoss()
        self.parent_accuracy = ParentAccuracy()
        self._ranks = np.zeros(_LONGEST, np.uint32)

    def add(self, rank: int) -> None:
        """Count the rank of an example's best true class; 0 means not retrieved."""
        self._ranks[self.examples % _LONGEST] = rank
        self.examples += 1
        if rank == _NOT_RETRIEVED:
            return
        self.reciprocal_rank_sum += 1 / rank
        for k in HITS_AT:
            if rank <= k:
                self.hits[k] += 1

    def add_each(self, ranks: Sequence[int]) -> None:
        """Count the ranks of a few examples in order."""
        total, at_rank = self.reciprocal_rank_sum, [0] * (DEEPEST + 1)
        for place, rank in enumerate(ranks, self.examples):
            self._ranks[place % _LONGEST] = rank
            if rank == _NOT_RETRIEVED:
                continue
            total += 1 / rank
            if rank <= DEEPEST:
                at_rank[rank] += 1
        self.examples += len(ranks)
        self.reciprocal_rank_sum = total
        for k in HITS_AT:
            self.hits[k] += sum(at_rank[: k + 1])

    def add_all(self, ranks: NDArray[np.int32]) -> None:
        """Count the ranks of examples in order, of 10,000 at most."""
        places = np.arange(self.examples, self.examples + len(ranks)) % _LONGEST
        self._ranks[places] = ranks
        self.examples += len(ranks)
        found = ranks[ranks != _NOT_RETRIEVED]
        sums = np.add.accumulate(
            [self.reciprocal_rank_sum, *(1 / found)]
        )  # one by one, as by `add`
        self.reciprocal_rank_sum = float(sums[-1])
        for k in HITS_AT:
            self.hits[k] += int((found <= k).sum())

    def windows(self) -> dict[int, dict[str, float]]:
        """Return, by window size, the number of examples, r1, r5, r10 and mrr (0 if empty)."""
        return {size: self._window(size) for size in WINDOWS}

    def _window(self, size: int) -> dict[str, float]:
        size = min(size, self.examples)
        last = self._ranks[np.arange(self.examples - size, self.examples) % _LONGEST]
        found = last[last != _NOT_RETRIEVED]
        shares = {f"r{k}": float((found <= k).sum() / max(size, 1)) for k in HITS_AT}
        return {"examples": size, **shares, "mrr": float((1 / found).sum() / max(size, 1))}

    def dump(self) -> dict[str, NDArray[np.generic]]:
        """Return the sections of a snapshot."""
        counts = [self.examples, *(self.hits[k] for k in HITS_AT)]
        return {
            "progress_counts": np.array(counts, "<u8"),
            "progress_reciprocal_ranks": np.array([self.reciprocal_rank_sum], "<f8"),
            "progress_ranks": self._ranks[: min(self.examples, _LONGEST)].astype("<u4"),
            **self.taxonomic_loss.dump(),
            **self.parent_accuracy.dump(),
        }

    @classmethod
    def load(cls, sections: Sections) -> "ProgressiveValidation":
        """Restore from the sections of a snapshot; SnapshotError if they are inconsistent."""
        arrays = runs(sections, SECTIONS)
        counts: list[int] = arrays["progress_counts"].tolist()
        sums: list[float] = arrays["progress_reciprocal_ranks"].tolist()
        need(len(counts) == 1 + len(HITS_AT), "progress_counts", "it has more or fewer counts")
        need(len(sums) == 1, "progress_reciprocal_ranks", "it is not one sum")
        examples, *hits = counts
        in_order = sorted([*hits, examples]) == [*hits, examples]
        need(in_order, "progress_counts", "a deeper place has fewer hits, or more than examples")
        need(examples <= LARGEST_COUNT, "progress_counts", "no count can be so large")
        possible = 0 <= sums[0] <= examples
        need(possible, "progress_reciprocal_ranks", "the examples cannot add up to it")
        ranks = arrays["progress_ranks"]
        need(len(ranks) == min(examples, _LONGEST), "progress_ranks", "examples are missing")
        progress = cls()
        progress.examples = examples
        progress.hits = dict(zip(HITS_AT, hits, strict=True))
        progress.reciprocal_rank_sum = sums[0]
        progress._ranks[: len(ranks)] = ranks
        progress.taxonomic_loss = TaxonomicLoss.load(sections)
        progress.parent_accuracy = ParentAccuracy.load(sections)
        return progress

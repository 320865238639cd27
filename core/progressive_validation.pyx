"""Progressive validation: the rank of each example before it is learned is counted."""

from cython.operator cimport dereference as deref
from libc.stdint cimport int32_t, uint32_t
from libcpp.memory cimport make_shared

cimport cython

import numpy as np

from manyclass.core import sections as limits
from manyclass.core.sections import need, runs
from manyclass.core.taxonomic_loss import ParentAccuracy, TaxonomicLoss

HITS_AT = tuple(DEPTH[at] for at in range(DEPTHS))
DEEPEST = max(HITS_AT)  # the largest k
WINDOWS = (100, 1_000, KEPT)

cdef dict SECTIONS = {
    "progress_counts": "<u8",
    "progress_reciprocal_ranks": "<f8",
    "progress_ranks": "<u4",
}


@cython.final
cdef class ProgressiveValidation:
    """The accuracy of ranking each example before it is learned: totals, and the last 10,000 ranks.

    It is part of the state and depends on the events only. Threads: one at a time.
    """

    def __cinit__(self):
        self._counts = make_shared[RankCounts]()
        self.taxonomic_loss = TaxonomicLoss()
        self.parent_accuracy = ParentAccuracy()

    @property
    def examples(self):
        return deref(self._counts).examples

    @property
    def hits(self):
        return {k: deref(self._counts).hits[at] for at, k in enumerate(HITS_AT)}

    @property
    def reciprocal_rank_sum(self):
        return deref(self._counts).reciprocal_ranks

    cdef object _ranks(self):
        """Return a view of the last ranks, valid while self lives; example n is at n % KEPT."""
        return np.asarray(<uint32_t[:KEPT]>deref(self._counts).ranks)

    def add(self, uint32_t rank):
        deref(self._counts).add(rank)

    def add_all(self, const int32_t[:] ranks not None):
        cdef Py_ssize_t at
        for at in range(ranks.shape[0]):
            deref(self._counts).add(<uint32_t>ranks[at])

    def windows(self):
        return {size: self._window(size) for size in WINDOWS}

    def _window(self, size):
        size = min(size, self.examples)
        last = self._ranks()[np.arange(self.examples - size, self.examples) % KEPT]
        found = last[last != 0]
        shares = {f"r{k}": float((found <= k).sum() / max(size, 1)) for k in HITS_AT}
        return {"examples": size, **shares, "mrr": float((1 / found).sum() / max(size, 1))}

    def dump(self):
        counts = [self.examples, *self.hits.values()]
        return {
            "progress_counts": np.array(counts, "<u8"),
            "progress_reciprocal_ranks": np.array([self.reciprocal_rank_sum], "<f8"),
            "progress_ranks": self._ranks()[: min(self.examples, KEPT)].astype("<u4"),
            **self.taxonomic_loss.dump(),
            **self.parent_accuracy.dump(),
        }

    @classmethod
    def load(cls, sections):
        cdef ProgressiveValidation progress = ProgressiveValidation()
        arrays = runs(sections, SECTIONS)
        counts = arrays["progress_counts"].tolist()
        sums = arrays["progress_reciprocal_ranks"].tolist()
        need(len(counts) == 1 + len(HITS_AT), "progress_counts", "it has more or fewer counts")
        need(len(sums) == 1, "progress_reciprocal_ranks", "it is not one sum")
        examples, *hits = counts
        in_order = sorted([*hits, examples]) == [*hits, examples]
        need(in_order, "progress_counts", "a larger k has fewer hits, or more hits than examples")
        need(examples <= limits.LARGEST_COUNT, "progress_counts", "no count can be so large")
        possible = 0 <= sums[0] <= examples
        need(possible, "progress_reciprocal_ranks", "the examples cannot add up to it")
        ranks = arrays["progress_ranks"]
        need(len(ranks) == min(examples, KEPT), "progress_ranks", "examples are missing")
        deref(progress._counts).examples = examples
        for at, count in enumerate(hits):
            deref(progress._counts).hits[at] = count
        deref(progress._counts).reciprocal_ranks = sums[0]
        progress._ranks()[: len(ranks)] = ranks
        progress.taxonomic_loss = TaxonomicLoss.load(sections)
        progress.parent_accuracy = ParentAccuracy.load(sections)
        return progress

"""Measures of rankings, of the papers and of the multi-label field.

A ranking is an array (n, k) of class columns, best first, -1 where there are fewer than k; no class
stands in a row twice. A class beyond k counts as not retrieved. All measures but taxo-loss and
harmonic rank lie in 0 to 1.
"""

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.accuracy import best_ranks, hits_of
from manyclass.training.rows import Rows

RECALL_AT = (1, 5, 10)
PRECISION_AT = (1, 3, 5)
PROPENSITY_A, PROPENSITY_B = 0.55, 1.5  # of Jain et al., 2016, for sets not named there

Ranking = NDArray[np.int32]


@dataclass(frozen=True)
class Truth:
    """The true classes of the ranked rows, and the training rows of each class."""

    classes: list[str]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    trained: NDArray[np.int64]
    training_rows: int

    @classmethod
    def of(cls, tested: Rows, training: Rows) -> "Truth":
        """Return the truth about `tested` rows; both have the same columns."""
        return cls(
            tested.classes,
            tested.class_indptr,
            tested.class_indices,
            np.bincount(training.class_indices, minlength=len(training.classes)),
            len(training),
        )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def hits(self, ranking: Ranking) -> NDArray[np.bool_]:
        """Return (n, k), bool: whether the class at this place is true."""
        return hits_of(ranking, self.indptr, self.indices)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return the number of true classes of each row."""
        return np.diff(self.indptr)

    def of_row(self, row: int) -> NDArray[np.int32]:
        """Return the true classes of one row."""
        return self.indices[self.indptr[row] : self.indptr[row + 1]]


def measures(ranking: Ranking, truth: Truth, taxonomy: Taxonomy | None = None) -> dict[str, float]:
    """Return every measure by its name; the taxonomic ones only with a taxonomy.

    R1, R5, R10, MRR, HR: Madani et al. 2009, section 3.3. P1, P3, P5: share of true classes among
    the first places. PSP1, PSP3, PSP5: propensity-scored precision (Jain et al., 2016).
    """
    hits = truth.hits(ranking)
    ranks = best_ranks(hits)
    found = by_ranks(ranks)
    found |= {f"P{k}": float(hits[:, :k].sum() / (k * max(len(truth), 1))) for k in PRECISION_AT}
    found |= propensity_scored(ranking, hits, truth)
    found |= f1_scores(ranking, hits, truth)
    if taxonomy is not None:
        found |= taxonomic(ranking, truth, taxonomy)
    return found


def by_ranks(ranks: NDArray[np.int32]) -> dict[str, float]:
    """Return R1, R5, R10, MRR and HR of ranks k_x, 0 for not retrieved.

    HR = 1 / MRR, infinite when nothing was retrieved.
    """
    rows = max(len(ranks), 1)
    found = ranks[ranks > 0]
    recalls = {f"R{k}": float((found <= k).sum() / rows) for k in RECALL_AT}
    mean_reciprocal_rank = float((1 / found).sum() / rows)
    harmonic_rank = 1 / mean_reciprocal_rank if mean_reciprocal_rank else float("inf")
    return {**recalls, "MRR": mean_reciprocal_rank, "HR": harmonic_rank}


def inverse_propensities(truth: Truth) -> NDArray[np.float64]:
    """Return 1 + C (n_c + B)^-A of each class, C = (log n - 1) (B + 1)^A (Jain et al., 2016)."""
    scale = (np.log(max(truth.training_rows, 3)) - 1) * (PROPENSITY_B + 1) ** PROPENSITY_A
    weights: NDArray[np.float64] = 1 + scale * (truth.trained + PROPENSITY_B) ** -PROPENSITY_A
    return weights


def propensity_scored(ranking: Ranking, hits: NDArray[np.bool_], truth: Truth) -> dict[str, float]:
    """Return PSP1, PSP3, PSP5: the weight of the hits as a share of the greatest possible."""
    worth = inverse_propensities(truth)
    gained = np.where(hits, worth[ranking], 0.0)
    row_of = np.repeat(np.arange(len(truth)), truth.counts)
    heaviest_first = np.lexsort((-worth[truth.indices], row_of))
    place = np.arange(len(row_of)) - np.repeat(truth.indptr[:-1], truth.counts)
    ideal = worth[truth.indices][heaviest_first]
    return {
        f"PSP{k}": float(gained[:, :k].sum() / max(ideal[place < k].sum(), 1e-300))
        for k in PRECISION_AT
    }


def f1_scores(ranking: Ranking, hits: NDArray[np.bool_], truth: Truth) -> dict[str, float]:
    """Return F1 of the first place as the one predicted class.

    micro F1: over all decisions. macro F1: the mean over the classes that are true or predicted in
    some row.
    """
    width = len(truth.classes)
    first = ranking[:, 0]
    predicted = np.bincount(first[first >= 0], minlength=width)
    right = np.bincount(first[hits[:, 0]], minlength=width)
    true = np.bincount(truth.indices, minlength=width)
    decisions = predicted + true
    seen = decisions > 0
    each = 2 * right[seen] / decisions[seen]
    return {
        "micro F1": float(2 * right.sum() / max(decisions.sum(), 1)),
        "macro F1": float(each.mean()) if len(each) else 0.0,
    }


def taxonomic(ranking: Ranking, truth: Truth, taxonomy: Taxonomy) -> dict[str, float]:
    """Return taxo-loss and parent accuracy of the first place against the nearest true class.

    taxo-loss: half the edges of the path between the two (Seeger, 2006), the mean over rows; the
    path from the root where nothing was retrieved. parent: the share of rows where the two are
    equal or have a common parent.
    """
    names = truth.classes
    losses, parents = 0.0, 0
    for row, first in enumerate(ranking[:, 0].tolist()):
        predicted = names[first] if first >= 0 else None
        true = [names[column] for column in truth.of_row(row).tolist()]
        losses += min((taxonomy.distance(predicted, each) for each in true), default=0.0) / 2
        parents += predicted is not None and any(
            predicted == each or taxonomy.siblings(predicted, each) for each in true
        )
    rows = max(len(truth), 1)
    return {"taxo-loss": losses / rows, "parent": parents / rows}


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided p-value of the binomial sign test; ties are left out before.

    The paired comparison of Madani et al. 2009, section 6.1.
    """
    trials = wins + losses
    tail = sum(comb(trials, count) for count in range(max(wins, losses), trials + 1))
    return min(1.0, tail / 2 ** (trials - 1)) if trials else 1.0

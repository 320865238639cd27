"""Measures of rankings, from the papers and from multi-label classification.

A ranking is an array (n, k) of class columns, best first, padded with -1; the classes of a row are
distinct. A class beyond k counts as not retrieved. All measures but taxo-loss and harmonic rank are
between 0 and 1.
"""

from math import comb

import numpy as np
from numpy.typing import NDArray

from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.accuracy import best_ranks, hits_of
from manyclass.training.rows import Rows

RECALL_AT = (1, 5, 10)
PRECISION_AT = (1, 3, 5)
PROPENSITY_A, PROPENSITY_B = 0.55, 1.5  # defaults of Jain et al., 2016

Ranking = NDArray[np.int32]


def measures(
    ranking: Ranking, tested: Rows, training: Rows, taxonomy: Taxonomy | None = None
) -> dict[str, float]:
    """Return every measure of ranked rows by its name; taxonomic measures only with a taxonomy.

    Tested and training rows have the same columns.
    R1, R5, R10, MRR, HR: Madani et al. 2009, section 3.3. P1, P3, P5: share of true classes among
    the first ranks. nDCG1, nDCG3, nDCG5: see `discounted_gains`. PSP1, PSP3, PSP5:
    propensity-scored precision (Jain et al., 2016).
    """
    hits = hits_in(ranking, tested)
    ranks = best_ranks(hits)
    found = by_ranks(ranks)
    found |= {f"P{k}": float(hits[:, :k].sum() / (k * max(len(tested), 1))) for k in PRECISION_AT}
    found |= discounted_gains(hits, tested)
    found |= propensity_scored(ranking, hits, tested, training)
    found |= f1_scores(ranking, hits, tested)
    if taxonomy is not None:
        found |= taxonomic(ranking, tested, taxonomy)
    return found


def hits_in(ranking: Ranking, rows: Rows) -> NDArray[np.bool_]:
    """Return (n, k), bool: whether the class at this rank is a true class of the row."""
    return hits_of(ranking, rows.class_indptr, rows.class_indices)


def by_ranks(ranks: NDArray[np.int32]) -> dict[str, float]:
    """Return R1, R5, R10, MRR and HR of ranks k_x; a rank of 0 means not retrieved.

    HR = 1 / MRR, infinite if nothing was retrieved.
    """
    rows = max(len(ranks), 1)
    found = ranks[ranks > 0]
    recalls = {f"R{k}": float((found <= k).sum() / rows) for k in RECALL_AT}
    mean_reciprocal_rank = float((1 / found).sum() / rows)
    harmonic_rank = 1 / mean_reciprocal_rank if mean_reciprocal_rank else float("inf")
    return {**recalls, "MRR": mean_reciprocal_rank, "HR": harmonic_rank}


def discounted_gains(hits: NDArray[np.bool_], tested: Rows) -> dict[str, float]:
    """Return the means over rows of nDCG1, nDCG3, nDCG5 (Järvelin and Kekäläinen, 2002).

    A true class at rank r gains 1 / log2(r + 1). The gain of the first k ranks is divided by that
    of a ranking that begins with all true classes; 0 for a row without a true class.
    """
    gains = 1 / np.log2(np.arange(2, max(PRECISION_AT) + 2))
    ideal = np.cumsum(gains)
    counts = np.diff(tested.class_indptr)
    found = {}
    for k in PRECISION_AT:
        first = hits[:, :k]
        best = ideal[np.clip(counts, 1, k) - 1]
        found[f"nDCG{k}"] = float((first @ gains[: first.shape[1]] / best).sum())
    return {name: total / max(len(tested), 1) for name, total in found.items()}


def inverse_propensities(training: Rows) -> NDArray[np.float64]:
    """Return 1 + C (n_c + B)^-A of each class, C = (log n - 1) (B + 1)^A (Jain et al., 2016)."""
    counts = np.bincount(training.class_indices, minlength=len(training.classes))
    scale = (np.log(max(len(training), 3)) - 1) * (PROPENSITY_B + 1) ** PROPENSITY_A
    weights: NDArray[np.float64] = 1 + scale * (counts + PROPENSITY_B) ** -PROPENSITY_A
    return weights


def propensity_scored(
    ranking: Ranking, hits: NDArray[np.bool_], tested: Rows, training: Rows
) -> dict[str, float]:
    """Return PSP1, PSP3, PSP5: the weight of the hits as a share of the largest possible."""
    worth = inverse_propensities(training)
    gained = np.where(hits, worth[ranking], 0.0)
    counts = np.diff(tested.class_indptr)
    row_of = np.repeat(np.arange(len(tested)), counts)
    ideal = worth[tested.class_indices]
    heaviest_first = np.lexsort((-ideal, row_of))
    rank = np.arange(len(row_of)) - np.repeat(tested.class_indptr[:-1], counts)
    ideal = ideal[heaviest_first]
    return {
        f"PSP{k}": float(gained[:, :k].sum() / max(ideal[rank < k].sum(), 1e-300))
        for k in PRECISION_AT
    }


def f1_scores(ranking: Ranking, hits: NDArray[np.bool_], tested: Rows) -> dict[str, float]:
    """Return F1, with the class ranked first as the only predicted class.

    micro F1: over all decisions. macro F1: the mean over classes that are true or predicted in any
    row.
    """
    predicted, right, true = counts_by_class(ranking[:, 0], hits[:, 0], tested)
    decisions = predicted + true
    seen = decisions > 0
    each = 2 * right[seen] / decisions[seen]
    return {
        "micro F1": float(2 * right.sum() / max(decisions.sum(), 1)),
        "macro F1": float(each.mean()) if len(each) else 0.0,
    }


def counts_by_class(
    first: NDArray[np.int32], is_right: NDArray[np.bool_], rows: Rows
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return three counts (classes,): rows with the class first, right ones of these, true rows.

    `first` has the column of the first class of each row, or -1.
    """
    width = len(rows.classes)
    return (
        np.bincount(first[first >= 0], minlength=width),
        np.bincount(first[is_right], minlength=width),
        np.bincount(rows.class_indices, minlength=width),
    )


def taxonomic(ranking: Ranking, tested: Rows, taxonomy: Taxonomy) -> dict[str, float]:
    """Return taxo-loss and parent accuracy of the first class against the nearest true class.

    taxo-loss: half the edges of the path between the two (Seeger, 2006), averaged over rows; the
    path from the root if nothing was retrieved. parent: the share of rows where the two are equal
    or have a common parent.
    """
    names = tested.classes
    losses, parents = 0.0, 0
    for first, columns in zip(ranking[:, 0].tolist(), tested.true_columns(), strict=True):
        predicted = names[first] if first >= 0 else None
        true = [names[column] for column in columns]
        losses += min((taxonomy.distance(predicted, each) for each in true), default=0.0) / 2
        parents += predicted is not None and any(
            predicted == each or taxonomy.siblings(predicted, each) for each in true
        )
    rows = max(len(tested), 1)
    return {"taxo-loss": losses / rows, "parent": parents / rows}


def decoded_measures(ranking: Ranking, tested: Rows, taxonomy: Taxonomy) -> dict[str, float]:
    """Return taxo-loss and R1 of rankings by expected taxonomic loss, as "... decoded"."""
    recall = float(hits_in(ranking[:, :1], tested).sum() / max(len(tested), 1))
    loss = taxonomic(ranking, tested, taxonomy)["taxo-loss"]
    return {"taxo-loss decoded": loss, "R1 decoded": recall}


def sign_test(wins: int, losses: int) -> float:
    """Return the two-sided p-value of the binomial sign test, without ties.

    The paired comparison of Madani et al. 2009, section 6.1.
    """
    trials = wins + losses
    tail = sum(comb(trials, count) for count in range(max(wins, losses), trials + 1))
    return min(1.0, tail / 2 ** (trials - 1)) if trials else 1.0

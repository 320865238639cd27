import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from studies.peers.ranking import best, best_pairs

FEW_VALUES = st.sampled_from([-np.inf, -1.0, 0.0, 1.0, 2.0])


def plainly(scores, k):
    """Return the k best columns per row; the plain reference implementation."""
    ranked = []
    for row in scores.tolist():
        order = sorted(range(len(row)), key=lambda column: (-row[column], column))
        found = [column for column in order if row[column] != -np.inf][:k]
        ranked.append(found + [-1] * (k - len(found)))
    return ranked


@given(
    arrays(float, st.tuples(st.integers(0, 4), st.integers(0, 7)), elements=FEW_VALUES),
    st.integers(1, 9),
)
def test_the_best_columns_come_first_and_ties_by_column(scores, k):
    ranked = best(scores, k)

    assert ranked.dtype == np.int32
    assert ranked.tolist() == plainly(scores, k)


@given(
    arrays(float, st.tuples(st.integers(1, 4), st.integers(0, 7)), elements=FEW_VALUES),
    st.integers(1, 9),
)
def test_pairs_are_ranked_as_if_the_others_scored_minus_infinity(scores, k):
    rows, columns = np.nonzero(scores > -np.inf)
    order = np.random.default_rng(0).permutation(len(rows))
    rows, columns = rows[order], columns[order]

    ranked = best_pairs(rows, columns, scores[rows, columns], len(scores), k)

    assert ranked.dtype == np.int32
    assert ranked.tolist() == plainly(scores, k)

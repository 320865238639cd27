import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.evaluation.measures import (
    by_ranks,
    discounted_gains,
    f1_scores,
    hits_in,
    inverse_propensities,
    measures,
    sign_test,
    taxonomic,
)
from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.rows import Rows

WIDTH = 6


def rows_of(true):
    """Return rows without features; the true classes of each are columns of 6 classes a to f."""
    none = np.zeros(len(true) + 1, np.int64)
    columns = np.array([column for row in true for column in row], np.int32)
    ends = np.cumsum([0, *map(len, true)])
    features = np.empty(0, np.int32), np.empty(0, np.float32)
    return Rows([], none, *features, list("abcdef"), ends, columns)


def trained(counts, rows=100):
    """Return so many training rows, of which the first has all classes, as often as given."""
    return rows_of([np.repeat(range(WIDTH), counts).tolist(), *[[]] * (rows - 1)])


def ranking_of(*rows):
    return np.array(rows, np.int32)


@st.composite
def ranked(draw):
    rows = draw(st.integers(1, 6))
    columns = st.permutations(range(WIDTH))
    ranking = []
    for _ in range(rows):
        known = draw(st.integers(0, 5))
        ranking.append([*draw(columns)[:known], *[-1] * (5 - known)])
    true = [draw(st.sets(st.integers(0, WIDTH - 1), min_size=1)) for _ in range(rows)]
    counts = draw(st.lists(st.integers(0, 50), min_size=WIDTH, max_size=WIDTH))
    return ranking, [sorted(each) for each in true], trained(counts)


@given(ranked())
def test_every_measure_is_what_its_definition_says_row_by_row(example):
    ranking, true, training = example
    found = measures(ranking_of(*ranking), rows_of(true), training)
    rows = len(true)

    ranks = [
        next((place for place, column in enumerate(row, 1) if column in each), None)
        for row, each in zip(ranking, true, strict=True)
    ]
    for k in (1, 5, 10):
        assert found[f"R{k}"] == pytest.approx(sum(r is not None and r <= k for r in ranks) / rows)
    mean = sum(Fraction(1, r) for r in ranks if r is not None) / rows
    assert found["MRR"] == pytest.approx(float(mean))
    assert found["HR"] == pytest.approx(float(1 / mean) if mean else math.inf)

    worth = inverse_propensities(training)
    for k in (1, 3, 5):
        right = [[c for c in row[:k] if c in each] for row, each in zip(ranking, true, strict=True)]
        assert found[f"P{k}"] == pytest.approx(sum(map(len, right)) / k / rows)
        most = [sorted((worth[c] for c in each), reverse=True)[:k] for each in true]
        gained = sum(worth[c] for row in right for c in row)
        assert found[f"PSP{k}"] == pytest.approx(gained / sum(map(sum, most)))

        gains = [
            sum(1 / math.log2(p + 1) for p, c in enumerate(row[:k], 1) if c in each)
            / sum(1 / math.log2(p + 1) for p in range(1, min(k, len(each)) + 1))
            for row, each in zip(ranking, true, strict=True)
        ]
        assert found[f"nDCG{k}"] == pytest.approx(sum(gains) / rows)

    f1 = []
    together = [0, 0]
    for c in range(WIDTH):
        hits = sum(row[0] == c and c in each for row, each in zip(ranking, true, strict=True))
        decisions = sum(row[0] == c for row in ranking) + sum(c in each for each in true)
        if decisions:
            f1.append(2 * hits / decisions)
            together = [together[0] + 2 * hits, together[1] + decisions]
    assert found["macro F1"] == pytest.approx(sum(f1) / len(f1))
    assert found["micro F1"] == pytest.approx(together[0] / together[1])


def test_a_true_class_that_is_not_ranked_has_rank_0():
    assert by_ranks(np.array([1, 2, 0, 0])) == {
        "R1": 0.25,
        "R5": 0.5,
        "R10": 0.5,
        "MRR": 0.375,
        "HR": 1 / 0.375,
    }


def test_nothing_retrieved_is_an_infinite_harmonic_rank():
    assert by_ranks(np.zeros(3, np.int32))["HR"] == math.inf


def test_discounted_gains_by_hand():
    # true at places 1 and 3 of three; at 2 of one; no true class; nothing ranked
    tested = rows_of([[0, 1, 2], [3], [], [4]])
    ranking = ranking_of([0, 5, 1, 4, 3], [5, 3, 0, 1, 2], [0, 1, 2, 3, 4], [-1] * 5)

    found = discounted_gains(hits_in(ranking, tested), tested)

    half = 0.5  # 1 / log2(4)
    second = 0.6309297535714575  # 1 / log2(3)
    best = 1 + second + half
    assert found == pytest.approx(
        {
            "nDCG1": (1 + 0) / 4,
            "nDCG3": ((1 + half) / best + second) / 4,
            "nDCG5": ((1 + half) / best + second) / 4,
        }
    )


def test_discounted_gains_of_fewer_places_than_k():
    tested = rows_of([[0, 1]])
    ranking = ranking_of([0, 5])

    found = discounted_gains(hits_in(ranking, tested), tested)

    assert found["nDCG5"] == found["nDCG3"] == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_a_class_that_training_never_had_is_the_rarest_of_all():
    worth = inverse_propensities(trained([0, 1, 10, 50, 100, 1000]))

    assert (np.diff(worth) < 0).all()
    # of 100 rows, by hand: 1 + (ln 100 - 1) 2.5^0.55 (0 + 1.5)^-0.55
    assert worth[0] == pytest.approx(1 + (math.log(100) - 1) * (2.5 / 1.5) ** 0.55)


def test_macro_f1_counts_a_rare_class_as_much_as_a_frequent_one():
    tested = rows_of([[0]] * 9 + [[1]])
    ranking = ranking_of(*[[0]] * 10)

    scores = f1_scores(ranking, hits_in(ranking, tested), tested)

    assert scores["micro F1"] == 0.9
    assert scores["macro F1"] == pytest.approx((18 / 19 + 0) / 2)


def test_taxo_loss_is_half_the_path_to_the_nearest_true_class():
    # a over b and c; d over e; f alone
    taxonomy = Taxonomy({"b": ["a"], "c": ["a"], "e": ["d"]})
    tested = rows_of([[1], [1], [1], [1, 4], [5]])
    ranking = ranking_of([1], [2], [4], [4], [-1])

    found = taxonomic(ranking, tested, taxonomy)

    assert found["taxo-loss"] == pytest.approx((0 + 1 + 2 + 0 + 0.5) / 5)
    assert found["parent"] == pytest.approx(3 / 5)


@pytest.mark.parametrize(
    ("wins", "losses", "probability"),
    [(0, 0, 1), (1, 0, 1), (5, 5, 1), (9, 1, 22 / 1024), (10, 0, 2 / 1024), (1, 9, 22 / 1024)],
)
def test_the_sign_test_is_the_share_of_results_as_one_sided(wins, losses, probability):
    assert sign_test(wins, losses) == pytest.approx(probability)

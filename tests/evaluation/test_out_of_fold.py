import numpy as np
import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation.out_of_fold import FoldError, out_of_fold
from manyclass.training.rows import Rows
from tests.evaluation.examples import separable

SVM = Options.of("svm")


def noisy(rows=120):
    """Return rows that differ, of four classes, with a feature of the class and others."""
    return Rows.of(
        ({f"sign {at % 4}": 1.0, f"noise {at % 7}": 0.5, f"row {at}": 0.25}, [f"class {at % 4}"])
        for at in range(rows)
    )


def named(rows, rankings):
    """Return the first class of each row by name, and the ranks and scores."""
    names = [rows.classes[column] if column >= 0 else None for column in rankings.first]
    return names, rankings.ranks.tolist(), rankings.scores.tolist()


def test_a_row_is_ranked_by_a_learner_that_has_not_learned_it():
    """Its class has only this row, so the learner does not know it."""
    alone = (dict.fromkeys(["one", "two"], 1.0), ["alone"])
    rows = Rows.of([*noisy(), alone])

    rankings = out_of_fold(rows, SVM, 5)

    assert rankings.ranks[-1] == 0
    assert rankings.ranks[:-1].tolist() == [1] * 120


def test_equal_rows_are_in_one_fold():
    """The label of one does not confirm that of the others."""
    copies = [({"copied": 1.0}, ["copies"])] * 6
    rows = Rows.of([*noisy(), *copies])

    assert out_of_fold(rows, SVM, 5).ranks[-6:].tolist() == [0] * 6


def test_rows_of_a_class_are_spread_over_the_folds():
    pairs = [({f"pair {at // 2}": 1.0, f"row {at}": 0.1}, [f"class {at // 2}"]) for at in range(40)]
    rows = Rows.of(pairs)

    assert out_of_fold(rows, SVM, 2).ranks.tolist() == [1] * 40


@pytest.mark.parametrize("learner", ["svm", "oplt", "ff"])
def test_the_order_of_the_rows_makes_no_difference(learner):
    rows = noisy()
    order = np.random.default_rng(1).permutation(len(rows))
    moved = Rows.of([list(rows)[row] for row in order])
    assert moved.features != rows.features

    names, ranks, scores = named(rows, out_of_fold(rows, Options.of(learner), 3))

    assert named(moved, out_of_fold(moved, Options.of(learner), 3)) == (
        [names[row] for row in order],
        [ranks[row] for row in order],
        [scores[row] for row in order],
    )


def test_the_seed_determines_the_folds():
    rows = noisy()
    found = [out_of_fold(rows, SVM, 3, seed) for seed in (0, 0, 1)]

    for arrays in (
        [each.scores.tolist() for each in found],
        [each.order.tolist() for each in found],
    ):
        assert arrays[0] == arrays[1]
        assert arrays[0] != arrays[2]


def test_the_scores_are_of_the_first_the_second_and_the_best_true_class():
    rankings = out_of_fold(noisy(), SVM, 3)
    first, second, true = rankings.scores.T

    assert (first > second).all()
    assert (rankings.ranks == 1).all()
    assert (true == first).all()


def test_a_class_that_is_not_retrieved_scores_no_more_than_the_last_one():
    rows = Rows.of([*noisy(), ({"sign 0": 1.0, "row": 1.0}, ["alone"])])
    rankings = out_of_fold(rows, SVM, 3)

    assert rankings.ranks[-1] == 0
    assert rankings.scores[-1, 2] <= 0 < rankings.scores[-1, 0]


def test_the_progress_is_counted_in_folds():
    done = []
    out_of_fold(noisy(), SVM, 3, on_progress=done.append)

    assert done == [1, 2, 3]


def test_more_folds_than_rows_leave_each_row_alone():
    rows = separable(rows=4, classes=2)

    assert out_of_fold(rows, SVM, 10).ranks.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("rows", [1, 5])
def test_rows_without_a_difference_are_refused(rows):
    with pytest.raises(FoldError, match="two different rows"):
        out_of_fold(Rows.of([({"f": 1.0}, ["c"])] * rows), SVM, 2)

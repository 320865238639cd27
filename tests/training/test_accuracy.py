import numpy as np
import pytest

from manyclass.core.columns import Columns
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.training.accuracy import (
    RANKED_AT_ONCE,
    RETRIEVED,
    Accuracy,
    best_ranks,
    hits_of,
    ranks_of,
)
from manyclass.training.rows import Rows


def test_recall_and_mean_reciprocal_rank():
    ranks = np.array([1, 2, 0, 5, 6, 1], np.int32)
    accuracy = Accuracy.of(ranks)
    assert (accuracy.rows, accuracy.r1, accuracy.r5) == (6, 2 / 6, 4 / 6)
    assert accuracy.mrr == pytest.approx((1 + 1 / 2 + 1 / 5 + 1 / 6 + 1) / 6)


def test_accuracy_over_nothing_is_0():
    assert Accuracy.of(np.array([], np.int32)) == Accuracy(0, 0.0, 0.0, 0.0)


def test_the_best_of_several_true_classes_counts():
    ranked = np.array([[4, 2, 7], [4, 2, 7], [4, -1, -1], [4, -1, -1], [4, 2, 7]], np.int32)
    indptr = np.array([0, 2, 3, 4, 5, 5])
    true = np.array([7, 2, 4, 9, -1], np.int32)
    assert best_ranks(hits_of(ranked, indptr, true)).tolist() == [2, 1, 0, 0, 0]


def test_ranks_are_those_of_ranking_each_instance():
    names = [f"c{number}" for number in range(7)]
    examples = [([f"f{n % 5}", f"g{n % 3}"], [names[n % 7]]) for n in range(400)]
    rows = Rows.of([*examples, (["f0"], ["unknown"]), (["new"], ["c0"])])
    learner = make(Options())
    for instance, true in examples:
        learner.learn(instance, true)
    features, classes = Columns(rows.features), Columns(rows.classes)
    before = {name: array.tolist() for name, array in learner.dump().items()}
    many = rows.take(np.arange(len(rows)).repeat(RANKED_AT_ONCE // 300))
    assert len(many) > RANKED_AT_ONCE
    ranks = ranks_of(learner, many, features, classes)[:: RANKED_AT_ONCE // 300]
    expected = []
    for instance, [true] in [*examples, (["f0"], ["unknown"]), (["new"], ["c0"])]:
        ranked = [name for name, _ in learner.rank(instance, RETRIEVED)]
        expected.append(ranked.index(true) + 1 if true in ranked else 0)
    assert ranks.tolist() == expected
    assert len({*expected}) > 3
    assert {name: array.tolist() for name, array in learner.dump().items()} == before

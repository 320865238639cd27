import numpy as np
import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation.label_review import ClassAccuracy, Confusion, LabelReview
from manyclass.evaluation.out_of_fold import OutOfFold, out_of_fold
from manyclass.training.rows import Rows

WRONG = [17, 101, 180, 266, 303]


def mislabelled(rows=400, wrong=WRONG):
    """Return rows of five classes with a clear feature and noise, some with a wrong label."""
    rng = np.random.default_rng(3)
    return Rows.of(
        (
            {
                f"sign {at % 5}": 1.0,
                f"noise {rng.integers(40)}": 1.0,
                f"more {rng.integers(40)}": 1,
            },
            [f"class {(at + 2) % 5 if at in wrong else at % 5}"],
        )
        for at in range(rows)
    )


def reviewed(rows, learner="svm", **given):
    return LabelReview(rows, out_of_fold(rows, Options.of(learner), 5, **given))


def ranked(rows, firsts, ranks):
    """Return a review of rows with these first classes and ranks; the scores lead by 1."""
    first = np.array([rows.classes.index(each) if each else -1 for each in firsts], np.int32)
    retrieved = first >= 0
    scores = np.outer(retrieved, [1.0, 0.0, 0.0])
    scores[:, 2] = np.array(ranks) == 1
    order = np.arange(len(rows))
    return LabelReview(rows, OutOfFold(first, np.array(ranks, np.int32), scores, order))


@pytest.fixture(scope="module")
def review():
    return reviewed(mislabelled())


@pytest.fixture
def small():
    """Return a review of four rows: right, confused twice as it has two classes, confused, none."""
    rows = Rows.of([({"f": 1}, each) for each in (["a"], ["b", "c"], ["c"], ["b"])])
    return ranked(rows, ["a", "a", "a", None], [1, 2, 0, 0])


@pytest.mark.parametrize("learner", ["svm", "ff", "oplt"])
def test_wrong_labels_are_suspected_first(learner):
    review = reviewed(mislabelled(), learner)

    assert sorted(review.suspects()[: len(WRONG)]) == WRONG


def test_a_suspect_has_another_class_first(review):
    suspect = review.suspects()[0]

    assert review.labels(suspect) == [f"class {(suspect + 2) % 5}"]
    assert review.first_class(suspect) == f"class {suspect % 5}"
    assert review.confidence[suspect] > 0.9


def test_suspicion_falls_along_the_suspects(review):
    suspicion = review.suspicion[review.suspects()]

    assert (np.diff(suspicion) <= 0).all()


def test_the_counts_add_up(review):
    classes = review.classes()
    contradicted = review.is_contradicted.sum()

    assert sum(each.rows for each in classes) == len(review.rows)
    assert sum(each.right for each in classes) == review.is_right.sum()
    assert sum(each.first for each in classes) == (review.first >= 0).sum()
    assert review.is_right.sum() + contradicted == (review.first >= 0).sum()
    assert sum(len(each.rows) for each in review.confusions()) == contradicted
    assert len(review.suspects()) == contradicted >= len(WRONG)
    assert review.recalls["R1"] == review.is_right.mean()


def test_classes_have_precision_and_recall_of_the_first_place(small):
    classes = small.classes()

    assert classes == [
        ClassAccuracy("a", rows=1, first=3, right=1),
        ClassAccuracy("b", rows=2, first=0, right=0),
        ClassAccuracy("c", rows=2, first=0, right=0),
    ]
    assert (classes[0].precision, classes[0].recall) == (1 / 3, 1)
    assert (classes[1].precision, classes[1].recall) == (None, 0)


def test_a_confused_row_counts_for_each_of_its_classes(small):
    assert small.confusions() == [Confusion("a", "c", [1, 2]), Confusion("a", "b", [1])]


def test_a_row_is_confused_only_if_its_first_class_is_not_true():
    rows = Rows.of([({"f": 1}, ["a", "b"]), ({"f": 1}, ["a"])])

    review = ranked(rows, ["b", "b"], [1, 2])

    assert review.confusions() == [Confusion("b", "a", [1])]


def test_without_confidence_nothing_is_suspected(small):
    assert small.suspects() == []


def test_confidences_are_right_on_average(review):
    assert review.confidence.mean() == pytest.approx(review.is_right.mean(), abs=0.02)


def test_the_confidence_against_a_label_is_no_less_than_against_the_second(review):
    suspects = review.suspects()

    assert (review.against_label[suspects] >= review.confidence[suspects]).all()
    assert (review.against_label[suspects] > review.confidence[suspects]).any()


def test_a_class_that_comes_first_too_often_is_less_suspicious():
    """All scores are equal; class a is first in half its rows by mistake, class b in few."""
    labels = ["a"] * 100 + ["b"] * 100 + ["c"] * 52
    firsts = ["a"] * 100 + ["b"] * 100 + ["a"] * 50 + ["b"] * 2
    rows = Rows.of([({"f": 1}, [label]) for label in labels])

    review = ranked(rows, firsts, [1] * 200 + [0] * 52)

    assert review.suspects()[:2] == [250, 251]


def test_a_review_depends_on_the_seed_alone():
    rows = mislabelled()

    found = [reviewed(rows, seed=seed).suspicion.tolist() for seed in (0, 0, 1)]

    assert np.array_equal(found[0], found[1], equal_nan=True)
    assert not np.array_equal(found[0], found[2], equal_nan=True)


def test_a_review_does_not_depend_on_the_order_of_the_rows(review):
    order = np.random.default_rng(5).permutation(400)
    moved = reviewed(Rows.of([list(mislabelled())[row] for row in order]))

    assert [order[row] for row in moved.suspects()] == review.suspects()
    assert moved.classes() == review.classes()
    assert [(each.first, each.true) for each in moved.confusions()] == [
        (each.first, each.true) for each in review.confusions()
    ]

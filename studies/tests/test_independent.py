from manyclass.training.rows import Rows
from studies.independent import THRESHOLDS, Independent


def drowned(rows=200):
    """Return rows of one frequent and nine rare classes; shared words outnumber the sign words."""
    classes = [0 if at % 3 == 0 else 1 + at % 9 for at in range(rows)]
    return Rows.of(
        ([f"sign {each}", *(f"word {number}" for number in range(9))], [f"class {each}"])
        for each in classes
    )


def first_right(learner, rows):
    return (learner.rank(rows, 3)[:, 0] == rows.class_indices).mean()


def test_the_thresholds_are_those_the_paper_tried():
    assert THRESHOLDS[:3] == (0.01, 0.02, 0.03)
    assert THRESHOLDS[8:12] == (0.09, 0.1, 0.15, 0.2)
    assert (len(THRESHOLDS), THRESHOLDS[-1]) == (20, 0.6)


def test_the_threshold_that_does_best_on_held_out_rows_is_chosen():
    for thresholds in [(0.01, 0.9), (0.9, 0.01)]:
        learner = Independent("ind", 0, thresholds)
        learner.fit(drowned())

        assert learner.threshold == 0.9
        assert first_right(learner, drowned()) == 1


def test_of_equal_thresholds_the_first_is_chosen():
    learner = Independent("ind", 0, (0.8, 0.9))
    learner.fit(drowned())

    assert learner.threshold == 0.8


def test_one_threshold_is_taken_as_it_is():
    learner = Independent("ind", 0, (0.01,))
    learner.fit(drowned())

    assert learner.threshold == 0.01
    assert first_right(learner, drowned()) < 0.5


def test_all_rows_are_learned_once_the_threshold_is_chosen():
    known = drowned()
    labelled = [
        ([f"sign {each}"], [f"class {each}"]) for each in [*known.class_indices.tolist(), "late"]
    ]
    rows = Rows.of(labelled)
    learner = Independent("ind", 0, (0.01, 0.9))
    learner.fit(rows)

    assert first_right(learner, rows) == 1

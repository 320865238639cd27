import numpy as np
import pytest

from manyclass.core.learners.options import Options
from manyclass.evaluation.studies.drift import (
    MEMORIES,
    Kept,
    curve_of,
    drifting,
    measure,
    memories,
    recommend,
    table_of,
)
from manyclass.training.rows import Rows


def made(count):
    random = np.random.default_rng(0)
    return Rows.of(
        (
            [f"f{number}" for number in sorted(set(random.integers(0, 50, 5).tolist()))],
            [f"c{random.integers(20)}"],
        )
        for _ in range(count)
    )


def test_drift_changes_meanings_in_the_second_half_only():
    rows = made(400)
    still, moved = drifting(rows, 1, 0.0), drifting(rows, 1, 0.5)
    middle = still.indptr[200]

    assert np.array_equal(still.indices[:middle], moved.indices[:middle])
    assert np.array_equal(still.class_indices, moved.class_indices)
    meanings = dict(zip(still.indices[middle:], moved.indices[middle:], strict=True))
    pairs = zip(still.indices[middle:], moved.indices[middle:], strict=True)
    assert all(meanings[a] == b for a, b in pairs)
    assert len(set(meanings.values())) == len(meanings)  # exchanged, none merged
    assert 0 < sum(a != b for a, b in meanings.items()) < len(meanings)


def test_drift_keeps_every_row_and_lets_classes_arrive():
    rows = made(400)
    stream = drifting(rows, 1, 0.0)

    assert sorted(stream.class_indices) == sorted(rows.class_indices)
    first = {label: at for at, label in reversed(list(enumerate(stream.class_indices)))}
    assert sum(at > 100 for at in first.values()) >= 3  # shuffled, all would be there by then


def kept(steady, second_half):
    return Kept(steady, 0.5, second_half, (0.5,) * 10)


def test_the_largest_memory_that_is_about_as_good_is_recommended():
    def found(second_half, steady):
        return {
            options: kept(steady.get(memory, 0.5), second_half.get(memory, 0.5))
            for memory, options in memories(0.0).items()
        }

    assert recommend([found({}, {})], 0.0) == 0
    assert recommend([found({30: 0.6, 100: 0.5999}, {})], 0.0) == 100
    assert recommend([found({30: 0.6, 100: 0.55}, {})], 0.0) == 30
    assert recommend([found({30: 0.6, 100: 0.55}, {30: 0.4})], 0.0) == 100


def test_each_memory_is_one_of_feature_focus():
    assert [memories(0.1)[memory].feature_memory for memory in MEMORIES] == list(MEMORIES)
    assert {options.margin_threshold for options in memories(0.1).values()} == {0.1}


def test_what_is_kept_is_first_places_of_both_streams():
    steady = np.array([1, 1, 1, 0], np.int32)
    drift = np.array([2] * 10 + [1] * 5 + [0] * 5, np.int32)

    found = Kept.of(steady, drift)

    assert (found.steady, found.drifting, found.second_half) == (0.75, 0.25, 0.5)
    assert found.tenths == (0, 0, 0, 0, 0, 1, 1, 0.5, 0, 0)


def test_the_mean_is_taken_of_every_figure():
    mean = Kept.mean([Kept(0.2, 0.4, 0.6, (0.0, 1.0)), Kept(0.4, 0.6, 0.8, (1.0, 1.0))])

    assert (mean.steady, mean.drifting, mean.second_half) == pytest.approx((0.3, 0.5, 0.7))
    assert mean.tenths == (0.5, 1.0)


def test_learners_are_measured_on_a_steady_and_a_changing_stream():
    rows = Rows.of(([f"f{at % 4}"], [f"c{at % 4}"]) for at in range(400))
    learner = Options.of("ff")

    steady = measure(rows, [learner], 0, 0.0)[learner]
    changed = measure(rows, [learner], 0, 1.0)[learner]

    assert steady.steady > 0.95
    assert steady.second_half > 0.95
    assert changed.second_half < steady.second_half
    assert changed.tenths[:5] == steady.tenths[:5]


def test_tables_and_curves_have_every_learner():
    found = {Options.of("ff"): kept(0.4, 0.3), Options.of("pa"): kept(0.5, 0.2)}

    table, curve = table_of("made", found), curve_of("made", found)

    assert [[cell.text for cell in row] for row in table.rows] == [
        ["ff", "0.4000", "0.5000", "0.3000"],
        ["pa", "0.5000", "0.5000", "0.2000"],
    ]
    assert table.best == [-1, 1, 0, 0]
    assert [(each.name, len(each.points)) for each in curve.plot.series] == [("ff", 10), ("pa", 10)]

import numpy as np
import pytest

from manyclass.training.rows import Rows


@pytest.fixture
def rows():
    return Rows.of(
        [
            (["a", "b"], ["x"]),
            ({"b": 2.0, "c": 0.5}, ["y", "x"]),
            ([], ["y"]),
            (["a", "d"], ["z"]),
        ]
    )


def test_of_keeps_order_values_and_names(rows):
    assert [*rows] == [
        ({"a": 1.0, "b": 1.0}, ["x"]),
        ({"b": 2.0, "c": 0.5}, ["y", "x"]),
        ({}, ["y"]),
        ({"a": 1.0, "d": 1.0}, ["z"]),
    ]
    assert rows.features == ["a", "b", "c", "d"]
    assert (rows.indptr.dtype, rows.indices.dtype, rows.values.dtype) == (
        np.int64,
        np.int32,
        np.float32,
    )


def test_take_reorders_and_repeats(rows):
    assert [*rows.take(np.array([3, 2, 3]))] == [[*rows][at] for at in (3, 2, 3)]
    assert [*rows.take(np.array([], int))] == []


def test_split_parts_in_order(rows):
    first, others = rows.split(0.75)

    assert [*first] == [*rows][:3]
    assert [*others] == [*rows][3:]


def test_shuffles_of_one_seed_are_equal(rows):
    rows = rows.take(np.arange(4).repeat(25))

    assert [*rows.shuffled(3)] == [*rows.shuffled(3)]
    assert [*rows.shuffled(3)] != [*rows.shuffled(4)]
    assert sorted(rows.shuffled(3), key=repr) == sorted(rows, key=repr)


def test_without_singletons_leaves_out_what_stands_once(rows):
    assert [*rows.without_singletons()] == [
        ({"a": 1.0, "b": 1.0}, ["x"]),
        ({"b": 2.0}, ["y", "x"]),
        ({}, ["y"]),
        ({"a": 1.0}, ["z"]),
    ]
    assert rows.without_singletons().features == ["a", "b"]


def test_instances_are_taken_one_by_one(rows):
    taken = []

    def labelled():
        for each in range(3):
            yield [f"f{each}"], [taken.append(each) or "x"]

    assert len(Rows.of(labelled())) == 3
    assert taken == [0, 1, 2]


def test_oversampling_repeats_the_rows_of_rare_classes():
    rows = Rows.of(
        [
            ([], ["often"]),
            ([], ["often", "twice"]),
            ([], ["often"]),
            ([], ["twice"]),
            ([], ["once"]),
        ]
    )
    assert rows.oversampling(0).tolist() == [0, 1, 2, 3, 4]
    assert rows.oversampling(1).tolist() == [0, 1, 2, 3, 4]
    assert rows.oversampling(3).tolist() == [0, 1, 1, 2, 3, 3, 4, 4, 4]
    counts = np.bincount(rows.take(rows.oversampling(7)).class_indices)
    assert counts.min() >= 7


def test_oversampling_a_row_without_a_class_leaves_it_alone():
    assert Rows.of([([], []), ([], ["x"])]).oversampling(2).tolist() == [0, 1, 1]

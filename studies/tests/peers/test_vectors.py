import numpy as np
import pytest

from manyclass.training.rows import Rows
from studies.peers.vectors import Vectors


def rows_of(*instances):
    return Rows.of((instance, ["c"]) for instance in instances)


def listed(vectors):
    return [
        dict(zip(columns.tolist(), values.tolist(), strict=True))
        for columns, values in (vectors.row(at) for at in range(len(vectors)))
    ]


def test_instances_are_scaled_to_unit_length():
    vectors = Vectors.of(rows_of({"a": 3.0, "b": 4.0}, {"b": -2.0}))

    assert listed(vectors) == [pytest.approx({0: 0.6, 1: 0.8}), {1: -1.0}]
    assert vectors.width == 2


def test_repeated_features_are_added_up_before_scaling():
    rows = rows_of(["a", "b", "a", "a"], ["b"])

    assert listed(Vectors.unscaled(rows)) == [{0: 3.0, 1: 1.0}, {1: 1.0}]
    assert listed(Vectors.of(rows))[0] == pytest.approx({0: 3 / 10**0.5, 1: 1 / 10**0.5})


def test_the_columns_of_a_row_ascend():
    rows = rows_of(["a", "b", "c"], ["c", "a"])

    assert Vectors.of(rows).row(1)[0].tolist() == [0, 2]


def test_empty_instances_and_instances_of_zeros_stay():
    rows = rows_of({}, {"a": 0.0}, {"a": 2.0}, {})

    assert listed(Vectors.of(rows)) == [{}, {0: 0.0}, {0: 1.0}, {}]
    assert listed(Vectors.of(rows_of({}, {}))) == [{}, {}]


def test_taken_rows_come_in_the_order_asked_for():
    vectors = Vectors.of(rows_of({"a": 1.0}, {"b": 1.0}, {"c": 1.0}))

    assert listed(vectors.take(np.array([2, 0]))) == [{2: 1.0}, {0: 1.0}]


def test_compact_vectors_have_no_empty_columns_and_say_which_are_left():
    vectors = Vectors.of(rows_of({"a": 1.0}, {"b": 1.0}, {"c": 3.0, "a": 4.0}))

    narrow, columns = vectors.take(np.array([2])).compact()

    assert listed(narrow) == [pytest.approx({0: 0.8, 1: 0.6})]
    assert narrow.width == 2
    assert columns.tolist() == [0, 2]

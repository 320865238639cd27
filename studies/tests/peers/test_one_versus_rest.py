import numpy as np
import pytest

from manyclass.training.rows import Rows
from studies.peers.one_versus_rest import hits, members


@pytest.fixture
def rows():
    return Rows.of((["f"], classes) for classes in (["a"], ["b", "c"], ["c"], ["b", "a"]))


def test_each_trained_class_has_its_rows(rows):
    found = {column: positive.tolist() for column, positive in members(rows.take(np.arange(3)))}

    assert found == {
        0: [True, False, False],
        1: [False, True, False],
        2: [False, True, True],
    }


def test_a_row_is_hit_by_any_of_its_true_classes(rows):
    assert hits(np.array([0, 2, 2, 0], np.int32), rows) == 4
    assert hits(np.array([1, 0, -1, 1], np.int32), rows) == 1

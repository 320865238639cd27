import numpy as np

from manyclass.training.rows import Rows
from studies.peers.one_versus_rest import members


def test_each_trained_class_has_its_rows():
    rows = Rows.of((["f"], classes) for classes in (["a"], ["b", "c"], ["c"], ["b", "a"]))

    found = {column: positive.tolist() for column, positive in members(rows.take(np.arange(3)))}

    assert found == {
        0: [True, False, False],
        1: [False, True, False],
        2: [False, True, True],
    }

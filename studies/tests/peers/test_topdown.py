import numpy as np
import pytest

from studies.peers.hierarchy import Hierarchy
from studies.peers.topdown import held_out, walk

# -1 ─┬─ 3 ─┬─ 0
#     │     └─ 1
#     └─ 2
HIERARCHY = Hierarchy(np.array([3, 3, -1, -1]), {-1: np.array([2, 3]), 3: np.array([0, 1])})
GIVEN_PARENT = {-1: [[0.3, 0.9], [0.6, 0.04]], 3: [[0.5, 0.02], [0.9, 0.9]]}


def asked_of(rows, p_min):
    asked = []

    def probabilities(parent, some):
        asked.append((parent, some.tolist()))
        return np.array(GIVEN_PARENT[parent])[some]

    reached = walk(HIERARCHY, probabilities, rows, p_min)
    return asked, {
        (row, node): p for row, node, p in zip(*map(np.ndarray.tolist, reached), strict=True)
    }


def test_probabilities_are_multiplied_along_a_path():
    _, reached = asked_of(2, 0.0)

    assert reached == pytest.approx(
        {
            (0, 2): 0.3,
            (0, 3): 0.9,
            (0, 0): 0.45,
            (0, 1): 0.018,
            (1, 2): 0.6,
            (1, 3): 0.04,
            (1, 0): 0.036,
            (1, 1): 0.036,
        }
    )


def test_a_path_ends_where_its_product_falls_below_the_threshold():
    asked, reached = asked_of(2, 0.05)

    assert asked == [(-1, [0, 1]), (3, [0])]
    assert reached == pytest.approx({(0, 2): 0.3, (0, 3): 0.9, (0, 0): 0.45, (1, 2): 0.6})


def test_no_rows_reach_nothing():
    asked, reached = asked_of(0, 0.05)

    assert asked == []
    assert reached == {}


def test_a_fifth_of_the_rows_is_held_out_at_random():
    one, other = (held_out(50, np.random.default_rng(seed)) for seed in (1, 2))

    assert one.sum() == other.sum() == 10
    assert one.tolist() != other.tolist()

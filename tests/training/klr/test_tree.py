import numpy as np
import pytest

from manyclass.training.klr.tree import flat_tree, tree_of
from manyclass.training.parents import single_parents
from tests.training.klr.problems import CLASSES, parents, path_matrix


def paths(tree):
    """Return the names on the path of each class, from the top down."""
    found = {}
    for column, node in enumerate(tree.leaves.tolist()):
        path = []
        while node >= 0:
            path.append(tree.names[node])
            node = tree.parents[node]
        found[column] = path[::-1]
    return {name: found[column] for column, name in enumerate(CLASSES)}


def test_a_class_above_others_has_a_leaf_of_its_own():
    assert paths(tree_of(CLASSES, parents, "H1")) == {
        "a": ["top", "a", "a"],
        "a1": ["top", "a", "a1"],
        "a2": ["top", "a", "a2"],
        "b1": ["top", "b", "b1"],
        "b2": ["top", "b", "b2"],
        "c": ["c"],
    }


@pytest.mark.parametrize(
    ("sharing", "groups"),
    [
        ("F1", ["all"]),
        ("F2", ["c", "top"]),
        ("H1", ["classes", "level 1", "level 2"]),
        ("H2", ["c", "top"]),
    ],
)
def test_nodes_share_variances(sharing, groups):
    tree = tree_of(CLASSES, parents, sharing)
    assert sorted(tree.groups) == groups
    assert tree.is_flat == (sharing in ("F1", "F2"))
    assert (tree.counts.sum(1) == 1).all()


def test_the_tree_ends_at_the_root_of_a_task():
    tree = tree_of(["a", "a1", "a2"], parents, "H2", root="a")
    assert tree.is_flat
    assert sorted(tree.groups) == ["a", "a1", "a2"]


def test_nodes_are_numbered_breadth_first():
    tree = tree_of(CLASSES, parents, "H2")
    depths = path_matrix(tree).sum(1)
    assert sorted(depths.tolist()) == [1, 3, 3, 3, 3, 3]
    assert (tree.parents[1:] >= tree.parents[:-1]).all()


def test_an_only_child_joins_its_parent():
    tree = tree_of(["x", "y"], lambda name: {"x": ["m"], "m": ["n"]}.get(name, []), "H1")
    assert tree.nodes == 2
    counts = dict(zip(tree.names, tree.counts.sum(1).tolist(), strict=True))
    assert counts == {"x": 3, "y": 1}


def test_a_cycle_of_parents_is_cut_and_the_first_of_several_parents_counts():
    above = {"a": ["c", "b"], "b": ["a"]}
    assert single_parents(["a"], lambda name: above.get(name, [])) == {"a": "b", "b": ""}


def test_the_flat_tree_has_one_variance():
    tree = flat_tree(["x", "y", "z"])
    assert (tree.nodes, tree.groups, tree.leaves.tolist()) == (3, ["all"], [0, 1, 2])


def test_a_node_has_the_sum_of_the_classes_below_it():
    tree = tree_of(CLASSES, parents, "H1")
    of_classes = np.arange(2.0 * len(CLASSES)).reshape(2, -1)
    assert tree.sum_up(of_classes).tolist() == (of_classes @ path_matrix(tree)).tolist()

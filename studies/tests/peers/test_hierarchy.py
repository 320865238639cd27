import pytest

from manyclass.evaluation.taxonomy import Taxonomy
from manyclass.training.rows import Rows
from studies.peers.hierarchy import Hierarchy

PARENTS = {"dog": ["mammal"], "cat": ["mammal"], "mammal": ["animal"], "ant": ["animal"]}


def rows_of(*classes):
    return Rows.of(({"f": 1.0}, each) for each in classes)


def below(hierarchy, rows):
    """Return the root's children by name: a class by its own, a node by its children's names."""

    def name(node):
        if node < len(rows.classes):
            return rows.classes[node]
        return tuple(sorted(map(name, hierarchy.by_parent[node]), key=str))

    return {name(node) for node in hierarchy.by_parent[-1]}


def test_without_a_taxonomy_all_trained_classes_are_below_the_root():
    rows = rows_of(["a"], ["b", "c"])

    hierarchy = Hierarchy.of(rows.take([0]), None)

    assert hierarchy.by_parent.keys() == {-1}
    assert hierarchy.by_parent[-1].tolist() == [0]


def test_the_tree_has_what_is_above_trained_classes():
    rows = rows_of(["dog"], ["ant"], ["cat"])

    hierarchy = Hierarchy.of(rows, Taxonomy(PARENTS))

    assert below(hierarchy, rows) == {(("cat", "dog"), "ant")}


def test_a_class_above_others_is_a_leaf_too_if_it_has_instances_of_its_own():
    rows = rows_of(["dog"], ["mammal"], ["cat"])

    hierarchy = Hierarchy.of(rows, Taxonomy(PARENTS))

    assert below(hierarchy, rows) == {(("cat", "dog", "mammal"),)}


def test_a_class_with_several_parents_is_below_the_first_by_name():
    rows = rows_of(["bat"], ["dog"])
    taxonomy = Taxonomy({"bat": ["toy", "mammal"], "dog": ["mammal"]})

    assert below(Hierarchy.of(rows, taxonomy), rows) == {("bat", "dog")}


@pytest.mark.parametrize(
    "parents",
    [{"a": ["a"]}, {"a": ["b"], "b": ["a"]}, {"a": ["b"], "b": ["c"], "c": ["b"]}],
)
def test_circles_of_parents_are_cut(parents):
    rows = rows_of(["a"], ["x"])

    hierarchy = Hierarchy.of(rows, Taxonomy(parents))

    instances = hierarchy.instances(rows)
    assert instances[0].tolist() == [0]
    assert all(each.tolist() == [0] for node, each in instances.items() if node != 1)


def test_every_node_has_the_rows_with_a_true_class_at_or_below_it():
    rows = rows_of(["dog", "cat"], ["ant"], ["mammal"], ["cat"])
    hierarchy = Hierarchy.of(rows, Taxonomy(PARENTS))

    instances = hierarchy.instances(rows)

    (animal,) = hierarchy.by_parent[-1].tolist()
    (mammal,) = (each for each in hierarchy.by_parent[animal].tolist() if each != 2)
    assert instances[animal].tolist() == [0, 1, 2, 3]
    assert instances[mammal].tolist() == [0, 2, 3]
    assert [instances[column].tolist() for column in range(4)] == [[0], [0, 3], [1], [2]]

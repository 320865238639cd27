import pytest

from manyclass.evaluation.taxonomy import Taxonomy, digits_of


@pytest.fixture
def tree():
    #      r        alone
    #    a   b
    #   c d  e
    return Taxonomy({"a": ["r"], "b": ["r"], "c": ["a"], "d": ["a"], "e": ["b"], "r": []})


@pytest.mark.parametrize(
    ("one", "other", "edges"),
    [
        ("c", "c", 0),
        ("c", "a", 1),
        ("c", "d", 2),
        ("c", "e", 4),
        ("c", "alone", 4),
        (None, "c", 3),
        (None, "alone", 1),
    ],
)
def test_the_distance_is_that_of_the_path_over_what_is_above_both(tree, one, other, edges):
    assert tree.distance(one, other) == edges
    if one is not None:
        assert tree.distance(other, one) == edges


def test_a_class_with_two_parents_is_near_to_both():
    taxonomy = Taxonomy({"x": ["a", "b"], "y": ["b"], "a": ["far"], "far": ["farther"]})

    assert taxonomy.distance("x", "y") == 2
    assert taxonomy.distance("x", "farther") == 3
    assert taxonomy.siblings("x", "y")
    assert not taxonomy.siblings("a", "x")


def test_parents_that_go_round_in_a_ring_still_have_distances():
    taxonomy = Taxonomy({"a": ["b"], "b": ["a", "b"]})

    assert taxonomy.distance("a", "b") == 1


def test_classes_without_parents_are_siblings_below_the_root(tree):
    assert tree.siblings("r", "alone")
    assert tree.parents("unknown") == {""}


@pytest.mark.parametrize(
    ("code", "digits"),
    [
        ("45233140-2", "4523314"),
        ("45000000-7", "45"),
        ("30000000-9", "30"),
        ("03111200-4", "031112"),
    ],
)
def test_zeros_at_the_end_of_a_code_are_no_part_of_its_path(code, digits):
    assert digits_of(code) == digits


def test_a_code_stands_below_the_longest_code_that_begins_it():
    tree = Taxonomy.of_codes(["45000000-7", "45230000-8", "45233140-2", "45233000-9", "30000000-9"])

    assert tree.parents("45233140-2") == {"45233000-9"}
    assert tree.parents("45233000-9") == {"45230000-8"}
    assert tree.parents("45230000-8") == {"45000000-7"}  # 452 is not a code here
    assert tree.parents("45000000-7") == {""}
    assert tree.distance("45233140-2", "30000000-9") == 5

"""The tree of classes: placing, moving, forgetting, and its state."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core.errors import InstanceError, SnapshotError, UnknownName
from manyclass.core.taxonomy import LONGEST_PATH, Taxonomy
from tests.core.references.taxonomy import SlowTaxonomy

NAMES = st.sampled_from("abcdefgh")
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("place"), NAMES, st.none() | NAMES, st.booleans()),
        st.tuples(st.just("forget"), NAMES, st.none(), st.just(False)),
        st.tuples(st.just("learn"), NAMES, st.none(), st.just(False)),
    ),
    max_size=40,
)


def apply(taxonomy: Any, change: tuple[str, str, str | None, bool]) -> None:
    kind, name, parent, moves = change
    if kind == "place":
        taxonomy.place(name, parent, moves)
    elif kind == "forget":
        taxonomy.forget(name)
    else:
        taxonomy.note_classes([name])


def described(taxonomy: Taxonomy) -> dict[str, Any]:
    return {
        name: (
            taxonomy.path(name),
            taxonomy.parent(name),
            taxonomy.children(name),
            taxonomy.is_class(name),
        )
        for name in "abcdefgh"
        if name in taxonomy
    }


@given(CHANGES)
def test_the_same_as_a_slow_one(changes: list[Any]) -> None:
    taxonomy, slow = Taxonomy(), SlowTaxonomy()
    for change in changes:
        apply(taxonomy, change)
        apply(slow, change)
        assert described(taxonomy) == {
            name: (
                slow.path(name),
                slow.parents[name],
                slow.children(name),
                name in slow.classes,
            )
            for name in sorted(slow.parents)
        }


@given(CHANGES, CHANGES)
def test_a_loaded_taxonomy_goes_on_like_the_dumped_one(before: list[Any], after: list[Any]) -> None:
    taxonomy = Taxonomy(hash_seed=1)
    for change in before:
        apply(taxonomy, change)
    loaded = Taxonomy.load(taxonomy.dump(), hash_seed=2)
    for change in after:
        apply(taxonomy, change)
        apply(loaded, change)
    assert described(loaded) == described(taxonomy)
    dumped, dumped_again = taxonomy.dump(), loaded.dump()
    assert dumped.keys() == dumped_again.keys()
    for name, array in dumped.items():
        np.testing.assert_array_equal(array, dumped_again[name])


def family() -> Taxonomy:
    taxonomy = Taxonomy()
    for name, parent in [("dog", "animal"), ("cat", "animal"), ("pug", "dog"), ("oak", "tree")]:
        taxonomy.place(name, parent)
    return taxonomy


def test_distances_are_edges_over_the_lowest_common_ancestor() -> None:
    taxonomy = family()
    for one, other, edges in [
        ("pug", "pug", 0),
        ("pug", "dog", 1),
        ("dog", "cat", 2),
        ("pug", "cat", 3),
        ("pug", "oak", 5),
        ("pug", "unplaced", 4),
        ("unplaced", "other", 2),
        (None, "pug", 3),
        (None, "unplaced", 1),
    ]:
        assert taxonomy.distance(one, other) == edges
        assert taxonomy.distance(other, one) == edges


def test_what_is_gone_after_a_class_went_is_named() -> None:
    taxonomy = family()
    assert taxonomy.forget("tree") == []
    assert taxonomy.forget("oak") == ["oak", "tree"]
    assert taxonomy.forget("dog") == []  # pug stands below it
    assert not taxonomy.is_class("dog")
    assert taxonomy.place("pug", "cat", moves=True) == ["dog"]
    assert taxonomy.path("pug") == ["animal", "cat", "pug"]
    assert taxonomy.forget("nothing") == []


def test_a_path_has_a_limit_also_below_a_class_that_moves() -> None:
    taxonomy = Taxonomy()
    for depth in range(LONGEST_PATH):
        taxonomy.place(f"{depth + 1}", f"{depth}")
    assert taxonomy.height("0") == LONGEST_PATH - 1
    assert f"{LONGEST_PATH}" not in taxonomy
    taxonomy.place("a", "b")
    taxonomy.place("0", "b")
    assert taxonomy.path("0") == ["0"]
    taxonomy.place(f"{LONGEST_PATH - 1}", "b", moves=True)
    taxonomy.place("0", "b")
    assert taxonomy.path("0") == ["b", "0"]


def test_children_come_in_pages() -> None:
    taxonomy = Taxonomy()
    for number in range(25):
        taxonomy.place(f"{number}", "above")
    found = taxonomy.children("above", limit=10)
    found += taxonomy.children("above", found[-1], limit=10)
    found += taxonomy.children("above", found[-1], limit=10)
    assert found == [f"{number}" for number in range(25)]
    with pytest.raises(UnknownName):
        taxonomy.children("above", "above")
    with pytest.raises(UnknownName):
        taxonomy.children("below")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("taxonomy_parents", [1, 0, 0xFFFFFFFF, 1, 5, 0xFFFFFFFF]),  # a circle
        ("taxonomy_parents", [77, 0xFFFFFFFF, 1, 0, 5, 0xFFFFFFFF]),
        ("taxonomy_before", [0xFFFFFFFF] * 6),  # two first children
        ("taxonomy_before", [2, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF]),
        ("taxonomy_before", [3, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF]),
        ("taxonomy_classes", [1, 0, 1, 0, 1, 0]),
        ("taxonomy_classes", [2, 0, 1, 1, 1, 0]),
        ("taxonomy_name_sizes", [3, 6, 3, 3, 3, 0]),
    ],
)
def test_arrays_that_contradict_each_other_are_refused(name: str, value: list[int]) -> None:
    arrays = family().dump()
    arrays[name] = np.array(value, arrays[name].dtype)
    with pytest.raises(SnapshotError, match=name.partition("_")[0]):
        Taxonomy.load(arrays)
    del arrays[name]
    with pytest.raises(SnapshotError, match="missing"):
        Taxonomy.load(arrays)


def test_any_text_can_be_looked_up_but_not_placed() -> None:
    taxonomy = family()
    for name in ("", "x" * 5000, "\0"):
        assert name not in taxonomy
        assert taxonomy.path(name) == []
        assert taxonomy.parent(name) is None
        assert taxonomy.forget(name) == []
    for name in ("", "x" * 5000, "\ud800"):
        with pytest.raises(InstanceError):
            taxonomy.place(name)
        with pytest.raises(InstanceError):
            taxonomy.place("new", name)
    assert len(taxonomy) == 6


def test_an_empty_one_has_no_arrays() -> None:
    assert Taxonomy().dump() == {}
    assert len(Taxonomy.load({})) == 0


def test_the_children_of_the_root_are_listed_in_pages():
    taxonomy = Taxonomy()
    for name, parent in {"a": None, "b": "c", "d": "c", "e": None}.items():
        taxonomy.place(name, parent)
    assert taxonomy.children(None) == ["a", "c", "e"]
    assert taxonomy.children(None, "a", 1) == ["c"]
    assert taxonomy.children(None, "e") == []
    taxonomy.forget("a")
    assert taxonomy.children(None) == ["c", "e"]
    for name, after in ((None, "b"), (None, "a"), ("", None), ("a", None)):
        with pytest.raises(UnknownName):
            taxonomy.children(name, after)


def test_a_node_is_renamed_in_its_place():
    taxonomy = Taxonomy()
    for name, parent in {"a": "top", "b": "top", "c": "b"}.items():
        taxonomy.place(name, parent)
    assert taxonomy.rename("b", "x")
    assert taxonomy.children("top") == ["a", "x"]
    assert taxonomy.path("c") == ["top", "x", "c"]
    assert not taxonomy.rename("b", "y")
    assert not taxonomy.rename("x", "a")
    assert "y" not in taxonomy

"""Events that place classes: what a model refuses, and what it does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core import placements
from manyclass.core.errors import (
    EventError,
    InstanceError,
    PlacementConflict,
    PlacementFault,
    RequestConflict,
    UnknownName,
)
from manyclass.core.event import Event
from manyclass.core.event_parts import MOST_PLACEMENTS
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.taxonomy import LONGEST_PATH

NAMES = st.sampled_from("abcdef")
INSTANCE = Instance({"ice": 1.0})


def learn(name, event_id=None, **parents):
    return Event.learn(INSTANCE, [name], event_id, parents=parents)


def model(learner="svm"):
    return Model(Options.parse(learner))


def apply(of, *events):
    of.check_all(events)
    return list(of.apply_request(events))


def parents_of(of):
    return {name: of.taxonomy.parent(name) for name in "abcdef" if name in of.taxonomy}


def test_an_event_reads_back_as_it_was_written():
    for event in (
        Event.place({"a": "b", "b": None}),
        Event.place({"a": "é" * 100}, moves=True),
        Event.learn(INSTANCE, ["a"], "e-1", 7, ["b"], 2.5, {"a": "c", "d": 5}),
        learn("a", a="b").join(),
    ):
        read = Event.from_bytes(bytes(event))
        assert read == event
        assert (read.parents, read.moves, read.kind) == (event.parents, event.moves, event.kind)
        assert (read.classes, read.rejected, read.joined) == (
            event.classes,
            event.rejected,
            event.joined,
        )
    assert Event.place({"a": None}).parents == {"a": ""}
    assert bytes(Event.learn(INSTANCE, ["a"], parents={})) == bytes(Event.learn(INSTANCE, ["a"]))


@pytest.mark.parametrize(
    "parents",
    [
        {},
        {"": "b"},
        {"a": ""},
        {"a": 5.5},
        {"a": ["b"]},
        ["a"],
        dict.fromkeys(map(str, range(1001))),
    ],
)
def test_an_event_of_other_placements_cannot_be_made(parents):
    assert MOST_PLACEMENTS == 1000
    with pytest.raises(InstanceError):
        Event.place(parents)


def test_a_learned_class_has_no_null_as_its_parent():
    with pytest.raises(InstanceError):
        learn("a", a=None)


@given(st.binary(max_size=60))
def test_other_bytes_are_no_event(data):
    for kind in (8, 9):
        head = bytes([kind]) + bytes(10)
        try:
            event = Event.from_bytes(head + data)
        except EventError:
            continue
        assert bytes(event) == head + data


def test_a_class_keeps_its_parent_unless_it_moves():
    of = model()
    apply(of, learn("a", a="b"), Event.place({"c": "a"}))
    with pytest.raises(PlacementConflict, match="'a' is below 'b', not below 'c'") as caught:
        of.check(learn("a", a="c"))
    assert caught.value.where == ("parents", "a")
    with pytest.raises(PlacementConflict, match="not at the top"):
        of.check(Event.place({"a": None}))
    apply(of, Event.place({"a": "d"}, moves=True))
    assert parents_of(of) == {"a": "d", "c": "a", "d": None}
    assert of.taxonomy.path("c") == ["d", "a", "c"]


def test_circles_and_paths_that_are_too_long_are_refused():
    of = model()
    apply(of, Event.place({"b": "a", "c": "b"}))
    for parents in ({"a": "c"}, {"a": "a"}, {"d": "c", "a": "d"}, {"e": "f", "f": "e"}):
        with pytest.raises(PlacementFault, match="below"):
            of.check(Event.place(parents))
    chain = {f"{at + 1}": f"{at}" for at in range(LONGEST_PATH)}
    with pytest.raises(PlacementFault, match="33 classes; it may have 32"):
        of.check(Event.place(chain))
    apply(of, Event.place(dict([*chain.items()][:-3])))
    with pytest.raises(PlacementFault, match="33 classes"):
        of.check(Event.place({"0": "c"}))
    assert parents_of(of) == {"a": None, "b": "a", "c": "b"}


def test_moves_of_one_request_are_checked_one_after_another():
    of = model()
    apply(of, Event.place({"b": None, "a": None}))
    apply(
        of,
        *(
            Event.place({name: parent}, moves=True)
            for name, parent in (("a", "b"), ("a", None), ("b", "a"), ("c", "b"), ("d", "c"))
        ),
    )
    assert of.taxonomy.path("d") == ["a", "b", "c", "d"]


def test_a_request_is_applied_as_a_whole_or_not_at_all():
    of = model()
    events = [learn("a", a="b"), learn("c", c="a"), learn("d", a="d")]
    with pytest.raises(PlacementConflict) as caught:
        of.check_all(events)
    assert caught.value.position == 2
    digest = of.digest()
    with pytest.raises(RequestConflict):  # as if another process had appended it
        list(of.apply_request(events))
    assert of.seq == 3
    assert parents_of(of) == {}
    of.seq = 0
    assert of.digest() == digest


def test_of_two_requests_that_contradict_each_other_the_first_counts():
    of = model()
    first, second = learn("a", a="b"), learn("a", a="c")
    of.check(first)
    of.check(second)
    list(of.apply_request([first]))
    with pytest.raises(PlacementConflict):
        list(of.apply_request([second]))
    assert parents_of(of)["a"] == "b"
    assert of.learner.learned == 1


def test_the_taxonomy_has_room_for_so_many_names(monkeypatch):
    monkeypatch.setattr(placements, "LARGEST_NAMES", 9)
    of = model()
    apply(of, Event.place({"aaa": "bbb"}))
    with pytest.raises(PlacementFault, match="full"):
        of.check(Event.place({"ccc": "ddd"}))
    apply(of, Event.place({"é": "aaa", "b": "é"}))
    assert of.taxonomy.name_bytes == 9
    monkeypatch.setattr(placements, "MOST_PLACED", 4)
    with pytest.raises(PlacementFault, match="full"):
        of.check(Event.place({"x": "b"}))


def test_a_retry_is_no_conflict_though_the_class_has_moved_since():
    of = model()
    apply(of, learn("a", "e-1", a="b"), Event.place({"a": "c"}, moves=True))
    retry = learn("a", "e-1", a="b")
    assert apply(of, retry) == [1]
    assert parents_of(of)["a"] == "c"


def test_a_class_that_was_only_placed_can_be_forgotten():
    of = model()
    apply(of, Event.place({"a": "b"}))
    with pytest.raises(UnknownName):
        of.check(Event.forget_class("b"))  # not a class
    apply(of, Event.forget_class("a"))
    assert len(of.taxonomy) == 0


def test_a_learned_class_stays_when_its_last_child_goes():
    of = model()
    apply(of, learn("a", a="b"), learn("b"))
    apply(of, Event.forget_class("a"))
    assert parents_of(of) == {"b": None}


CHANGES = st.lists(
    st.one_of(
        st.builds(
            Event.place, st.dictionaries(NAMES, st.none() | NAMES, min_size=1), st.booleans()
        ),
        st.builds(
            lambda name, parents: Event.learn(INSTANCE, [name], parents=parents),
            NAMES,
            st.dictionaries(NAMES, NAMES, max_size=2),
        ),
        st.builds(Event.forget_class, NAMES),
    ),
    max_size=15,
)


@given(CHANGES)
def test_what_the_check_lets_through_is_placed_and_nothing_else(events):
    of = model()
    for event in events:
        before = parents_of(of)
        try:
            list(of.apply_request([event]))
        except RequestConflict:
            assert parents_of(of) == before
            continue
        for name, parent in event.parents.items():
            assert of.taxonomy.parent(name) == (parent or None)


@given(CHANGES, st.integers(0, 15))
def test_a_model_that_was_loaded_amid_a_log_ends_in_the_same_state(events, place):
    of, other = model(), model()
    for at, event in enumerate(events):
        if at == place:
            other = Model.load([b"".join(map(bytes, other.dump()))])
        for each in (of, other):
            try:
                list(each.apply_request([event]))
            except RequestConflict:
                continue
    assert of.digest() == other.digest()
    for name, parent in parents_of(of).items():
        assert parent is None or name in of.taxonomy.children(parent)


def test_the_loss_is_half_the_edges_to_the_nearest_true_class():
    of = model("svm")
    apply(of, learn("a", a="x"), Event.place({"b": "x", "c": "y", "y": "z"}))
    assert of.progress.taxonomic_loss.mean(100) == 0.5 * 2  # nothing ranked: from the root
    for name, edges in (("a", 0), ("b", 2)):
        before = of.progress.taxonomic_loss.total
        apply(of, learn(name))
        assert of.progress.taxonomic_loss.total - before == edges
    apply(of, Event.learn(INSTANCE, ["c", "a"]))
    assert of.progress.taxonomic_loss.examples == 4
    loaded = Model.load([b"".join(map(bytes, of.dump()))])
    assert loaded.progress.taxonomic_loss.mean(10) == of.progress.taxonomic_loss.mean(10)


def test_without_a_taxonomy_there_is_no_loss():
    of = model()
    apply(of, learn("a"))
    assert of.progress.taxonomic_loss.mean(100) is None
    assert not [name for name in of.freeze().arrays if "taxonom" in name]

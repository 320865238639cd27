"""The descriptions and vectors of a model: limits, dimensions, and renamed classes."""

import pytest

from manyclass.core.errors import DescriptionsFull, DimensionConflict
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model


def test_a_forgotten_class_loses_its_description_and_a_renamed_one_keeps_it() -> None:
    model = Model(Options.of("svm"))
    for seq, name in enumerate(("a", "b"), 1):
        model.apply(seq, Event.learn(Instance([name]), [name]))
    model.apply(3, Event.describe("a", {"title": "First"}))
    model.apply(4, Event.rename("a", "c"))
    assert {name: each.title for name, each in model.descriptions.items()} == {"c": "First"}
    model.apply(5, Event.describe("a", {"title": "Renamed"}))  # by its former name
    assert model.descriptions["c"].title == "Renamed"
    model.apply(6, Event.forget_class("c"))
    assert len(model.descriptions) == 0


def test_of_two_merged_classes_the_remaining_one_keeps_its_own_description() -> None:
    model = Model(Options.of("svm"))
    for seq, name in enumerate(("a", "b"), 1):
        model.apply(seq, Event.learn(Instance([name]), [name]))
    model.apply(3, Event.describe("a", {"title": "First"}))
    model.apply(4, Event.describe("b", {"title": "Second"}))
    model.apply(5, Event.rename("a", "b", merges=True))
    assert {name: each.title for name, each in model.descriptions.items()} == {"b": "Second"}


def test_descriptions_that_are_taken_over_rank_as_those_of_the_other_model() -> None:
    one, other = Model(Options.of("svm")), Model(Options.of("svm"))
    one.apply(1, Event.describe("gone", {"title": "lost card"}))
    one.apply(2, Event.describe("kept", {"title": "old limit"}))
    other.apply(1, Event.describe("kept", {"title": "new limit"}))
    one.take_descriptions(other)
    assert dict(one.descriptions) == dict(other.descriptions)
    for text in ("lost card", "old", "new"):
        instance = one.text.instance_of(text, 100).instance
        assert one.rank(instance) == other.rank(instance)


def test_as_many_classes_are_described_as_the_limit_of_classes() -> None:
    model = Model(Options.parse("svm").replace(max_classes=3))
    for number in range(3):
        model.apply(number + 1, Event.describe(f"c{number}", {"title": "one"}))
    model.apply(4, Event.rename("c2", "d"))
    new = Event.describe("e", {"title": "one"})
    with pytest.raises(DescriptionsFull, match="be those of 3 classes; remove some, with null"):
        model.check(new)
    model.check(Event.describe("c2", {"title": "another"}))  # a former name of d
    model.check(Event.describe("e", {"title": None}))
    model.check(Event.learn(Instance(["a"]), ["e"]))
    model.apply(5, Event.describe("d", {"title": None}))
    model.check(new)
    with pytest.raises(DescriptionsFull):
        model.check_all([new, Event.describe("f", {"vector": [1.0, 2.0]})])


def describe_many(model: Model, part: dict[str, object]) -> None:
    for number in range(1000):
        event = Event.describe(f"c{number}", part)
        model.check(event)
        model.apply(model.seq + 1, event)


@pytest.mark.parametrize(
    "part", [{"title": "one"}, {"description": "word " * 4000}, {"vector": [1.0, 2.0]}]
)
def test_descriptions_take_at_most_a_quarter_of_the_limit_of_bytes(part: dict[str, object]) -> None:
    model = Model(Options.parse("svm").replace(max_bytes=2**20))
    with pytest.raises(DescriptionsFull, match="262,144 bytes, a quarter of MANYCLASS_MAX_BYTES"):
        describe_many(model, part)
    assert model.seq > 3
    model.check(Event.describe("c1", {"title": None}))
    for name in [*model.descriptions]:
        model.apply(model.seq + 1, Event.describe(name, dict.fromkeys(part)))
    assert model.evidence.bytes_of_descriptions == 0
    model.check(Event.describe("c1", part))


def test_vectors_of_one_request_have_one_dimension() -> None:
    model = Model(Options.of("svm"))
    events = [Event.learn(Instance(["a"], [1.0] * count), ["x"]) for count in (3, 4)]
    with pytest.raises(DimensionConflict, match="4 numbers; another one of the request has 3") as e:
        model.check_all([events[0], Event.learn(Instance(["a"]), ["x"]), events[1]])
    assert e.value.position == 2
    described = [Event.describe("y", {"vector": [1.0, 2.0]}), events[0]]
    with pytest.raises(DimensionConflict, match="3 numbers; another one of the request has 2") as e:
        model.check_all(described)
    assert e.value.position == 1

"""The classes that a ranking can have: their number, their pages and their events."""

import random
from threading import Thread

import pytest

from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model

WORDS, VECTOR = Instance(["w"]), Instance([], [1.0, 2.0])
BOTH = Instance(["w"], [2.0, 1.0])


def taught(*events, learner="svm"):
    """Return a model that has applied the events."""
    model = Model(Options.of(learner))
    for event in events:
        model.apply(model.seq + 1, event)
    return model


def listed(model, order="name", prefix="", limit=3):
    """Return all classes of the pages with so many classes each."""
    found, after = [], ""
    while page := model.classes.page(order, prefix, after, limit):
        found += page
        after = page[-1][0]
    return found


KINDS = [
    Event.learn(WORDS, ["words"]),
    Event.learn(VECTOR, ["vector"]),
    Event.learn(VECTOR, ["vector", "other"], weight=0.5),
    Event.learn(BOTH, ["both"]),
    Event.describe("title", {"title": "A title"}),
    Event.describe("sign", {"title": "!"}),  # without a word
    Event.describe("own", {"vector": [1.0, 1.0]}),
    Event.place({"placed": "top"}),
]
COUNTED = {"words": 1, "vector": 2, "other": 1, "both": 1, "title": 0, "sign": 0, "own": 0}


def test_all_kinds_of_classes_are_counted_and_listed():
    model = taught(*KINDS)
    for each in (model, Model.load(model.dump())):
        assert len(each.classes) == len(COUNTED)
        assert listed(each) == sorted(COUNTED.items())
        unlearned = sorted(COUNTED.keys() - {"words", "both"})
        for order in ("events", "newest"):
            names = [name for name, _ in listed(each, order)]
            assert sorted(names[:2]) == ["both", "words"]
            assert names[2:] == unlearned
        assert listed(each, prefix="o") == [("other", 1), ("own", 0)]
        assert {name: each.classes.taught(name) for name in COUNTED} == COUNTED
        assert all(name in each.classes for name in COUNTED)
        assert not any(name in each.classes for name in ("placed", "top", "w", ""))


@pytest.mark.parametrize("kind", COUNTED)
def test_a_forgotten_class_is_counted_no_more(kind):
    model = taught(*KINDS, Event.forget_class(kind))
    assert kind not in model.classes
    assert len(model.classes) == len(listed(model)) == len(COUNTED) - 1


@pytest.mark.parametrize("kind", COUNTED)
def test_a_renamed_class_is_counted_under_its_new_name(kind):
    model = taught(*KINDS)
    listed(model)  # the order of the names is built
    model.apply(model.seq + 1, Event.rename(kind, "new"))
    expected = COUNTED | {"new": COUNTED[kind]}
    del expected[kind]
    assert listed(model) == sorted(expected.items())
    assert len(model.classes) == len(expected)


@pytest.mark.parametrize("kind", COUNTED)
def test_a_merged_class_is_counted_no_more(kind):
    for into in COUNTED.keys() - {kind}:
        model = taught(*KINDS, Event.rename(kind, into, merges=True))
        assert kind not in model.classes
        assert len(model.classes) == len(listed(model)) == len(COUNTED) - 1


def test_pages_are_right_after_any_changes():
    chance = random.Random(0)
    model = Model(Options.of("svm"))
    for step in range(4000):
        name = f"{chance.choice('abc')}{chance.randrange(60)}"
        event = chance.choice(
            [
                Event.learn(chance.choice([WORDS, VECTOR, BOTH]), [name]),
                Event.describe(name, {"title": chance.choice([None, "!", "Title"])}),
                Event.forget_class(name),
                Event.rename(name, f"d{step}"),
            ]
        )
        if event.kind in ("forget_class", "rename") and not model.has_class(name):
            continue
        model.apply(model.seq + 1, event)
        if step % 50 == 0:
            expected = [each for each, _ in model.learner.class_page("", "", 10_000)]
            expected += [*model.descriptions]
            names = {f"{letter}{number}" for letter in "abc" for number in range(60)}
            names |= {f"d{number}" for number in range(step + 1)}
            expected += [each for each in names if model.evidence.events_of(each) > 0]
            limit = chance.randrange(1, 80)
            assert [each for each, _ in listed(model, limit=limit)] == sorted({*expected})
            assert len(model.classes) == len({*expected})


def test_many_classes_beside_the_learner_are_listed_in_order():
    model = Model(Options.of("svm"))
    for number in random.Random(1).sample(range(5000), 5000):
        model.apply(model.seq + 1, Event.describe(f"c{number}", {"title": f"t{number}"}))
    names = sorted(f"c{number}" for number in range(5000))
    assert [name for name, _ in listed(model, limit=700)] == names
    assert model.classes.page("name", "c4", "c42", 2) == [("c420", 0), ("c4200", 0)]
    assert len(model.classes) == 5000


def test_pages_can_be_read_while_classes_come_and_go():
    chance = random.Random(2)
    model = Model(Options.of("svm"))
    steady = [f"s{number:03}" for number in range(200)]
    for name in steady:
        model.apply(model.seq + 1, Event.learn(VECTOR, [name]))
    failed: list[list[str]] = []
    is_over = False

    def read():
        while not is_over:
            names = [name for name, _ in listed(model, limit=37)]
            if names != sorted({*names}) or [each for each in names if each[0] == "s"] != steady:
                failed.append(names)

    readers = [Thread(target=read) for _ in range(2)]
    for each in readers:
        each.start()
    for _ in range(1500):
        name = f"{chance.choice('rt')}{chance.randrange(300)}"
        known = model.has_class(name)
        event = Event.forget_class(name) if known else Event.learn(BOTH, [name, "s000"])
        if not known and chance.random() < 0.5:
            event = Event.describe(name, {"title": "Title"})
        model.apply(model.seq + 1, event)
    is_over = True
    for each in readers:
        each.join()
    assert failed == []

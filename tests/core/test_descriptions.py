"""Descriptions of classes: what they accept, how events carry them, and that they go."""

import numpy as np
import pytest

from manyclass.core.descriptions import MOST_OTHER_NAMES, Description, Descriptions
from manyclass.core.errors import InstanceError, SnapshotError
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.snapshot import Arrays

WHOLE = {
    "title": "Lost card",
    "description": "A card was lost, or it was stolen.",
    "alt_labels": ["Karte verloren", "कार्ड खो गया"],
    "vector": [1.0, 2.0, 2.0],
}


def test_an_event_reads_back_as_it_was_written() -> None:
    event = Event.describe("card_lost", WHOLE)
    read = Event.from_bytes(bytes(event))
    assert (read.kind, read.name) == ("describe", "card_lost")
    assert read.described == event.described
    vector = read.described["vector"]
    assert isinstance(vector, Instance)
    assert vector.vector is not None
    assert vector.vector.tolist() == [1365, 2731, 2731]  # thirds of 4096


def test_changes_replace_remove_and_keep_parts() -> None:
    model = Model(Options.of("svm"))
    model.apply(1, Event.describe("card_lost", WHOLE))
    model.apply(2, Event.describe("card_lost", {"title": " Card lost ", "vector": None}))
    kept = model.descriptions["card_lost"]
    assert (kept.title, kept.description) == ("Card lost", WHOLE["description"])
    assert kept.alt_labels == ("Karte verloren", "कार्ड खो गया")
    assert kept.vector is None


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, "give one of them"),
        ({"titel": "a"}, "'titel'"),
        ({"title": 5}, "title must be a string"),
        ({"title": "x" * 1001}, "at most 1000 characters"),
        ({"description": "\ud800"}, "not valid Unicode"),
        ({"alt_labels": "a"}, "array of strings"),
        ({"alt_labels": ["a", 5]}, "must be a string"),
        ({"alt_labels": ["a"] * (MOST_OTHER_NAMES + 1)}, "at most 100"),
        ({"vector": [1.0]}, "from 2 to 3072 numbers"),
        ({"vector": [0.0, 0.0]}, "not all of them 0"),
        ({"vector": [1.0, float("nan")]}, "must be finite"),
        ({"vector": "abc"}, "array of numbers"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, object], fault: str) -> None:
    with pytest.raises(InstanceError, match=fault):
        Event.describe("card_lost", changes)


def test_a_model_without_the_description_again_has_the_digest_of_one_that_never_had_it() -> None:
    never, had = Model(Options.of("svm")), Model(Options.of("svm"))
    for model in (never, had):
        model.apply(1, Event.describe("other", {"title": "Other"}))
    had.apply(2, Event.describe("card_lost", WHOLE))
    assert had.digest() != never.digest()
    removed: dict[str, object] = dict.fromkeys(WHOLE)
    had.apply(3, Event.describe("card_lost", removed))
    never.pass_over(2)
    assert had.digest() == never.digest()


def test_a_snapshot_gives_the_same_descriptions() -> None:
    model = Model(Options.of("svm"))
    for seq, name in enumerate(("c", "a", "b"), 1):
        model.apply(seq, Event.describe(name, {**WHOLE, "title": f"Class {name}"}))
    loaded = Model.load(model.dump())
    assert loaded.digest() == model.digest()
    assert dict(loaded.descriptions) == dict(model.descriptions)
    assert [each.since for each in loaded.descriptions.values()] == [2, 3, 1]


def sections() -> Arrays:
    descriptions = Descriptions()
    descriptions.put("a", Description("A", None, ("b",), Instance({}, [1.0, 2.0])))
    return descriptions.dump()


@pytest.mark.parametrize("name", ["descriptions", "description_vectors"])
@pytest.mark.parametrize("fault", ["cut short", "missing", "damaged", "longer"])
def test_damaged_sections_are_refused(name: str, fault: str) -> None:
    arrays = sections()
    if fault == "cut short":
        arrays[name] = arrays[name][:-1]
    elif fault == "missing":
        del arrays[name]
    elif fault == "damaged":
        arrays[name] = arrays[name].copy()
        arrays[name][len(arrays[name]) - 1] ^= 0xFF  # type: ignore[operator]
    else:
        arrays[name] = np.append(arrays[name], np.uint8(0))
    with pytest.raises(SnapshotError):
        Descriptions.load(arrays)

"""The outcomes that a calibration keeps: the class ranked first, its confidence, and the source."""

import random

import numpy as np
import pytest

from manyclass.core.calibration import MOST_OUTCOMES, Calibration
from manyclass.core.errors import SnapshotError
from manyclass.core.event import Event
from manyclass.core.instance import Instance
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from tests.core.specifications import SPECIFICATIONS

EVERYTHING = 10**6
FIRST_KEPT = 100  # earlier outcomes have no confidence
LONGEST_NAME = 4096
MOST_NAME_BYTES = 8 * 2**20


def drawn(count, seed=0, classes=6):
    """Return events whose features tell the class, mostly."""
    chance = random.Random(seed)
    events = []
    for _ in range(count):
        label = chance.randrange(classes)
        told = label if chance.random() < 0.8 else chance.randrange(classes)
        features = {f"of {told}": 1.0, f"f{chance.randrange(30)}": chance.choice([0.5, 1.0])}
        source = chance.choice([None, "web", "desk"])
        events.append(Event.learn(Instance(features), [f"c{label}"], source=source))
    return events


def taught(events, specification="svm", shadows=()):
    model = Model(ModelSet(Options.parse(specification), tuple(map(Options.parse, shadows))))
    for seq, event in enumerate(events, 1):
        model.apply(seq, event)
    return model


def groups(model, by="class", targets=()):
    calibration = model.answering.calibration
    found = calibration.groups(by, EVERYTHING, model.aliases, targets, 0, EVERYTHING)
    return {each.name: (each.outcomes, each.right) for each in found.groups}


def counted(pairs):
    """Return {name: (outcomes, right)} of pairs (name, is right)."""
    found = {}
    for name, is_right in pairs:
        outcomes, right = found.get(name, (0, 0))
        found[name] = (outcomes + 1, right + is_right)
    return found


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_the_class_is_the_one_that_a_ranking_just_before_puts_first(specification):
    model = Model(Options.parse(specification))
    firsts = []
    for seq, event in enumerate(drawn(300), 1):
        ranked = model.rank(event.instance, 1)
        model.apply(seq, event)
        if ranked:
            firsts.append((ranked[0][0], ranked[0][0] in event.classes))
    kept = groups(model)
    assert kept == counted(firsts[-sum(outcomes for outcomes, _ in kept.values()) :])
    assert sum(right for _, right in kept.values()) > 0


def test_sources_are_those_of_the_events():
    events = drawn(400)
    model = Model(Options.parse("svm"))
    outcomes = []
    for seq, event in enumerate(events, 1):
        outcomes.append((event.source, model.apply(seq, event).rank == 1))
    ranked_since = model.answering.calibration.curve(EVERYTHING, {}).outcomes
    expected = counted(outcomes[-ranked_since:])
    del expected[None]
    assert groups(model, "source") == expected


def test_a_shadow_keeps_what_it_would_keep_as_the_primary():
    events = drawn(300)
    alone = taught(events, "arow").answering.calibration.dump()
    primary, shadow = taught(events, "svm", ["arow"]).enrolled
    beside = shadow.calibration.dump()
    assert all(alone[name].tobytes() == beside[name].tobytes() for name in alone)
    native = taught(events, "svm").answering.calibration.dump()
    python = primary.calibration.dump()
    assert all(native[name].tobytes() == python[name].tobytes() for name in native)


def test_an_instance_without_a_class_reaches_no_limit():
    model = taught(drawn(300))
    before = model.answering.calibration.curve(EVERYTHING, {})
    model.apply(model.seq + 1, Event.learn(Instance({"never seen": 1.0}), ["c0"], source="new"))
    model.apply(model.seq + 1, Event.learn(Instance({}), ["c0"], source="new"))
    after = model.answering.calibration.curve(EVERYTHING, {})
    assert after.outcomes == before.outcomes + 2
    assert (after.right, after.points) == (before.right, before.points)
    assert groups(model, "source")["new"] == (2, 0)
    assert sum(outcomes for outcomes, _ in groups(model).values()) == after.outcomes - 2


def test_renamed_and_merged_classes_have_their_present_names():
    model = taught(drawn(400))
    before = groups(model)
    model.apply(model.seq + 1, Event.rename("c0", "hockey"))
    model.apply(model.seq + 1, Event.rename("c1", "c2", merges=True))
    expected = {name: of for name, of in before.items() if name not in ("c0", "c1")}
    expected["hockey"] = before["c0"]
    expected["c2"] = tuple(np.add(before["c1"], before["c2"]).tolist())
    assert groups(model) == expected
    loaded = Model.load(model.dump())
    assert groups(loaded) == expected
    assert loaded.digest() == model.digest()


def test_a_forgotten_class_loses_its_name_and_its_outcomes_stay():
    model = taught(drawn(400))
    before = model.answering.calibration.curve(EVERYTHING, {})
    model.apply(model.seq + 1, Event.rename("c0", "hockey"))
    model.apply(model.seq + 1, Event.forget_class("hockey"))
    after = model.answering.calibration.curve(EVERYTHING, {})
    assert (after.outcomes, after.points) == (before.outcomes, before.points)
    assert not {"c0", "hockey"} & groups(model).keys()
    assert b"hockey" not in model.answering.calibration.dump()["calibration_names"].tobytes()
    assert b"c0" not in model.answering.calibration.dump()["calibration_names"].tobytes()


def ready(outcomes=FIRST_KEPT):
    """Return a calibration that keeps every outcome from here on."""
    calibration = Calibration()
    for number in range(outcomes):
        calibration.add(2.0, 1.0, number % 2 == 0)
    return calibration


def test_the_oldest_outcomes_leave_first():
    calibration = ready()
    for number in range(MOST_OUTCOMES + 5):
        calibration.add(2.0, 1.0, True, f"class {number}")
    page = calibration.groups("class", EVERYTHING, {}, [], 0, EVERYTHING)
    names = {each.name for each in page.groups}
    assert names == {f"class {number}" for number in range(5, MOST_OUTCOMES + 5)}
    assert calibration.resident_bytes < 20_000_000


def test_long_names_bound_the_outcomes():
    calibration = ready()
    fitting = MOST_NAME_BYTES // LONGEST_NAME
    for number in range(fitting + 7):
        calibration.add(2.0, 1.0, True, "one class", f"{number} ".ljust(LONGEST_NAME, "x"))
    assert calibration.curve(EVERYTHING, {}).outcomes == fitting - 1
    loaded = Calibration.load(calibration.dump())
    assert loaded.dump()["calibration_names"].tobytes() == (
        calibration.dump()["calibration_names"].tobytes()
    )


def test_equal_outcomes_make_equal_dumps_whatever_ids_their_names_had():
    calibration = ready()
    for number in range(50):
        calibration.add(2.0, 1.0, True, f"class {number}", "web")
    for number in range(10):
        calibration.forget_class(f"class {3 * number}")
    loaded = Calibration.load(calibration.dump(), hash_seed=7)
    for each in (calibration, loaded):
        for number in range(60, 0, -1):
            each.add(3.0, 1.0, False, f"class {number}", f"source {number % 5}")
    ours, theirs = calibration.dump(), loaded.dump()
    assert all(ours[name].tobytes() == theirs[name].tobytes() for name in ours)


def small():
    calibration = ready()
    for number in range(6):
        calibration.add(2.0, 1.0, True, f"class {number % 3}", "web" if number % 2 else None)
    return calibration.dump()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("calibration_outcomes", lambda array: np.array([array[0], 3], "<u8")),
        ("calibration_confidences", lambda array: np.append(array, np.float32(0.5))),
        ("calibration_confidences", lambda array: np.full_like(array, np.nan)),
        ("calibration_right", lambda array: array[:-1]),
        ("calibration_classes", lambda array: array + np.uint32(9)),
        ("calibration_classes", lambda array: array[::-1]),
        ("calibration_sources", lambda array: array + np.uint32(9)),
        ("calibration_sources", lambda array: array[:-1]),
        ("calibration_name_sizes", lambda array: array[:-1]),
        ("calibration_name_sizes", lambda array: array * np.uint16(0)),
        ("calibration_name_sizes", lambda array: array * np.uint16(1000)),
        ("calibration_names", lambda array: np.full_like(array, 0xFF)),
        ("calibration_names", lambda array: np.full_like(array, ord("x"))),
        ("calibration_names", lambda array: array[:-1]),
    ],
)
def test_outcomes_that_cannot_be_are_refused(name, change):
    sections = small()
    sections[name] = np.ascontiguousarray(change(sections[name]))
    with pytest.raises(SnapshotError) as refused:
        Calibration.load(sections)
    assert refused.value.section.startswith("calibration_")

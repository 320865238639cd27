"""Values below 0: used by learners with signed weights, absent to all others."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.core import snapshot
from manyclass.core.abilities import has_features, names_without_signs
from manyclass.core.columns import Columns
from manyclass.core.errors import EventError, InstanceError, SnapshotError
from manyclass.core.event import Event
from manyclass.core.event_batch import EventBatch
from manyclass.core.instance import LARGEST_VALUE, SMALLEST_VALUE, Instance
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.model import Model
from manyclass.core.model_set import ModelSet
from tests.core.csr import instances_of, rows_of
from tests.core.dumps import assert_same_state
from tests.core.specifications import SPECIFICATIONS

SIGNED = {"pa", "mmp", "arow", "svm", "path", "hieron"}
FEATURES, CLASSES = ["f", "g", "h", "i"], ["a", "b", "c"]


def every(specification):
    options = Options.parse(specification)
    return options.member_options or (options,)


WITH_SIGNS = [each for each in SPECIFICATIONS if all(o.learner in SIGNED for o in every(each))]
WITHOUT_SIGNS = [
    each for each in SPECIFICATIONS if not any(o.learner in SIGNED for o in every(each))
]

values = st.sampled_from([1.0, 0.5, 3.0, -1.0, -0.25, -7.5, 100.0, -100.0])
lessons = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(FEATURES), values, min_size=1, max_size=4),
        st.lists(st.sampled_from(CLASSES), min_size=1, max_size=2, unique=True),
    ),
    min_size=1,
    max_size=30,
)


def taught(specification, lessons):
    learner = make(Options.parse(specification))
    for instance, classes in lessons:
        learner.learn(Instance(instance), classes)
    return learner


# --- instances ------------------------------------------------------------------------------------


def test_an_instance_keeps_values_below_0():
    features = {"a": -1.0, "b": 2.5, "c": -LARGEST_VALUE, "d": -SMALLEST_VALUE, "e": -1e-31, "f": 0}
    instance = Instance(features)
    assert instance.items() == [*features.items()][:4]
    assert (len(instance), instance.is_signed) == (4, True)
    assert Instance.from_bytes(bytes(instance)) == instance
    assert Instance.from_json(json.dumps(features).encode()) == instance
    assert not Instance({"a": 1, "b": -1e-31}).is_signed
    assert Instance({"a": -0.0}) == Instance({})


def test_the_bytes_of_other_instances_are_as_before():
    assert bytes(Instance({"a": 1, "b": 2})) == struct.pack(
        "<IH1sH1sd", 2, 1 << 1, b"a", 1 << 1 | 1, b"b", 2.0
    )


@pytest.mark.parametrize("value", [-1e31, float("-inf"), -(10**400), float("nan")])
def test_values_far_below_0_are_refused(value):
    with pytest.raises(InstanceError, match="must be a finite number from -1e"):
        Instance({"a": value})


@pytest.mark.parametrize("features", [{"a": -1.0, "b": 2.0}, {"a": 1.0, "b": 2.0}])
def test_bytes_that_say_wrongly_whether_a_value_is_below_0_are_refused(features):
    data = bytearray(bytes(Instance(features)))
    data[3] ^= 0x80
    with pytest.raises(EventError, match="below 0"):
        Instance.from_bytes(bytes(data))


def test_an_event_with_values_below_0_reads_back():
    event = Event.learn(Instance({"a": -2.0, "b": 1}), ["x"], "id", 7, weight=2.0)
    assert Event.from_bytes(bytes(event)).instance.items() == [("a", -2.0), ("b", 1.0)]


# --- learners with signed weights -----------------------------------------------------------------


def test_learners_are_with_and_without_signs():
    declared = {o.learner for each in SPECIFICATIONS for o in every(each) if o.spec.takes_signs}
    assert declared == SIGNED | {"frequency"}


@pytest.mark.parametrize("specification", WITH_SIGNS)
def test_a_class_is_told_by_the_sign_of_a_value(specification):
    learner = taught(specification, [({"f": 2.0}, ["a"]), ({"f": -2.0}, ["b"])] * 10)
    assert learner.rank(Instance({"f": 3.0}), 1)[0][0] == "a"
    assert learner.rank(Instance({"f": -3.0}), 1)[0][0] == "b"
    ((feature, part),) = learner.explain(Instance({"f": -3.0}), ["a"])[0]
    assert feature == "f"
    assert part <= 0


@pytest.mark.parametrize("specification", [each for each in WITH_SIGNS if "members" not in each])
@given(lessons, st.sets(st.sampled_from(FEATURES)))
def test_a_feature_with_the_other_sign_everywhere_makes_no_difference(specification, given, turned):
    """Every step keeps the sign of a value: f(-x) = -f(x)."""

    def turn(instance):
        return {name: -value if name in turned else value for name, value in instance.items()}

    learner = taught(specification, given)
    other = taught(specification, [(turn(instance), classes) for instance, classes in given])
    for instance, _ in given[-5:]:
        probe, mirrored = Instance(instance), Instance(turn(instance))
        assert learner.rank(probe) == other.rank(mirrored)
        assert learner.explain(probe, CLASSES) == other.explain(mirrored, CLASSES)


@pytest.mark.parametrize("specification", WITH_SIGNS)
def test_a_state_with_values_below_0_is_loaded(specification):
    given = [({"f": -2.0, "g": 1.0}, ["a"]), ({"f": 1.0, "h": -0.5}, ["b"])] * 5
    model = Model(Options.parse(specification))
    for seq, (instance, classes) in enumerate(given, 1):
        model.apply(seq, Event.learn(Instance(instance), classes))
    loaded = Model.load(model.dump())
    assert loaded.digest() == model.digest()
    for each in (model, loaded):
        each.apply(11, Event.learn(Instance({"f": -1.0, "i": 2.0}), ["c"]))
    assert loaded.digest() == model.digest()


# --- other learners -------------------------------------------------------------------------------


@pytest.mark.parametrize("specification", WITHOUT_SIGNS)
@given(lessons)
def test_values_below_0_are_absent_to_other_learners(specification, given):
    def above_0(instance):
        return {name: value for name, value in instance.items() if value > 0}

    model, other = (Model(Options.parse(specification)) for _ in range(2))
    for seq, (instance, classes) in enumerate(given, 1):
        outcome = model.apply(seq, Event.learn(Instance(instance), classes))
        expected = other.apply(seq, Event.learn(Instance(above_0(instance)), classes))
        assert outcome[:3] == expected[:3]
        assert model.rank(Instance(instance)) == other.rank(Instance(above_0(instance)))
    if "shuffle" not in specification:  # it keeps events as they are
        assert model.digest() == other.digest()


@pytest.mark.parametrize("specification", ["ff(replay=2)", "oplt(replay=2)"])
def test_a_state_with_values_below_0_of_another_learner_is_refused(specification):
    model = Model(Options.parse(specification))
    model.apply(1, Event.learn(Instance({"f": 2.0}), ["a"]))
    facts, arrays = snapshot.read(model.dump())
    [name] = [each for each in arrays if each.endswith("kept_feature_values")]
    arrays[name] = -arrays[name]
    with pytest.raises(SnapshotError, match="value out of range"):
        Model.load(snapshot.write(facts, arrays))


# --- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "specification", [each for each in SPECIFICATIONS if not Options.parse(each).builds_offline]
)
def test_rows_are_learned_as_instances_are(specification):
    given = [({"f": -2.0, "g": 1.0}, ["a"]), ({"f": 1.0, "h": -0.5}, ["b"]), ({"g": -3.0}, ["a"])]
    one = taught(specification, given)
    rows = make(Options.parse(specification))
    features, classes = Columns(FEATURES), Columns(CLASSES)
    labelled = (
        *(features, *instances_of(FEATURES, [instance for instance, _ in given])),
        *(classes, *rows_of(CLASSES, [true for _, true in given])),
    )
    rows.learn_csr(*labelled)
    assert_same_state(one, rows)


@pytest.mark.parametrize("value", [-1e31, float("-inf")])
def test_rows_with_values_far_below_0_are_refused(value):
    rows = (np.array([0, 1], np.int64), np.array([0], np.int32), np.array([value], np.float32))
    with pytest.raises(ValueError, match="not a finite number"):
        make(Options.of("svm")).rank_csr(Columns(["f"]), *rows)


# --- models ---------------------------------------------------------------------------------------


def test_each_learner_of_a_model_decides_for_itself():
    committee = Options.of("committee", members="svm+ff")
    model = Model(ModelSet(Options.of("svm"), (Options.of("ff"), committee)))
    for seq in range(1, 11):
        instance, name = ({"f": 1.0}, "a") if seq % 2 else ({"f": -1.0}, "b")
        model.apply(seq, Event.learn(Instance(instance), [name]))
    assert model.rank(Instance({"f": -1.0}), 1)[0][0] == "b"
    assert not model.shadows["ff"].learner.has_class("b")  # it would never be ranked
    assert model.shadows["ff"].learner.features == 1
    voting = model.shadows[committee.specification].learner
    assert [name for name, _ in voting.rank(Instance({"f": -1.0}), 1)] == ["b"]


@pytest.mark.parametrize(
    ("learners", "expected"),
    [
        (["svm"], []),
        (["svm", "frequency"], []),
        (["ff", "svm", "ff(rating=0)"], ["ff"]),
        (["committee(members=svm+ff+oplt)"], ["ff", "oplt"]),
        (["committee(members=svm+pa)"], []),
    ],
)
def test_learners_without_signs_are_named(learners, expected):
    assert names_without_signs(map(Options.parse, learners)) == expected


@pytest.mark.parametrize(
    ("learner", "features", "expected"),
    [
        ("svm", {"f": -1.0}, True),
        ("ff", {"f": -1.0}, False),
        ("ff", {"f": -1.0, "g": 0.1}, True),
        ("ff", {}, False),
        ("svm", {"f": 0.0}, False),
        ("committee(members=ff+oplt)", {"f": -1.0}, False),
        ("committee(members=ff+svm)", {"f": -1.0}, True),
    ],
)
def test_an_instance_has_features_for_a_learner(learner, features, expected):
    assert has_features(Instance(features), Options.parse(learner)) is expected


def test_a_promoted_learner_uses_the_values_that_another_left_out():
    """The events keep them."""
    model = Model(ModelSet(Options.of("ff"), (Options.of("pa"),)))
    for seq in range(1, 9):
        instance, name = ({"f": 1.0}, "a") if seq % 2 else ({"f": -1.0, "g": 0.01}, "b")
        event = Event.learn(Instance(instance), [name])
        model.apply(seq, Event.from_bytes(bytes(event)))
    model.apply(9, Event.promote("pa"))
    assert model.rank(Instance({"f": -1.0}), 1)[0][0] == "b"


def test_a_correction_without_features_for_the_learner_makes_no_class():
    model = Model(Options.of("ff"))
    model.apply(1, Event.learn(Instance({"f": -1.0}), ["a"]))
    model.apply(2, Event.amend(1, Instance({"f": -1.0}), ["b"], ["a"]))
    assert model.learner.classes == 0


def test_no_batch_has_values_below_0():
    """It is learned without the check of features that a learner without signs needs."""
    with pytest.raises(ValueError, match="all above 0"):
        EventBatch().add(Instance({"f": -1.0, "g": 1.0}), ["a"])

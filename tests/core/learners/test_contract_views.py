"""The contract of every learner: views, refused input and damaged dumps."""

import numpy as np
import pytest

from manyclass.core.columns import Columns
from manyclass.core.errors import InstanceError, OptionError, SnapshotError
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import LEARNERS
from tests.core.csr import instances_of, rows_of
from tests.core.dumps import assert_same_state
from tests.core.learners.contract import (
    CLASSES,
    FEATURES,
    LESSONS,
    PROBES,
    assert_is_ranking,
    every_learner,
    has_edges,
    heeds_features,
    learners_that,
    names,
    taught,
)

# --- inspection -------------------------------------------------------------------------------


@every_learner
def test_counters(specification):
    learner = taught(specification)
    assert learner.learned == len(LESSONS)
    assert learner.classes == len(CLASSES)
    assert learner.resident_bytes > 0
    assert 0 < learner.bytes < 2**20
    degrees = learner.outdegrees()
    assert degrees.dtype == np.int64
    edges = (degrees * np.arange(len(degrees))).sum()
    assert edges == learner.edges or (edges < learner.edges and not has_edges(specification))
    if heeds_features(specification):
        assert learner.features == len(FEATURES)
        assert learner.edges > 0


@every_learner
def test_classes_by_page(specification):
    learner = taught(specification)
    times = {name: sum(name in classes for _, classes in LESSONS) for name in CLASSES}
    everything = [(name, times[name]) for name in sorted(CLASSES, key=str.encode)]
    assert learner.class_page("", "", 100) == everything
    assert learner.class_page("", everything[3][0], 4) == everything[4:8]
    assert learner.class_page("<class 1", "", 100) == [
        each for each in everything if each[0].startswith("<class 1")
    ]
    for name in CLASSES:
        assert learner.class_(name)["learned"] == times[name]
    first = {name: next(n for n, (_, of) in enumerate(LESSONS) if name in of) for name in CLASSES}
    newest = learner.classes_by("newest", "", "", 100)
    assert sorted(newest) == sorted(everything)
    assert [first[name] for name, _ in newest] == sorted(first.values(), reverse=True)
    frequent = learner.classes_by("events", "", "", 100)
    assert sorted(frequent) == sorted(everything)
    assert [learned for _, learned in frequent] == sorted(times.values(), reverse=True)
    assert learner.classes_by("events", "", frequent[2][0], 3) == frequent[3:6]
    assert learner.classes_by("newest", "", newest[-1][0], 3) == []
    assert learner.classes_by("newest", "", "nobody", 3) == []
    assert learner.classes_by("newest", "<class 1", "", 100) == [
        each for each in newest if each[0].startswith("<class 1")
    ]
    ids = learner.class_ids(Columns([*CLASSES, "nobody"])).tolist()
    assert ids[-1] == -1
    assert len(set(ids)) == len(ids)


@learners_that(heeds_features)
def test_features_by_page(specification):
    learner = taught(specification)
    everything = [
        (name, learner.feature(name)["times_seen"]) for name in sorted(FEATURES, key=str.encode)
    ]
    assert learner.feature_page("", "", 100) == everything
    assert learner.feature_page("", everything[3][0], 4) == everything[4:8]
    assert learner.feature_page("<feature 2", "", 100) == [
        each for each in everything if each[0].startswith("<feature 2")
    ]


@learners_that(heeds_features)
def test_features_and_classes_show_the_same_edges(specification):
    learner = taught(specification)
    of_features, of_classes = {}, {}
    for feature in FEATURES:
        view = learner.feature(feature)
        assert view["outdegree"] == len(view["edges"])
        assert view["times_seen"] > 0
        weights = [abs(weight) for _, weight in view["edges"]]
        assert weights == sorted(weights, reverse=True)
        of_features |= {(feature, name): weight for name, weight in view["edges"]}
    for name in CLASSES:
        weighted = learner.class_(name, 1000)["features"]
        weights = [abs(weight) for _, weight in weighted]
        assert weights == sorted(weights, reverse=True)
        assert learner.class_(name, 3)["features"] == weighted[:3]
        of_classes |= {(feature, name): weight for feature, weight in weighted}
    assert of_features == of_classes


# --- refused input ----------------------------------------------------------------------------


@every_learner
def test_refused_input_changes_nothing(specification):
    learner, left_alone = taught(specification), taught(specification)
    for instance in (["x" * 5000], {"f": float("nan")}, {"f": 1e31}, {"": 1.0}, {"f": "1"}):
        with pytest.raises(InstanceError):
            learner.learn(instance, ["new"])
        with pytest.raises(InstanceError):
            learner.rank(instance)
    for classes in ([], "abc", ["new", ""], ["x" * 5000], ["\ud800"]):
        with pytest.raises(InstanceError):
            learner.learn(["new"], classes)

    features, classes = Columns(FEATURES), Columns(CLASSES)
    row = instances_of(FEATURES, PROBES[:2])
    true = rows_of(CLASSES, [CLASSES[:1], CLASSES[1:2]])
    no_rows = row[0] + 1, row[1], row[2]
    no_class = np.array([0, 0, 1]), np.zeros(1, np.int32)
    for message, arrays in (
        ("indptr", (features, *no_rows, classes, *true)),
        ("no true class", (features, *row, classes, *no_class)),
        ("as many rows", (features, *row, classes, true[0][:-1], true[1][:-1])),
        ("numbers of columns", (features, *row, classes, true[0], true[1] + len(CLASSES))),
        ("columns of their own", (features, *row, features, *true)),
    ):
        with pytest.raises(ValueError, match=message):
            learner.learn_csr(*arrays)
    for shape in ((1, 2), (2, 3)):
        with pytest.raises(ValueError, match=r"top_two must have the shape \(2, 2\)"):
            learner.learn_csr(features, *row, classes, *true, top_two=np.empty(shape))
    with pytest.raises(ValueError, match=r"counts must have the shape \(2,\)"):
        learner.learn_csr(features, *row, classes, *true, counts=np.ones(3, np.uint8))
    with pytest.raises(ValueError, match="indptr"):
        learner.rank_csr(features, *no_rows)
    assert_same_state(learner, left_alone)


@every_learner
def test_it_stays_the_learner_it_is(specification):
    learner, left_alone = taught(specification), taught(specification)
    own = learner.options
    for other in LEARNERS:
        if other != own.learner:
            members = {"members": "ff"} if other == "committee" else {}
            with pytest.raises(OptionError):
                learner.configure(Options.of(other, **members))
    assert learner.options == own
    learner.configure(own)
    assert_same_state(learner, left_alone)

    learner.configure(Options.parse(specification, max_classes=3))
    assert learner.options.max_classes == 3
    for instance, _ in LESSONS[:40]:
        learner.learn(instance, ["new"])
    assert learner.classes <= 3
    assert "new" in names(learner.rank(LESSONS[0][0], 100))


# --- damage -----------------------------------------------------------------------------------


def damages(section):
    """Yield the section with another type, with two dimensions, one item longer, one shorter."""
    yield section.astype("f8" if section.dtype == np.float32 else "f4")
    yield section.reshape(1, -1)
    yield np.append(section, np.zeros(1, section.dtype))
    if len(section):
        yield section[:-1]


@every_learner
def test_a_dump_is_whole_or_refused(specification):
    learner = taught(specification)
    learner.forget_class(CLASSES[0])
    learner.forget_feature(FEATURES[0])
    sections = learner.dump()
    for name, section in sections.items():
        without = {other: sections[other] for other in sections if other != name}
        with pytest.raises(SnapshotError):
            Learner.load(learner.options, without)
        for damaged in damages(section):
            with pytest.raises(SnapshotError):
                Learner.load(learner.options, {**sections, name: damaged})


@every_learner
def test_a_changed_dump_is_refused_or_makes_a_learner(specification):
    sections = taught(specification).dump()
    options = Options.parse(specification)
    random = np.random.default_rng(11)
    refused = 0
    for name, section in sections.items():
        for _ in range(min(3, len(section))):
            changed = section.copy()
            as_bytes = changed.view(np.uint8)
            as_bytes[random.integers(len(as_bytes))] ^= np.uint8(1 << random.integers(8))
            try:
                learner = Learner.load(options, {**sections, name: changed})
            except SnapshotError:
                refused += 1
                continue
            for instance, classes in LESSONS[:5]:
                assert_is_ranking(learner.rank(instance))
                learner.learn(instance, classes)
            learner.forget_class(CLASSES[1])
            Learner.load(options, learner.dump())
    assert refused > 1

"""The contract of every learner: forgotten names leave no trace, and limits hold."""

import pytest

from manyclass.core.errors import UnknownName
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from tests.core.dumps import assert_equal_dumps, assert_same_state
from tests.core.learners.contract import (
    CLASSES,
    FEATURES,
    LESSONS,
    PROBES,
    a_learner,
    every,
    every_learner,
    has_edges,
    heeds_features,
    learners_that,
    learns_features,
    lessons,
    names,
    taught,
)

# --- forgetting -------------------------------------------------------------------------------


def assert_no_trace(learner, name):
    assert all(name.encode() not in section.tobytes() for section in learner.dump().values())


@pytest.mark.parametrize("stop", [5, 50, 120])
@every_learner
def test_a_forgotten_class_leaves_no_trace(specification, stop):
    learner, gone = a_learner(specification), CLASSES[4]
    for instance, classes in LESSONS[:stop]:
        learner.learn(instance, classes)
    learner.learn({FEATURES[0]: 1.0}, [gone])
    assert learner.has_class(gone)
    assert learner.forget_class(gone)

    later = [
        (instance, [name for name in classes if name != gone] or [CLASSES[5]])
        for instance, classes in lessons(60, seed=3)
    ]
    for instance, classes in [({FEATURES[1]: 1.0}, [CLASSES[0]]), *later]:
        assert not learner.has_class(gone)
        assert gone not in names(learner.class_page("", "", 100))
        assert_no_trace(learner, gone)
        for probe in PROBES[:5]:
            assert gone not in names(learner.rank(probe, 100))
            assert learner.explain(probe, [gone]) == [[]]
        learner.learn(instance, classes)
    with pytest.raises(UnknownName):
        learner.class_(gone)
    assert not learner.forget_class(gone)
    for name in FEATURES:
        if learner.has_feature(name):
            assert gone not in names(learner.feature(name)["edges"])


@pytest.mark.parametrize("stop", [5, 50, 120])
@learners_that(heeds_features)
def test_a_forgotten_feature_leaves_no_trace(specification, stop):
    learner, gone = a_learner(specification), FEATURES[7]
    for instance, classes in LESSONS[:stop]:
        learner.learn(instance, classes)
    for _ in range(30):
        learner.learn({gone: 1.0}, [CLASSES[0]])
    assert learner.has_feature(gone)
    assert learner.forget_feature(gone)

    for instance, classes in lessons(60, seed=3):
        assert not learner.has_feature(gone)
        assert learner.rank({gone: 1.0}) == learner.rank({})
        assert gone not in names(learner.feature_page("", "", 100))
        assert_no_trace(learner, gone)
        learner.learn({name: v for name, v in instance.items() if name != gone}, classes)
    with pytest.raises(UnknownName):
        learner.feature(gone)
    assert not learner.forget_feature(gone)
    for name in CLASSES:
        if learner.has_class(name):
            assert gone not in names(learner.class_(name, 1000)["features"])


@every_learner
def test_forgotten_names_can_be_learned_again(specification):
    learner = taught(specification)
    for name in CLASSES:
        learner.forget_class(name)
    assert learner.classes == learner.edges == 0
    for name in FEATURES:
        learner.forget_feature(name)
    assert learner.features == 0
    assert learner.rank(PROBES[0]) == []
    for instance, classes in LESSONS:
        learner.learn(instance, classes)
    assert learner.classes == len(CLASSES)
    assert all(learner.rank(instance) for instance, _ in LESSONS if instance)


@every_learner
def test_unknown_names(specification):
    learner = taught(specification)
    before = learner.dump()
    assert not learner.forget_class("nobody")
    assert not learner.forget_feature("nobody")
    assert not learner.has_class("nobody")
    with pytest.raises(UnknownName):
        learner.class_("nobody")
    with pytest.raises(UnknownName):
        learner.feature("nobody")
    assert_equal_dumps(learner.dump(), before)


# --- limits -----------------------------------------------------------------------------------


@every_learner
def test_no_more_names_than_allowed(specification):
    learner = a_learner(specification, max_features=12, max_classes=5)
    for number, (instance, classes) in enumerate(LESSONS * 2):
        learner.learn({**instance, f"new {number}": 1.0}, [*classes, f"other {number // 9}"])
        assert learner.features <= 12
        assert learner.classes <= 5
        assert len(names(learner.rank(instance, 100))) <= 5
    assert learner.evicted_classes > 0
    assert learner.evicted_features > 0 or not heeds_features(specification)
    assert_same_state(Learner.load(learner.options, learner.dump(), 5), learner)


@pytest.mark.parametrize("kind", ["features", "classes"])
@every_learner
def test_no_more_bytes_than_allowed(specification, kind):
    parts = 2 * len(every(specification))
    learner = a_learner(specification, max_bytes=parts * 2**20)
    for number in range(parts * 100):
        long_names = [f"{number} {n} ".ljust(4000, "x") for n in range(4)]
        if kind == "features":
            learner.learn(long_names, ["c"])
        else:
            learner.learn(["f"], long_names)
        assert learner.bytes <= parts * 2**20
    evicted = {"features": learner.evicted_features, "classes": learner.evicted_classes}
    assert evicted[kind] > 0 or (kind == "features" and not learns_features(specification))
    learner = Learner.load(learner.options, learner.dump())
    assert learner.bytes <= parts * 2**20


@learners_that(has_edges)
def test_no_more_edges_vote_than_allowed(specification):
    learner = taught(specification)
    most = max(options.max_outdegree for options in every(specification))
    before = learner.active_features_ranked, learner.edges_touched
    for probe in PROBES:
        learner.rank(probe)
    active = learner.active_features_ranked - before[0]
    assert learner.edges_touched - before[1] <= most * active
    assert active > 0 or not learns_features(specification)
    if Options.parse(specification).learner in ("pa", "mmp", "arow", "svm", "ooz"):
        assert learner.outdegrees()[most + 1 :].sum() == 0

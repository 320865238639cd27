"""One budget of edges for a whole learner, spent by contribution."""

import numpy as np
import pytest

from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options

CLASSES = 60
COMMON, RARE = 20, 400
ROOM = {"budget_floor": 0, "max_outdegree": 300}
SIGNED = ["pa", "mmp", "arow", "svm"]


def stream(events):
    """Yield instances of two common features, which say little, and of a rare one for its class."""
    random = np.random.default_rng(7)
    for _ in range(events):
        number = int(random.integers(RARE))
        common = [f"common {each}" for each in random.choice(COMMON, 2, replace=False)]
        yield [*common, f"rare {number}"], [f"class {number % CLASSES}"]


def taught(options, events=6000):
    learner = Learner(options)
    for features, classes in stream(events):
        learner.learn(features, classes)
    return learner


def share_right(learner):
    asked = {f"rare {number}": f"class {number % CLASSES}" for number in range(RARE)}
    return np.mean([learner.rank([name], 1)[0][0] == cls for name, cls in asked.items()])


@pytest.mark.parametrize("learner", SIGNED)
def test_the_edges_stay_at_the_budget_and_the_useful_ones_are_kept(learner):
    budget = 2
    limited = taught(Options.of(learner, budget=budget, **ROOM))
    free = taught(Options.of(learner, **{**ROOM, "budget": 0}))
    features = limited.features
    assert features == COMMON + RARE
    assert limited.edges < 1.15 * budget * features < free.edges
    assert share_right(limited) > share_right(free) - 0.02 > 0.9


def test_common_features_keep_more_edges_than_rare_ones():
    """The budget is of the whole learner, not of a row."""
    learner = taught(Options.of("svm", budget=5, **ROOM))
    outdegrees = [learner.feature(f"common {number}")["outdegree"] for number in range(COMMON)]
    assert max(outdegrees) > 5 * 5
    assert min(learner.feature(f"rare {number}")["outdegree"] for number in range(RARE)) >= 1


def test_an_edge_that_was_just_made_is_kept():
    """A new class is learned from one event, though its edges are the lightest of all."""
    learner = taught(Options.of("svm", budget=1, replay=0, C=0.01, **ROOM))
    learner.learn(["common 1", "rare 1"], ["a new class"])
    for name in ("common 1", "rare 1"):
        assert "a new class" in [edge[0] for edge in learner.feature(name)["edges"]]


@pytest.mark.parametrize("name", [*SIGNED, "path", "hieron"])
def test_a_new_class_of_common_features_is_retrieved_after_one_event(name):
    """Its edges are lighter than the edges that an event may make near the budget."""
    price = {} if name == "mmp" else {"C": 0.01}
    learner = taught(Options.of(name, budget=1, replay=0, **price, **ROOM))
    common = ["common 1", "common 2"]
    learner.learn(common, ["a new class"])
    assert "a new class" in dict(learner.rank(common, CLASSES + 1))


def test_a_light_edge_to_a_class_that_ranks_already_is_not_made():
    learner = taught(Options.of("svm", budget=1, replay=0, C=0.01, **ROOM))
    learner.learn(["common 1"], ["a new class"])
    learner.learn(["common 1", "common 2"], ["a new class"])
    assert "a new class" in [edge[0] for edge in learner.feature("common 1")["edges"]]
    assert "a new class" not in [edge[0] for edge in learner.feature("common 2")["edges"]]


def test_a_budget_can_be_set_and_lifted_later():
    learner = taught(Options.of("svm", budget=0, **ROOM))
    before = learner.edges
    learner.configure(Options.of("svm", budget=1, **ROOM))
    for features, classes in stream(6000):
        learner.learn(features, classes)
    limited = learner.edges
    assert limited < 0.5 * before
    learner.configure(Options.of("svm", budget=0, **ROOM))
    for features, classes in stream(2000):
        learner.learn(features, classes)
    assert learner.edges > limited


@pytest.mark.parametrize("name", SIGNED)
def test_a_lower_budget_is_met_by_events_that_change_nothing(name):
    learner = taught(Options.of(name, budget=3, **ROOM, replay=0))
    learner.configure(Options.of(name, budget=1, **ROOM, replay=0))
    for _ in range(200):
        learner.learn(["common 1", "rare 1"], ["class 1"])
    assert learner.edges < 1.15 * learner.features


@pytest.mark.parametrize("name", SIGNED)
def test_a_learner_may_have_the_edges_of_the_floor(name):
    """A few features may have to tell many classes apart."""
    floor = 3 * (COMMON + RARE)
    options = {"budget": 1, "max_outdegree": 300}
    learner = taught(Options.of(name, budget_floor=floor, **options))
    assert 0.8 * floor < learner.edges < 1.15 * floor
    unlimited = taught(Options.of(name, **options))  # the default is beyond all edges here
    assert unlimited.edges == taught(Options.of(name, **{**options, "budget": 0})).edges

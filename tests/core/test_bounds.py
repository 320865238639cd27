"""No stream and no options break this: weights stay finite, and every dump loads again."""

import numpy as np
import pytest

from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options

SIGNED = [
    "pa",
    "pa(negatives=1)",
    "arow",
    "arow(negatives=1)",
    "mmp",
    "svm",
    "svm(constraints=each)",
]


def heaviest(learner):
    return float(np.abs(learner.dump()["edge_masses"]).max())


@pytest.mark.parametrize("specification", SIGNED)
@pytest.mark.parametrize(("true", "classes"), [(1, 4), (5, 10), (50, 100)])
def test_labels_without_any_sense_do_not_blow_weights_up(specification, true, classes):
    random = np.random.default_rng(0)
    learner = Learner(Options.parse(specification))
    heights = []
    for number in range(600):
        features = {f"f{column}": 1.0 for column in random.integers(0, 30, 6)}
        names = [f"c{cls}" for cls in random.choice(classes, true, replace=False)]
        learner.learn(features, names)
        if number in (299, 599):
            heights.append(heaviest(learner))
    assert heights[1] < 3 * heights[0] + 1


@pytest.mark.parametrize(
    "specification",
    [
        "pa(margin_threshold=1000000000)",
        "pa(negatives=1,C=1000000000,normalize=none)",
        "arow(margin_threshold=1000000000)",
        "mmp(normalize=none)",
        "svm(normalize=none,C=1000000000)",
        "svm(margin_threshold=1000000000,C_negative=1000000000)",
    ],
)
def test_extreme_options_make_states_that_load_again(specification):
    random = np.random.default_rng(1)
    learner = Learner(Options.parse(specification))
    for _ in range(400):
        value = float(10.0 ** random.integers(-30, 30))
        features = {f"f{column}": value for column in random.integers(0, 5, 2)}
        learner.learn(features, [f"c{cls}" for cls in random.choice(6, 3, replace=False)])
    assert np.isfinite(learner.dump()["edge_masses"]).all()
    again = Learner.load(learner.options, learner.dump())
    assert again.rank({"f1": 1.0}, 6) == learner.rank({"f1": 1.0}, 6)


@pytest.mark.parametrize(
    "specification",
    ["ema", "svm(binarize=yes)", "svm(normalize=none)", "svm(C=0.004)", "svm", "oplt"],
)
def test_long_instances_and_careful_learners_learn_something(specification):
    learner = Learner(Options.parse(specification))
    instance = {f"f{column}": 1.0 for column in range(200)}
    for _ in range(20):
        learner.learn(instance, ["a"])
        learner.learn({"other": 1.0}, ["b"])
    assert [name for name, _ in learner.rank(instance)][:1] == ["a"]


@pytest.mark.parametrize("specification", SIGNED)
def test_an_event_may_name_thousands_of_classes(specification):
    learner = Learner(Options.parse(specification))
    names = [f"c{number}" for number in range(3000)]
    for _ in range(2):
        learner.learn({"f": 1.0, "g": 1.0}, names)
    learner.learn({"f": 1.0}, names[:1])
    assert learner.feature("f")["outdegree"] == learner.options.max_outdegree

"""The option `cost`: margins that grow with the distance of classes in the taxonomy."""

import numpy as np
import pytest

from manyclass.core.learner import Learner
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.taxonomy import Taxonomy

CLASSES = ["apple", "pear", "plum", "car", "bus", "train"]
PARENTS = {"apple": "fruit", "pear": "fruit", "plum": "fruit", "car": "road", "bus": "road"}
EXACT = "replay=20,sublinear=no,tfidf=no,constraints=pairs,C_negative=1000,bias=0"


def place(learner, parents):
    """Place the classes as an event does; return the names of nodes that are gone."""
    for name, parent in parents.items():
        gone = learner.taxonomy.place(name, parent, True)
        learner.placed([name, *filter(None, [parent]), *gone])


def teach(learner, count, seed=0):
    random = np.random.default_rng(seed)
    for _ in range(count):
        cls = random.integers(len(CLASSES))
        words = random.permutation(12)[:3]
        instance = {f"word {word}": float(random.uniform(0.1, 2)) for word in words}
        true = [CLASSES[cls], CLASSES[cls - 1]][: random.integers(1, 3)]
        learner.learn({**instance, f"about {cls}": 1.0}, true)


def assert_equal_states(one, other):
    ours, its_own = one.dump(), other.dump()
    assert list(ours) == list(its_own)
    for name, array in ours.items():
        assert array.tobytes() == its_own[name].tobytes(), name


COSTS = pytest.mark.parametrize("cost", ["sqrt", "linear"])
LEARNERS = pytest.mark.parametrize("name", ["svm", "pa"])


@LEARNERS
@COSTS
def test_without_a_taxonomy_the_state_is_that_without_costs(name, cost):
    with_costs, without = Learner(Options.of(name, cost=cost)), Learner(Options.of(name))
    for each in (with_costs, without):
        teach(each, 300)
    assert_equal_states(with_costs, without)


@LEARNERS
@COSTS
def test_with_one_level_too(name, cost):
    """All siblings and classes below the root are at the same distance."""
    siblings, without = Learner(Options.of(name, cost=cost)), Learner(Options.of(name))
    place(siblings, dict.fromkeys(CLASSES[:4], None))
    for each in (siblings, without):
        teach(each, 300)
    assert_equal_states(siblings, without)


@LEARNERS
def test_without_costs_a_taxonomy_changes_nothing(name):
    placed, without = Learner(Options.of(name)), Learner(Options.of(name))
    place(placed, PARENTS)
    for each in (placed, without):
        teach(each, 100)
    assert_equal_states(placed, without)


@pytest.mark.parametrize(("cost", "wide"), [("none", 1.0), ("sqrt", 2**0.5), ("linear", 2.0)])
def test_a_distant_class_is_to_keep_a_wider_margin(cost, wide):
    learner = Learner(Options.parse(f"svm({EXACT},C=1000,cost={cost})"))
    place(learner, PARENTS)
    for _ in range(40):
        for cls in ("apple", "pear", "car"):
            learner.learn({f"{cls} word": 1.0, "word": 1.0}, [cls])
    scores = dict(learner.rank({"apple word": 1.0, "word": 1.0}))
    near, far = scores["apple"] - scores["pear"], scores["apple"] - scores["car"]
    least_step = 0.1  # of the margin: a smaller one is skipped
    assert far >= wide - least_step
    assert near >= 1 - least_step
    if cost == "none":
        assert far == pytest.approx(near, abs=least_step)
    else:
        assert far > near + 0.2


@pytest.mark.parametrize(
    "specification", ["pa(cost=sqrt)", "committee(members=pa(cost=linear)+svm(cost=sqrt))"]
)
def test_a_loaded_learner_knows_the_places_of_its_classes(specification):
    options = Options.parse(specification)
    learner = make(options)
    teach(learner, 20)
    place(learner, PARENTS)
    teach(learner, 60, seed=1)
    again = Learner.load(options, learner.dump(), 7, learner.taxonomy)
    flat = Learner.load(options, learner.dump(), 7)
    for each in (learner, again, flat):
        teach(each, 60, seed=2)
    assert_equal_states(learner, again)
    with pytest.raises(AssertionError):
        assert_equal_states(learner, flat)


@LEARNERS
def test_a_class_placed_before_or_after_its_first_event_is_learned_alike(name):
    before, after = (Learner(Options.of(name, cost="sqrt")) for _ in range(2))
    place(before, PARENTS)
    for learner in (before, after):
        learner.learn({"a word": 1.0}, ["apple"])
    place(after, PARENTS)
    for learner in (before, after):
        teach(learner, 60)
    assert_equal_states(before, after)


def test_moved_and_forgotten_classes_are_as_if_they_had_come_so():
    """A class that is forgotten stands below the root, also when it comes again."""
    options = Options.of("pa", cost="linear")
    moved, plain = Learner(options), Learner(options)
    place(moved, {**PARENTS, "train": "fruit"})
    place(moved, {"train": "rail"})
    moved.forget_class("plum")
    moved.placed(moved.taxonomy.forget("plum"))
    place(plain, {name: parent for name, parent in PARENTS.items() if name != "plum"})
    place(plain, {"train": "rail"})
    for learner in (moved, plain):
        teach(learner, 100)
    assert_equal_states(moved, plain)


def test_far_wrong_classes_are_demoted_first():
    """With one negative, it is the one that lacks most to its margin, not the best ranked."""
    learner = Learner(
        Options.parse("pa(cost=linear,negatives=1,margin_threshold=1,normalize=none)")
    )
    taxonomy: Taxonomy = learner.taxonomy
    place(learner, {**PARENTS, "train": "rail"})
    assert taxonomy.distance("apple", "train") == 4
    learner.learn({"word": 1.0, "pear word": 0.5}, ["pear"])
    learner.learn({"word": 0.8, "train word": 0.5}, ["train"])
    before = {cls: learner.class_(cls)["features"] for cls in ("pear", "train")}
    learner.learn({"word": 1.0, "apple word": 0.5}, ["apple"])
    assert learner.class_("pear")["features"] == before["pear"]
    assert learner.class_("train")["features"] != before["train"]

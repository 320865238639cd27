"""The vote of the nearest past instances beside the scores of a learner."""

import numpy as np
import pytest

from manyclass.core.errors import SnapshotError
from manyclass.core.learner import Learner
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import LEARNERS
from tests.core.both import Both

WITH_NEIGHBORS = [name for name, learner in LEARNERS.items() if learner.option("neighbors")]
# A pair of words has a class of its own, as no sum of weights of words can say.
PAIRS = "svm(neighbors=5,max_outdegree=2)"
WORDS = 30


def pairs(events, seed=3):
    random = np.random.default_rng(seed)
    for _ in range(events):
        one, other = sorted(random.choice(WORDS, 2, replace=False).tolist())
        yield [f"w{one}", f"w{other}"], f"class {(one * 7 + other * other) % 20}"


def plain(events, seed=3):
    """Yield instances whose class one word says; a neighbor may share the other words."""
    random = np.random.default_rng(seed)
    for _ in range(events):
        cls = int(random.integers(10))
        yield [f"c{cls}", *(f"w{each}" for each in random.choice(8, 3, replace=False))], str(cls)


def taught(specification, lessons, **limits):
    learner = Learner(Options.parse(specification, **limits))
    right = [learner.learn(instance, [cls]).rank == 1 for instance, cls in lessons]
    return learner, np.mean(right[-500:])


def pairs_of(specification, events=2500):
    return taught(specification, pairs(events))


@pytest.mark.parametrize("learner", WITH_NEIGHBORS)
def test_neighbors_vote_where_they_help(learner):
    few_edges = "" if learner == "mmp" else ",max_outdegree=2"
    alone, of_alone = pairs_of(f"{learner}(neighbors=0{few_edges})")
    helped, of_helped = pairs_of(f"{learner}(neighbors=5{few_edges})")
    assert alone.neighbor_weight == 0
    assert helped.neighbor_weight > 0
    assert of_helped > of_alone + 0.1


def test_where_they_do_not_help_every_score_is_that_of_the_learner_alone():
    with_neighbors, _ = taught("svm(neighbors=5)", plain(1500))
    alone, _ = taught("svm(neighbors=0)", plain(1500))
    assert with_neighbors.neighbor_weight == 0
    for instance, _ in plain(50, seed=4):
        assert with_neighbors.rank(instance, 10) == alone.rank(instance, 10)
        assert with_neighbors.explain(instance, ["1"]) == alone.explain(instance, ["1"])


def test_the_parts_of_an_explanation_add_up_to_the_score():
    learner, _ = pairs_of(PAIRS)
    for instance, _ in pairs(30, seed=5):
        for cls, score in learner.rank(instance, 5):
            (parts,) = learner.explain(instance, [cls])
            assert sum(part for _, part in parts) == pytest.approx(score)
            assert len({name for name, _ in parts}) == len(parts)


def test_a_list_of_classes_and_a_threshold_compare_the_same_scores():
    learner, _ = pairs_of(PAIRS)
    for instance, _ in pairs(30, seed=5):
        ranked = learner.rank(instance, 20)
        names = [name for name, _ in ranked][::2]
        assert learner.rank(instance, 20, among=names) == ranked[::2]
        least = ranked[2][1]
        assert learner.rank(instance, 20, least) == [each for each in ranked if each[1] > least]


@pytest.mark.parametrize("is_reloaded", [False, True])
def test_what_is_forgotten_does_not_vote(is_reloaded):
    """Nor does a name that gets its id."""
    learner, _ = pairs_of(PAIRS)
    instance, cls = next(iter(pairs(1)))
    assert learner.rank(instance, 1)[0][0] == cls
    learner.forget_class(cls)
    for name in instance:
        learner.forget_feature(name)
    if is_reloaded:
        learner = Learner.load(learner.options, learner.dump())
    assert learner.rank(instance) == []
    learner.learn(["new one", "new other"], ["a new class"])
    assert cls not in dict(learner.rank(["new one", "new other"], 100))
    assert [name for name, _ in learner.rank(["new one", "new other"], 100)] == ["a new class"]


def test_without_replay_instances_are_stored_and_none_is_learned_again():
    stored, _ = pairs_of("svm(replay=0,neighbors=5)", 300)
    alone, _ = pairs_of("svm(replay=0,neighbors=0)", 300)
    assert len(stored.dump()["kept_features"]) == 300
    assert stored.dump()["edge_masses"].tolist() == alone.dump()["edge_masses"].tolist()


def test_neighbors_can_be_turned_off_and_on_again():
    learner, _ = pairs_of(PAIRS)
    off = Options.parse("svm(neighbors=0,max_outdegree=2)")
    alone, _ = pairs_of(off.specification)
    learner.configure(off)
    assert learner.neighbor_weight == 0
    instances = [instance for instance, _ in pairs(20, seed=5)]
    for instance in instances:
        assert learner.rank(instance) == alone.rank(instance)
    assert learner.bytes == alone.bytes
    learner.configure(Options.parse(PAIRS))
    for instance, cls in pairs(300, seed=6):
        learner.learn(instance, [cls])
    assert learner.neighbor_weight > 0


def test_other_values_of_stored_instances_are_compared_after_a_change_of_options():
    learner, _ = pairs_of(PAIRS)
    learner.configure(learner.options.replace(binarize=True))
    reloaded = Learner.load(learner.options, learner.dump())
    for instance, _ in pairs(20, seed=5):
        heavy = {name: 5.0 for name in instance}
        assert learner.rank(heavy) == reloaded.rank(heavy)


def test_memory_is_bounded_while_stored_instances_are_replaced():
    """They are replaced all the time where new constraints need the room of old instances."""
    learner = Learner(Options.parse("svm(neighbors=5,replay_size=50)", max_bytes=2**20))
    random = np.random.default_rng(1)
    resident = []
    for number in range(3000):
        names = [f"f{each}" for each in random.integers(0, 3000, 20)]
        learner.learn(names, [f"c{random.integers(10)}"])
        if number % 500 == 499:
            resident.append(learner.resident_bytes)
    assert learner.bytes <= 2**20
    assert max(resident) < 2 * 2**20
    assert len(learner.dump()["kept_features"]) <= 50


def test_a_committee_has_members_with_neighbors():
    committee = make(Options.parse("committee(members=svm(neighbors=5,max_outdegree=2)+ff)"))
    for instance, cls in pairs(2500):
        committee.learn(instance, [cls])
    assert committee.neighbor_weight == committee.members[0].learner.neighbor_weight / 2 > 0


@pytest.mark.parametrize("place", [0, 9, 14])
@pytest.mark.parametrize("value", [-1.0, float("nan"), 1e80])
def test_a_state_with_an_impossible_count_is_refused(place, value):
    learner, _ = pairs_of(PAIRS, 50)
    state = learner.dump()
    state["neighbor_weights"][place] = value
    with pytest.raises(SnapshotError, match="neighbor_weights"):
        Learner.load(learner.options, state)


@pytest.mark.parametrize("specification", [PAIRS, "ff(neighbors=3,max_outdegree=2,tfidf=yes)"])
def test_votes_that_count_are_those_of_the_reference(specification):
    """Instances are replaced, names are forgotten, and a part of the features is searched."""
    options = Options.parse(specification, replay=1, replay_size=120, max_features=75)
    common = [f"common {number}" for number in range(40)]
    words = [*(f"w{number}" for number in range(WORDS)), *common]
    both = Both(options, words, [f"class {number}" for number in range(20)])
    random = np.random.default_rng(2)
    weights = set()
    for number, (pair, cls) in enumerate(pairs(360)):
        some = random.choice(common, 30, replace=False).tolist() if number % 4 else []
        values = random.choice([1.0, 3.0, 0.25], len(some) + 2).tolist()
        instance = dict(zip([*pair, *some], values, strict=True))
        both.rank(instance, 10)
        both.learn(instance, [cls])
        weights.add(both.learner.neighbor_weight)
        if number % 60 == 59:
            both.forget_class(f"class {number % 20}")
            both.forget_feature(f"w{number % WORDS}")
            both.explain(instance, 100)
            both.rank_csr([instance], 5)
            both.compare()
            both.reload(number)
    both.compare()
    assert len(weights - {0.0}) > 0


def test_a_state_of_the_greatest_scores_loads():
    learner = Learner(Options.parse("mmp(neighbors=5,normalize=none)"))
    for number in range(6):
        learner.learn({each + str(number % 2): 1e30 for each in "abc"}, [f"c{number % 2}"])

    loaded = Learner.load(learner.options, learner.dump())

    assert loaded.dump()["neighbor_weights"].tolist() == learner.dump()["neighbor_weights"].tolist()


def test_classes_are_explained_together_as_one_by_one():
    learner, _ = pairs_of(PAIRS)
    assert learner.neighbor_weight > 0
    classes = [f"class {number}" for number in range(20)]
    for instance, _ in pairs(20, seed=5):
        together = learner.explain(instance, [*classes, "unknown"])
        assert together == [learner.explain(instance, [name])[0] for name in [*classes, "unknown"]]

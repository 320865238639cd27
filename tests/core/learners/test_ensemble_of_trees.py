"""A committee of label trees: the mean of their probabilities, exactly the best of all classes."""

import numpy as np
import pytest

from manyclass.core.errors import OptionError
from manyclass.core.instance import Instance
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options

CLASSES = [f"class {n}" for n in range(40)]
TREE = "oplt(policy=random,arity=3,max_leaves=2)"
FEATURES = [f"feature {n}" for n in range(12)]


def committee_of(*members, **options):
    options = {"members": "+".join(members), "vote": "probability"} | options
    return Learner(Options.of("committee", **options))


def taught(random, members=(TREE,) * 3, lessons=150, **options):
    committee = committee_of(*members, **options)
    for _ in range(lessons):
        true = random.integers(len(CLASSES))
        active = {FEATURES[true % len(FEATURES)], *random.choice(FEATURES, 2)}
        committee.learn(dict.fromkeys(active, 1.0), [CLASSES[true]])
    return committee


def instances(random, count):
    return [
        Instance(dict.fromkeys(random.choice(FEATURES, random.integers(4)), 1.0))
        for _ in range(count)
    ]


def means(committee, instance):
    of_members = [member.learner.probabilities(instance, CLASSES) for member in committee.members]
    return dict(zip(CLASSES, np.mean(of_members, axis=0).tolist(), strict=True))


def assert_the_best(committee, instance, k):
    """Assert that the ensemble's top k of its known classes equals the one by brute force."""
    known = {name for name, _ in committee.class_page("", "", len(CLASSES))}
    mean = {
        name: value
        for name, value in means(committee, instance).items()
        if name in known and value > 0
    }
    ranked = committee.rank(instance, k)

    assert len({name for name, _ in ranked}) == len(ranked) == min(k, len(mean))
    assert [score for _, score in ranked] == pytest.approx(
        sorted(mean.values(), reverse=True)[: len(ranked)]
    )
    assert all(score == pytest.approx(mean[name]) for name, score in ranked)


@pytest.mark.parametrize("k", [1, 2, 5, 100])
def test_the_best_of_all_classes_by_mean_probability_are_found(k):
    random = np.random.default_rng(k)
    committee = taught(random)

    for instance in instances(random, 100):
        assert_the_best(committee, instance, k)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("subsamples", [(0.3, 0.3, 0.3, 0.3), (1, 0.05, 0.05)])
@pytest.mark.parametrize("most_classes", [1000, 15])
def test_members_that_know_little_of_each_other_are_asked_deeper(seed, subsamples, most_classes):
    random = np.random.default_rng(seed)
    members = [
        f"oplt(policy=random,arity=3,max_leaves=2,max_classes=1000,subsample={subsample})"
        for subsample in subsamples
    ]
    committee = taught(random, members, max_classes=most_classes)

    for instance in instances(random, 100):
        for k in (1, 2, 4):
            assert_the_best(committee, instance, k)


@pytest.mark.parametrize("k", [0, 2**31, 2**32 - 1])
def test_no_place_and_more_than_there_are(k):
    committee = taught(np.random.default_rng(0), lessons=20)

    assert len(committee.rank({"feature 1": 1.0}, k)) == min(k, committee.classes)


def test_given_classes_have_the_means_that_they_have_among_all():
    random = np.random.default_rng(5)
    committee = taught(random)
    some = [*CLASSES[::3], "unknown"]

    for instance in instances(random, 50):
        everything = committee.rank(instance, len(CLASSES))
        expected = [scored for scored in everything if scored[0] in some]
        assert committee.rank(instance, len(CLASSES), None, some) == expected
        assert committee.rank(instance, 2, None, some) == expected[:2]


def test_a_class_that_is_third_for_all_is_found_to_be_the_best():
    committee = committee_of("oplt", "oplt", "oplt")
    for name in ["third", *(f"{n}{place}" for n in range(3) for place in ("first", "second"))]:
        committee.learn({"f": 1.0}, [name])
    for n, member in enumerate(committee.members):
        for name in 10 * [f"{n}first", "third", f"{n}second", f"{n}first", f"{n}second"]:
            member.learner.learn({"f": 1.0}, [name])
    for n, member in enumerate(committee.members):
        best = [name for name, _ in member.learner.rank({"f": 1.0}, 3)]
        assert {*best[:2]} == {f"{n}first", f"{n}second"}
        assert best[2] == "third"

    [(name, _)] = committee.rank({"f": 1.0}, 1)

    assert name == "third"


def test_the_outcome_is_of_the_ranking_before_the_update():
    random = np.random.default_rng(2)
    committee = taught(random)
    for instance in instances(random, 50):
        true = CLASSES[random.integers(len(CLASSES))]
        ranked = committee.rank(instance, 10)

        learned = committee.learn(instance, [true])

        places = [place for place, (name, _) in enumerate(ranked, 1) if name == true]
        assert learned.rank == (places[0] if places else 0)
        assert (learned.first, learned.second) == (ranked[0][1], ranked[1][1])


def test_each_tree_has_its_own_progressive_accuracy():
    committee = committee_of("oplt(policy=random)", "oplt(policy=random,subsample=0.0001)")

    for name in ["a", "a", "b", "a"]:
        committee.learn({"f": 1.0}, [name])

    learns, sleeps = (member.progress for member in committee.members)
    assert (learns.examples, learns.hits[1]) == (4, 2)
    assert (sleeps.examples, sleeps.hits[10]) == (4, 0)


def test_a_class_that_was_evicted_is_in_no_ranking():
    committee = committee_of("oplt(max_classes=10)", "oplt(max_classes=10)", max_classes=2)

    for name in "abc":
        committee.learn({"f": 1.0}, [name])

    assert {name for name, _ in committee.rank({"f": 1.0}, 5)} == {"b", "c"}
    assert committee.members[0].learner.has_class("a")


def test_reasons_are_the_mean_of_those_of_the_trees():
    random = np.random.default_rng(3)
    committee = taught(random)
    instance = Instance({"feature 1": 1.0, "feature 2": 1.0})

    [told] = committee.explain(instance, ["class 1"])

    summed = {}
    for member in committee.members:
        for name, gave in member.learner.explain(instance, ["class 1"], 10)[0]:
            summed[name] = summed.get(name, 0) + gave / 3
    assert dict(told) == pytest.approx(summed)


def test_only_label_trees_can_be_averaged():
    with pytest.raises(OptionError, match="every member is a label tree"):
        committee_of("oplt", "ff")

"""The sample of past instances, and their replay."""

from itertools import islice

import numpy as np
import pytest

from manyclass.core.columns import Columns
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from manyclass.core.learners.registry import LEARNERS
from tests.core.both import Both
from tests.core.dumps import assert_same_state, names
from tests.core.references.past import block_bytes
from tests.core.references.state import GONE

REPLAYING = [name for name, learner in LEARNERS.items() if learner.option("replay")]
ALWAYS = 1e9  # a margin that no class exceeds
COUNTING = {  # an ff: feature masses count the updates of each instance
    **{"margin_threshold": ALWAYS, "normalize": "none", "rating": 0},
    **{"mass_cap": 0, "min_weight": 0},
}


def each_its_own(learner, count, shared=0):
    """Learn instances with an own feature, shared features and an own class each.

    The class of instance n has id n."""
    every = np.arange(count + 1, dtype=np.int64)
    features = Columns([f"f{number}" for number in range(count + shared)])
    rows = [[number, *range(count, count + shared)] for number in range(count)]
    learner.learn_csr(
        features,
        every * (1 + shared),
        np.array(rows, np.int32).ravel(),
        np.ones(count * (1 + shared), np.float32),
        Columns([f"c{number}" for number in range(count)]),
        every,
        np.arange(count, dtype=np.int32),
    )


def sample(learner):
    """Return the ids of the `each_its_own` instances in the replay buffer."""
    return learner.dump()["kept_class_ids"]


def deviation(counts, expected):
    """Return chi-square of the counts per degree of freedom: near 1 for random counts."""
    return np.sum((counts - expected) ** 2 / expected) / len(counts)


def lessons(count, seed=0):
    random = np.random.default_rng(seed)
    for _ in range(count):
        instance = {
            f"f{place}": float(random.uniform(0.1, 2)) for place in random.integers(0, 30, 5)
        }
        yield instance, [f"c{label}" for label in {*random.integers(0, 8, 2).tolist()}]


# --- replay ---------------------------------------------------------------------------------------


def test_past_instances_are_learned_again_and_counted_once():
    learner = Learner(Options.of("ff", replay=3, **COUNTING))
    learner.learn({"f": 1.0}, ["a"])
    assert learner.feature("f")["mass"] == 1  # the replay buffer was empty
    learner.learn({"g": 1.0}, ["b"])

    assert learner.feature("f")["mass"] == 1 + 3
    assert learner.feature("g")["mass"] == 1
    assert learner.feature("f")["times_seen"] == 1
    assert learner.class_("a")["learned"] == 1
    assert learner.learned == 2


def test_an_instance_learned_again_is_prepared_with_the_counts_of_today():
    learner = Learner(Options.of("ff", replay=1, tfidf=True, **COUNTING))
    learner.learn({"f": 1.0}, ["a"])
    assert learner.feature("f")["mass"] == 1  # log(1/1) + 1
    learner.learn({"g": 1.0}, ["a"])

    assert learner.feature("f")["mass"] == pytest.approx(1 + np.log(3 / 2) + 1)


@pytest.mark.parametrize("name", REPLAYING)
def test_the_same_events_and_seed_make_the_same_model(name):
    def taught(seed):
        learner = Learner(Options.of(name, replay=2, replay_size=10, sample=0, seed=seed))
        for instance, classes in lessons(60):
            learner.learn(instance, classes)
        return learner

    assert_same_state(taught(1), taught(1))
    assert sample(taught(1)).tolist() != sample(taught(2)).tolist()


@pytest.mark.parametrize("name", REPLAYING)
def test_reloading_at_any_point_changes_nothing(name):
    stream = list(lessons(25))
    learner = Learner(Options.of(name, replay=2, replay_size=6))
    reloaded = Learner(learner.options)
    for number, (instance, classes) in enumerate(stream):
        learner.learn(instance, classes)
        reloaded.learn(instance, classes)
        if number % 7 == 0:
            learner.forget_class(classes[0])
            reloaded.forget_class(classes[0])
        reloaded = Learner.load(learner.options, reloaded.dump(), hash_seed=number)
        assert_same_state(learner, reloaded)


# --- the sample -----------------------------------------------------------------------------------


def samples(count, events, shared=0, **options):
    """Return the samples of `count` seeds as a boolean matrix (seeds, events)."""
    inside = np.zeros((count, events), bool)
    for seed in range(count):
        learner = Learner(Options.of("ff", replay=1, seed=seed, **options))
        each_its_own(learner, events, shared)
        inside[seed, sample(learner)] = True
    return inside


def test_every_instance_is_as_likely_to_be_kept():
    inside = samples(150, 300, replay_size=30)

    assert (inside.sum(axis=1) == 30).all()
    expected = 150 * 30 / 300
    # sampling without replacement: the variance is 1 - 30/300 of that with replacement
    assert deviation(inside.sum(axis=0), expected) == pytest.approx(0.9, abs=0.3)
    assert inside[:, :150].sum() / inside.sum() == pytest.approx(0.5, abs=0.03)


def test_every_instance_is_as_likely_to_be_drawn():
    learner = Learner(Options.of("ff", replay=100, **COUNTING))
    each_its_own(learner, 20)
    before = learner.dump()["feature_mass"]
    for _ in range(100):
        learner.learn([], ["c0"])  # nothing to keep, but the same number of draws
    drawn = learner.dump()["feature_mass"] - before

    assert drawn.sum() == 10_000
    assert deviation(drawn, 500) == pytest.approx(1, abs=0.8)


def test_the_sample_is_bounded_in_number():
    learner = Learner(Options.of("ff", replay=1, replay_size=50))
    for number, (instance, classes) in enumerate(lessons(120)):
        learner.learn(instance, classes)
        assert len(learner.dump()["kept_features"]) == min(50, number + 1)


@pytest.mark.parametrize("name", REPLAYING)
def test_the_sample_is_bounded_in_bytes(name):
    learner = Learner(Options.of(name, replay=20, max_bytes=2**20))
    random = np.random.default_rng(2)
    for number in range(400):
        size = random.integers(1, 4) * 100
        features = [f"f{place}" for place in random.permutation(400)[:size]]
        learner.learn(features, [f"c{label}" for label in {number % 9, number % 7}])
        assert bytes_of_sample(learner) <= 2**18
        assert bytes_of_sample(learner) < learner.bytes <= 2**20
    assert bytes_of_sample(learner) > 0.95 * 2**18


def test_demands_keep_within_the_bytes_of_the_past():
    learner = Learner(
        Options.of(
            "svm",
            replay=20,
            max_bytes=2**20,
            negatives=100,
            C_negative=5,
            constraints="each",
            tfidf=False,
        )
    )
    random = np.random.default_rng(0)
    over = 0
    for number in range(1000):
        features = [f"f{place}" for place in random.integers(0, 40, 6)]
        learner.learn(features, [f"c{random.integers(min(number // 5 + 1, 150))}"])
        over = max(over, bytes_of_sample(learner) - 2**18)
    assert over <= 0


def bytes_of_sample(learner):
    """80 an instance, and the blocks of memory for 8 a value, 4 a class, 12 a demand."""
    state = learner.dump()
    parts = {"kept_features": 8, "kept_true": 4, "kept_demanded": 12}
    blocks = (
        block_bytes(each * count) for name, each in parts.items() for count in state[name].tolist()
    )
    return 80 * len(state["kept_features"]) + sum(blocks)


def test_a_sample_bounded_in_bytes_does_not_favour_the_newest():
    inside = samples(20, 120, shared=999, max_bytes=2**20)

    assert (inside.sum(axis=1) == 2**18 // (64 + 8 * 1000 + 4)).all()
    assert inside[:, :60].sum() / inside.sum() == pytest.approx(0.5, abs=0.05)


def test_a_smaller_sample_is_a_random_part_of_the_larger():
    kept = []
    for seed in range(60):
        learner = Learner(Options.of("ff", replay=1, seed=seed))
        each_its_own(learner, 100)
        learner.configure(Options.of("ff", replay=1, seed=seed, replay_size=20))
        kept.append(sample(learner))

    assert all(len(of_one) == 20 for of_one in kept)
    assert np.mean(kept) == pytest.approx(49.5, abs=3)


def test_without_replay_there_is_no_past():
    learner = Learner(Options.of("ff", replay=1))
    each_its_own(learner, 10)
    assert len(sample(learner)) == 10
    learner.configure(Options.of("ff"))
    assert len(sample(learner)) == 0
    learner.learn(["f"], ["a"])
    assert len(sample(learner)) == 0


def test_an_instance_with_nothing_in_it_is_not_kept():
    learner = Learner(Options.of("ff", replay=1))
    learner.learn([], ["a"])
    learner.learn({"f": -1.0}, ["a"])

    assert len(learner.dump()["kept_features"]) == 0


# --- forgetting -----------------------------------------------------------------------------------


@pytest.mark.parametrize("specification", REPLAYING)
def test_forgotten_names_leave_the_replay_buffer(specification):
    learner = Learner(Options.of(specification, replay=20))
    learner.learn(["f", "g"], ["a", "b"])
    learner.learn(["f"], ["b"])
    learner.learn(["g"], ["a"])
    learner.forget_class("a")
    assert past(learner) == [(["f", "g"], ["b"]), (["f"], ["b"]), (["g"], [])]
    learner.forget_feature("f")
    assert past(learner) == [(["g"], ["b"]), ([], ["b"]), (["g"], [])]
    learner.learn(["i", "j"], ["c", "d"])  # in the ids that were freed

    kept = past(learner)
    assert (["i", "j"], ["c", "d"]) in kept
    assert {name for features, _ in kept for name in features} <= {"g", "i", "j"}
    assert {name for _, classes in kept for name in classes} <= {"b", "c", "d"}
    assert not {"a", "f"} & {*names(learner.dump(), "class"), *names(learner.dump(), "feature")}
    for _ in range(20):
        learner.learn(["g"], ["b"])
    assert "a" not in dict(learner.rank(["g", "i", "j"], 100))
    assert all(features and classes for features, classes in past(learner))  # each was drawn by now


@pytest.mark.parametrize("learner", REPLAYING)
def test_a_name_that_comes_back_is_not_the_one_that_was_kept(learner):
    both = Both(Options.of(learner, replay=2), ["f", "g"], ["a", "b"])
    for _ in range(3):
        both.learn({"f": 1, "g": 2}, ["a", "b"])
    for _ in range(3):
        both.forget_feature("f")
        both.forget_class("a")
        both.learn({"f": 1}, ["a"])
        both.compare()
        both.reload(1)
        both.learn({"g": 1}, ["b"])
        both.compare()


def test_evicted_names_leave_the_replay_buffer():
    learner = Learner(Options.of("ff", replay=2, max_features=3, max_classes=2))
    for number in range(6):
        learner.learn([f"f{number}", "g"], [f"c{number}"])

    assert learner.evicted_classes == 4
    for features, classes in past(learner):
        assert all(learner.has_feature(name) for name in features)
        assert {*classes} <= {"c4", "c5"}


def past(learner):
    """Return feature and class names of the kept instances, without the evicted ones."""
    state = learner.dump()
    features, classes = names(state, "feature"), names(state, "class")
    values = iter(state["kept_feature_ids"])
    true = iter(state["kept_class_ids"])

    def known(of_all, ids, count):
        return [of_all[id] for id in islice(ids, int(count)) if id != GONE]

    return [
        (known(features, values, of_features), known(classes, true, of_classes))
        for of_features, of_classes in zip(state["kept_features"], state["kept_true"], strict=True)
    ]

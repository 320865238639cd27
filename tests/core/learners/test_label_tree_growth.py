"""Label trees learn, take the shape of their options, and stay small as classes come and go."""

import numpy as np
import pytest

from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from tests.core.dumped_tree import nodes_of
from tests.core.dumps import names


def clustered(count, random, classes=60, clusters=6):
    """Yield instances with words of their class, more of its cluster, and of all."""
    for _ in range(count):
        label = int(random.integers(classes))
        words = [
            *(f"class {label} {n}" for n in random.integers(0, 4, 2)),
            *(f"cluster {label % clusters} {n}" for n in random.integers(0, 8, 3)),
            *(f"noise {n}" for n in random.integers(0, 100, 3)),
        ]
        yield dict.fromkeys(words, 1.0), [f"{label}"]


@pytest.mark.parametrize(
    "specification",
    [
        "oplt",
        "oplt(policy=random)",
        "oplt(arity=2,max_leaves=2)",
        "oplt(policy=random,arity=2,max_leaves=2)",
        "iplt(sample=500)",
        "iplt(sample=500,tree=huffman,arity=2)",
    ],
)
def test_they_rank_far_better_than_the_counts_alone(specification):
    tree, baseline = Learner(Options.parse(specification)), Learner(Options.of("frequency"))
    ranks = []
    for instance, classes in clustered(4000, np.random.default_rng(1)):
        ranks.append((tree.learn(instance, classes)[0], baseline.learn(instance, classes)[0]))
    ours, by_counts = (np.array(ranks[2000:]) == 1).mean(axis=0)
    assert by_counts < 0.05
    assert ours > 0.8


def purity(specification):
    """Return the fraction of class pairs in a pre-leaf that belong to the same cluster."""
    alike = []
    for seed in range(5):
        learner = Learner(Options.parse(specification, seed=seed))
        for instance, classes in clustered(600, np.random.default_rng(seed)):
            learner.learn(instance, classes)
        state = learner.dump()
        clusters = [int(name) % 6 for name in names(state, "class")]
        alike.extend(
            clusters[one] == clusters[other]
            for node in nodes_of(state)
            if node.is_preleaf
            for one in node.children
            for other in node.children
            if one < other
        )
    return np.mean(alike)


def test_kmeans_groups_like_classes():
    assert purity("iplt(sample=600,arity=6,max_leaves=10,tfidf=no)") > 0.6
    assert purity("iplt(sample=600,arity=6,max_leaves=10,tfidf=no,tree=random)") < 0.25


def test_huffman_gives_frequent_classes_short_paths():
    random = np.random.default_rng(3)
    learner = Learner(Options.parse("iplt(sample=2000,tree=huffman,arity=2,max_leaves=1)"))
    counts = dict.fromkeys(range(40), 0)
    for _ in range(2000):
        label = min(int(random.pareto(1)), 39)
        counts[label] += 1
        learner.learn({f"f{label}": 1.0}, [f"{label}"])
    seen = [label for label, count in counts.items() if count]
    depth = dict(
        zip(seen, map(len, learner.paths({}, [f"{label}" for label in seen])), strict=True)
    )
    for one in seen:
        assert all(depth[one] <= depth[other] for other in seen if counts[one] > counts[other])
    assert min(depth.values()) < max(depth.values()) - 4


@pytest.mark.parametrize(("count", "shape"), [(3000, {}), (300, {"arity": 2, "max_leaves": 1})])
@pytest.mark.parametrize("policy", ["greedy", "random"])
def test_classes_that_come_together_make_no_chain(count, shape, policy):
    learner = Learner(Options.of("oplt", policy=policy, **shape))
    together = [f"{number}" for number in range(count)]
    learner.learn(["f", "g"], together)
    assert learner.classes == count
    assert max(map(len, learner.paths({}, together))) < 4 * np.log2(count)


def test_classes_that_come_and_go_leave_no_needless_nodes():
    learner = Learner(Options.of("oplt", arity=2, max_leaves=2, max_classes=64))
    random = np.random.default_rng(1)
    for number in range(3000):
        learner.learn({f"f{at}" for at in random.integers(0, 9, 3)}, [f"c{number}"])
    children = learner.dump()["node_children"]
    assert np.count_nonzero(children) < 2 * 64
    classes = [name for name, _ in learner.class_page("", "", 100)]
    assert max(map(len, learner.paths({}, classes))) < 30


@pytest.mark.parametrize("policy", ["greedy", "random"])
def test_classes_that_come_and_go_share_nodes(policy):
    """Without a rule for it, the tree had three times the nodes after one change of all classes."""
    learner = Learner(Options.of("oplt", policy=policy, max_classes=300))
    random = np.random.default_rng(1)
    nodes = []
    for number in range(1000):
        learner.learn({f"f{at}" for at in random.integers(0, 9, 3)}, [f"c{number}"])
        nodes.append(np.count_nonzero(learner.dump()["node_children"]))
    assert max(nodes[300:]) < 1.3 * nodes[300]


def test_room_is_given_back_with_what_is_forgotten():
    learner = Learner(Options.of("oplt", arity=50, max_leaves=50))
    features = [f"f{number}" for number in range(200)]
    for number in range(300):
        learner.learn(features, [f"c{number}"])
    full = learner.resident_bytes
    for number in range(290):
        learner.forget_class(f"c{number}")
    assert learner.resident_bytes < full / 5


def test_classes_go_when_their_nodes_take_the_bytes():
    learner = Learner(Options.of("oplt", arity=2, max_leaves=1, max_bytes=2**20))
    for number in range(6000):
        learner.learn([f"f{number % 50}"], [f"c{number}"])
    assert learner.bytes <= 2**20
    assert learner.evicted_classes > 0
    assert learner.features > 40


def test_a_tree_is_built_at_once_when_the_sample_is_lowered_to_the_kept_number():
    learner = Learner(Options.of("iplt", sample=100, max_leaves=2, arity=2))
    for number in range(50):
        learner.learn([f"f{number % 10}", "all"], [f"c{number % 10}"])
    learner.configure(Options.of("iplt", sample=20, max_leaves=2, arity=2))
    assert all(learner.rank([f"f{n}", "all"], 1)[0][0] == f"c{n}" for n in range(10))


def test_a_grown_tree_is_not_rebuilt_from_a_later_sample():
    options = Options.of("oplt", arity=2, max_leaves=2)
    left_alone, configured = Learner(options), Learner(options)
    for number in range(40):
        for learner in (left_alone, configured):
            learner.learn({f"f{number % 7}": 1.0}, [f"c{number % 9}"])
        if number == 20:
            configured.configure(Options.of("oplt", arity=2, max_leaves=2, sample=5))
    assert configured.rank({"f1": 1.0}, 20) == left_alone.rank({"f1": 1.0}, 20)
    assert len(configured.dump()["kept_features"]) == 0

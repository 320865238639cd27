"""Dumps of label trees: damage is refused or makes an equal state."""

import numpy as np
import pytest

from manyclass.core.errors import SnapshotError
from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from tests.core.dumped_tree import nodes_of, root_of
from tests.core.dumps import assert_equal_dumps, names

CLASSES = [f"c{number}" for number in range(12)]
OF_TREE = ("node_", "children_ids", "block_", "tree_", "class_turns")


def taught(specification, forget=True):
    learner, random = Learner(Options.parse(specification)), np.random.default_rng(6)
    for number in range(80):
        features = {f"f{n}": 1.0 + n for n in random.integers(0, 9, 3).tolist()}
        learner.learn(features, [CLASSES[number % 12], CLASSES[int(random.integers(12))]])
    if forget:
        for name in ("c3", "c4", "c5"):
            learner.forget_class(name)
        learner.forget_feature("f2")
    return learner


TAUGHT = [
    taught("oplt(arity=2,max_leaves=2)"),
    taught("oplt(policy=random,arity=3,max_leaves=1)"),
    taught("iplt(sample=60,arity=2,max_leaves=2)", forget=False),
    taught("iplt(sample=900,arity=3,max_leaves=3)"),
]


def other_values(section, at):
    """Yield other values for an item: single bits flipped, and the ends of the range."""
    value = section[at]
    if section.dtype.kind == "f":
        yield from (np.nan, np.inf, -np.inf, -1.0, 0.0, 3e38, -3e38, float(value) + 1)
    else:
        most = np.iinfo(section.dtype).max
        yield from (0, 1, 2, 3, most, most - 1, most // 2)
        for bit in range(min(section.dtype.itemsize * 8, 12)):
            yield int(value) ^ (1 << bit)
    yield section[at - 1]


def use(learner):
    """Call every operation of a tree."""
    for number in range(6):
        learner.rank({"f1": 1.0, "f3": 2.0}, 50)
        learner.explain({"f1": 1.0}, CLASSES)
        learner.paths({"f1": 1.0}, CLASSES)
        learner.learn({"f1": 1.0, f"new {number}": 3.0}, [f"new {number}", f"c{number}"])
    for name in CLASSES:
        learner.forget_class(name)
    learner.forget_feature("f1")
    learner.learn({"f1": 1.0}, ["c1"])


def assert_refused_or_equal(options, sections):
    try:
        learner = Learner.load(options, sections)
    except SnapshotError:
        return False
    assert_equal_dumps(learner.dump(), sections)
    use(learner)
    Learner.load(options, learner.dump())
    return True


@pytest.mark.parametrize("learner", TAUGHT, ids=lambda learner: learner.options.specification)
def test_every_damaged_number_is_refused_or_stands(learner):
    sections = learner.dump()
    random = np.random.default_rng(8)
    assert assert_refused_or_equal(learner.options, sections)
    for name in sections:
        size = len(sections[name])
        if not (name.startswith(OF_TREE) or name == "counts"):
            continue
        for at in random.permutation(size)[:10].tolist() if name != "counts" else range(7, size):
            for other in other_values(sections[name], at):
                changed = sections[name].copy()
                changed[at] = other
                assert_refused_or_equal(learner.options, sections | {name: changed})


@pytest.mark.parametrize("learner", TAUGHT, ids=lambda learner: learner.options.specification)
def test_moved_numbers_are_refused_or_load(learner):
    """Swap two numbers of an array, or move one to another place."""
    sections, random = learner.dump(), np.random.default_rng(9)
    for name, section in sections.items():
        if not name.startswith(OF_TREE) or len(section) < 2:
            continue
        for _ in range(20):
            one, other = random.integers(0, len(section), 2)
            swapped = section.copy()
            swapped[[one, other]] = section[[other, one]]
            assert_refused_or_equal(learner.options, sections | {name: swapped})
            moved = np.insert(np.delete(section, one), other, section[one])
            assert_refused_or_equal(learner.options, sections | {name: moved})


@pytest.mark.parametrize("learner", TAUGHT, ids=lambda learner: learner.options.specification)
def test_arrays_of_other_lengths_are_refused(learner):
    sections = learner.dump()
    for name, section in sections.items():
        if not name.startswith(OF_TREE):
            continue
        for damaged in (section[:0], section[:-1], section[1:], np.append(section, section[-1:])):
            if len(damaged) != len(section):
                with pytest.raises(SnapshotError):
                    Learner.load(learner.options, sections | {name: damaged})


@pytest.mark.parametrize(
    ("name", "at", "value", "error"),
    [
        ("counts", 7, 0, "a root or turns"),
        ("counts", 7, 2**40, "no such root"),
        ("counts", 8, 1, "at once"),
        ("counts", 8, 2**63, "so large"),
        ("counts", 8, 2**61, "not so many"),
        ("counts", 10, 2, "over or is not"),
        ("node_kinds", 0, 4, "no such node"),
        ("node_kinds", 0, 1, "no such node"),
        ("tree_weights", 3, 1e11, "not one"),
        ("tree_weights", 3, np.nan, "not one"),
        ("tree_squares", 3, -1, "not one"),
        ("tree_squares", 3, 2e36, "not one"),
        ("block_features", 0, 2**31, "no feature"),
        ("block_weights", 0, 0, "more or fewer"),
    ],
)
def test_the_error_names_the_fault(name, at, value, error):
    learner = TAUGHT[0]
    changed = learner.dump()[name]
    changed[at] = value
    with pytest.raises(SnapshotError, match=error):
        Learner.load(learner.options, learner.dump() | {name: changed})


def test_a_class_without_a_leaf_has_no_turn():
    sections = TAUGHT[0].dump()
    free = sections["class_free"][0]
    changed = sections["class_turns"].copy()
    changed[free] = 5
    with pytest.raises(SnapshotError, match="no leaf"):
        Learner.load(TAUGHT[0].options, sections | {"class_turns": changed})


@pytest.mark.parametrize(("written", "read"), [("oplt", "ff"), ("ff", "oplt")])
def test_the_state_of_another_learner_is_refused(written, read):
    with pytest.raises(SnapshotError, match="another learner"):
        Learner.load(Options.of(read), taught(written).dump())


def features_of(state, node):
    """Return the position of a node's first block, and the feature ids of its blocks."""
    first = int(state["node_blocks"][:node].sum())
    return first, state["block_features"][first : first + state["node_blocks"][node]].tolist()


def nodes_above(state):
    """Return the parent of each node but the root."""
    return {
        child: id
        for id, node in enumerate(nodes_of(state))
        if not node.is_preleaf
        for child in node.children
    }


@pytest.mark.parametrize(
    "specification", ["oplt(arity=2,max_leaves=2", "iplt(sample=40,max_leaves=1"]
)
@pytest.mark.parametrize("least", [0, 0.3, 0.9])
def test_a_feature_in_a_node_is_in_the_node_above_it(specification, least):
    learner = Learner(
        Options.parse(f"{specification},min_weight={least},max_features=12,max_classes=20)")
    )
    random = np.random.default_rng(6)
    held = 0
    for number in range(200):
        features = {f"f{n}": 1.0 + n for n in random.integers(0, 20, 3).tolist()}
        learner.learn(features, [f"c{each}" for each in set(random.integers(0, 40, 2).tolist())])
        if number % 10:
            continue
        state = learner.dump()
        for below, above in nodes_above(state).items():
            assert {*features_of(state, below)[1]} <= {*features_of(state, above)[1]}
            held += len(features_of(state, below)[1])
    assert held > 100


def test_a_state_with_a_feature_in_a_node_but_not_above_is_refused():
    learner = taught("oplt(arity=2,max_leaves=2)", forget=False)
    state = learner.dump()
    id = names(state, "feature").index("f1")
    first, of_root = features_of(state, root_of(state))
    block = first + of_root.index(id)
    begin = int(state["block_weights"][:block].sum())
    weights = range(begin, begin + int(state["block_weights"][block]))
    other = dict(state)
    other["node_blocks"] = state["node_blocks"].copy()
    other["node_blocks"][root_of(state)] -= 1
    for name in ("block_features", "block_weights"):
        other[name] = np.delete(state[name], block)
    for name in ("tree_weights", "tree_squares"):
        other[name] = np.delete(state[name], weights)
    with pytest.raises(SnapshotError, match="a feature that the node above it lacks"):
        Learner.load(learner.options, other)

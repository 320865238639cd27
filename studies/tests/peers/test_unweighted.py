import numpy as np
import pytest

from manyclass.training.rows import Rows
from studies.peers.unweighted import Edges, Perceptrons, UnweightedIndex

ACTIVE = np.array([0, 2], np.int32)
VALUES = np.array([0.6, 0.8], np.float32)
NONE = np.empty(0, np.intp)


def columns(*numbers):
    return np.array(numbers, np.intp)


@pytest.fixture
def edges():
    return Edges(features=4, classes=8)


def test_a_true_class_that_was_not_retrieved_is_from_then_on(edges):
    assert edges.retrieved(ACTIVE).tolist() == []

    edges.learn(ACTIVE, columns(5), NONE, most=3)

    assert edges.retrieved(ACTIVE).tolist() == [5]
    assert edges.retrieved(ACTIVE[:1]).tolist() == [5]
    assert edges.retrieved(np.array([1])).tolist() == []
    assert edges.count == 2


def test_promoted_weights_double_up_to_one(edges):
    for expected in (0.5, 1.0, 1.0):
        edges.learn(ACTIVE, columns(5), NONE, most=3)
        assert edges.weights[0, 5] == expected


def test_more_false_classes_than_tolerated_lose_weight_and_then_their_edges(edges):
    for each in (1, 2, 3):
        edges.learn(ACTIVE, columns(each), NONE, most=2)
    edges.learn(ACTIVE, columns(3), NONE, most=2)
    found = edges.retrieved(ACTIVE)

    edges.learn(ACTIVE, columns(1), found, most=2)
    assert edges.retrieved(ACTIVE).tolist() == [1, 2, 3]

    edges.learn(ACTIVE, columns(0), found, most=2)
    assert edges.retrieved(ACTIVE).tolist() == [0, 3]


def test_a_retrieved_true_class_among_few_false_ones_changes_nothing(edges):
    edges.learn(ACTIVE, columns(1), NONE, most=2)
    edges.learn(ACTIVE, columns(2), NONE, most=2)
    before = edges.weights.copy()

    edges.learn(ACTIVE, columns(1), edges.retrieved(ACTIVE), most=1)

    assert edges.weights.tolist() == before.tolist()


def test_weights_below_an_edge_do_not_score(edges):
    edges.weights[0, 1] = 1.0
    edges.weights[2, 1] = 0.25
    edges.weights[2, 4] = 0.5

    assert edges.scores(ACTIVE, VALUES, columns(1, 4)).tolist() == pytest.approx([0.6, 0.4])


def test_each_wrong_member_moves_by_the_instance_and_right_ones_stay():
    perceptrons = Perceptrons(4, 8, np.random.default_rng(0))
    shown = columns(1, 4)
    perceptrons.learn(ACTIVE, VALUES, shown, np.array([True, False]))
    one, value = ACTIVE[:1], np.ones(1, np.float32)
    before = perceptrons.scores(one, value, shown)

    perceptrons.learn(one, value, shown, np.array([False, True]))

    sign = np.array([[-1], [1]])
    wrong = before * sign <= 0
    moved = perceptrons.scores(one, value, shown) - before
    assert wrong.any()
    assert not wrong.all()
    assert moved == pytest.approx(np.where(wrong, sign, 0), abs=1e-6)


def test_members_start_from_weights_of_their_own():
    perceptrons = Perceptrons(4, 8, np.random.default_rng(0))

    perceptrons.learn(ACTIVE, VALUES, columns(1), np.array([True]))

    weights = perceptrons.scores(ACTIVE[:1], np.ones(1, np.float32), columns(1)) - 0.6
    assert len(set(weights[0].tolist())) == Perceptrons.MEMBERS
    assert np.abs(weights).max() <= 1
    assert perceptrons.bytes == 3 * 44


def test_many_pairs_find_room():
    perceptrons = Perceptrons(400, 8, np.random.default_rng(0))
    active, values = np.arange(400, dtype=np.int32), np.full(400, 0.05, np.float32)

    perceptrons.learn(active, values, columns(*range(8)), np.ones(8, bool))

    scores = perceptrons.scores(active, values, columns(*range(8)))
    assert perceptrons.bytes == (400 * 8 + 1) * 44
    assert (scores > 0).mean() > 0.9


@pytest.mark.parametrize("classifiers", [False, True])
def test_classes_told_by_a_feature_are_learned(classifiers):
    rows = Rows.of(
        (["common", f"sign {at % 9}", f"noise {at % 4}"], [f"class {at % 9}"]) for at in range(90)
    )
    peer, again = (UnweightedIndex("it", 3, classifiers) for _ in range(2))

    peer.fit(rows)
    again.fit(rows)
    ranked = peer.rank(rows, 7)

    looked_at = ranked[:, :1] if classifiers else ranked
    assert ranked.dtype == np.int32
    assert ranked.shape == (90, 7)
    assert (looked_at == rows.class_indices[:, None]).any(axis=1).mean() > 0.9
    assert (ranked < 0).any()
    assert ranked.tolist() == again.rank(rows, 7).tolist()
    assert peer.bytes() > 0


def test_an_instance_of_new_features_retrieves_nothing():
    rows = Rows.of([(["a"], ["x"]), (["b"], ["y"]), (["c"], ["x"])])
    peer = UnweightedIndex("it", 0)

    peer.fit(rows.take(np.arange(2)))

    assert peer.rank(rows, 2).tolist() == [[0, -1], [1, -1], [-1, -1]]
    assert peer.rank(rows.take(np.arange(0)), 2).shape == (0, 2)

"""The SVM with unlimited replay of past instances solves the batch problem."""

from itertools import islice

import numpy as np
import pytest

from manyclass.core.index import Index
from manyclass.core.learners.options import Options
from tests.core.dumps import names
from tests.core.matrices import Matrices

FEATURES = [f"f{number}" for number in range(12)]
CLASSES = [f"c{number}" for number in range(5)]
MATRICES = Matrices(FEATURES, CLASSES)
AGGRESSIVENESS, CAUTION, MARGIN = 2.0, 0.5, 0.75
LEAST_STEP = 0.02  # of the margin, which is 1 here
REPLAYS = 200


def options(demands):
    return Options.of(
        "svm",
        **{"demands": demands, "aggressiveness": AGGRESSIVENESS, "caution": CAUTION},
        **{"margin_threshold": MARGIN, "negatives": len(CLASSES), "max_outdegree": 100},
        **{"sublinear": False, "tfidf": False, "replay": REPLAYS},
    )


@pytest.fixture(scope="module", params=["pairs", "each"])
def solved(request):
    """Return an index that replayed 40 instances until its state converged."""
    index = Index(options(request.param))
    random = np.random.default_rng(3)
    for _ in range(40):
        instance = {FEATURES[place]: random.uniform(0.2, 2) for place in random.permutation(12)[:5]}
        true = random.permutation(5)[: random.integers(1, 3)]
        index.learn(instance, [CLASSES[label] for label in true])
    for _ in range(60):
        learn_only_the_past(index)
    return index


def learn_only_the_past(index):
    index.learn([], [CLASSES[0]])


def past(index):
    """Return x, true columns and multipliers by (positive, negative) of each kept instance."""
    state = index.dump()
    features = [FEATURES.index(name) for name in names(state, "feature")]
    columns = dict(enumerate(CLASSES.index(name) for name in names(state, "class")))
    values = together(state, "kept_feature_ids", "kept_feature_values")
    true = iter(state["kept_class_ids"])
    demands = together(
        state, *(f"kept_demands_{part}" for part in ("ahead", "behind", "multiplier"))
    )
    for sizes in together(state, "kept_features", "kept_true", "kept_demanded"):
        x = np.zeros(len(FEATURES))
        for id, value in islice(values, sizes[0]):
            x[features[id]] = value
        trues = [columns[id] for id in islice(true, sizes[1])]
        multipliers = {
            (columns.get(ahead), columns.get(behind)): multiplier
            for ahead, behind, multiplier in islice(demands, sizes[2])
        }
        yield x / np.linalg.norm(x), trues, multipliers


def together(state, *sections):
    return zip(*(state[name].tolist() for name in sections), strict=True)


def demanded(true, wrong, demands):
    """Yield (positive, negative, margin, price) of the constraints of these classes."""
    for column in true:
        yield column, None, MARGIN, AGGRESSIVENESS
    for negative in wrong:
        if demands == "each":
            yield None, negative, 0.0, CAUTION
        else:
            yield from ((column, negative, MARGIN, CAUTION / len(true)) for column in true)


def test_weights_are_made_of_the_instances_by_their_multipliers(solved):
    expected = np.zeros((len(FEATURES), len(CLASSES)))
    for x, _, multipliers in past(solved):
        for (ahead, behind), multiplier in multipliers.items():
            if ahead is not None:
                expected[:, ahead] += multiplier * x
            if behind is not None:
                expected[:, behind] -= multiplier * x

    np.testing.assert_allclose(MATRICES.weights(solved), expected, rtol=0, atol=1e-4)
    assert np.abs(expected).max() > 0.3


def test_no_demand_is_left_to_settle(solved):
    weights = MATRICES.weights(solved)
    binding = slack = 0
    for x, true, multipliers in past(solved):
        scores = dict(enumerate(x @ weights))
        wrong = [column for column in range(len(CLASSES)) if column not in true]
        left = dict(multipliers)
        for ahead, behind, margin, price in demanded(true, wrong, solved.options.demands):
            sides = (ahead is not None) + (behind is not None)
            lead = (0 if ahead is None else scores[ahead]) - (
                0 if behind is None else scores[behind]
            )
            multiplier = left.pop((ahead, behind), 0.0)
            gradient = margin - lead - multiplier / (2 * price)
            stiffness = sides + 1 / (2 * price)
            least, step = LEAST_STEP / stiffness, gradient / stiffness
            if multiplier > least:
                assert abs(step) <= least + 1e-5
                binding += 1
            else:
                assert step <= least + 1e-5
                slack += 1
        assert not left
    assert binding > 50
    assert slack > 5


def test_a_converged_state_stays(solved):
    before = MATRICES.weights(solved)
    learn_only_the_past(solved)

    assert np.array_equal(MATRICES.weights(solved), before)


def test_one_demand_by_hand():
    index = Index(Options.of("svm", normalize="none", sublinear=False, tfidf=False, replay=0))
    index.learn({"f": 2.0}, ["a"])
    first = 1 / (4 + 1 / 2)
    assert index.feature("f")["edges"] == [("a", pytest.approx(2 * first))]
    index.learn({"f": 1.0}, ["b"])

    alone = 1 / (1 + 1 / 2)  # b is to score at least 1
    ahead = (1 - (alone - 2 * first)) / (2 + 1 / (2 * 0.2))  # and 1 more than a
    edges = dict(index.feature("f")["edges"])
    assert edges == {
        "a": pytest.approx(2 * first - ahead),
        "b": pytest.approx(alone + ahead),
    }

"""The SVM with unlimited replay of past instances solves the batch problem."""

from itertools import islice

import numpy as np
import pytest

from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from tests.core.dumps import names
from tests.core.matrices import Matrices

FEATURES = [f"f{number}" for number in range(12)]
CLASSES = [f"c{number}" for number in range(5)]
MATRICES = Matrices(FEATURES, CLASSES)
AGGRESSIVENESS, CAUTION, MARGIN = 2.0, 0.5, 0.75
LEAST_STEPS = {"pairs": 0.2, "each": 0.02}  # of the margin, by a replayed instance
REPLAYS = 200


def options(demands):
    return Options.of(
        "svm",
        **{"constraints": demands, "C": AGGRESSIVENESS, "C_negative": CAUTION},
        **{"margin_threshold": MARGIN, "negatives": len(CLASSES), "max_outdegree": 100},
        **{"sublinear": False, "tfidf": False, "replay": REPLAYS, "bias": 0.0},
    )


@pytest.fixture(scope="module", params=["pairs", "each"])
def solved(request):
    """Return a learner that replayed 40 instances until its state converged."""
    learner = Learner(options(request.param))
    random = np.random.default_rng(3)
    for _ in range(40):
        instance = {FEATURES[place]: random.uniform(0.2, 2) for place in random.permutation(12)[:5]}
        true = random.permutation(5)[: random.integers(1, 3)]
        learner.learn(instance, [CLASSES[label] for label in true])
    for _ in range(60):
        learn_only_the_past(learner)
    return learner


def learn_only_the_past(learner):
    learner.learn([], [CLASSES[0]])


def past(learner):
    """Return x, true columns and multipliers by (positive, negative) of each kept instance."""
    state = learner.dump()
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
    demands = solved.options.constraints
    binding = slack = 0
    for x, true, multipliers in past(solved):
        scores = dict(enumerate(x @ weights))
        wrong = [column for column in range(len(CLASSES)) if column not in true]
        left = dict(multipliers)
        for ahead, behind, margin, price in demanded(true, wrong, demands):
            sides = (ahead is not None) + (behind is not None)
            lead = (0 if ahead is None else scores[ahead]) - (
                0 if behind is None else scores[behind]
            )
            multiplier = left.pop((ahead, behind), 0.0)
            gradient = margin - lead - multiplier / (2 * price)
            stiffness = sides + 1 / (2 * price)
            least = LEAST_STEPS[demands] * MARGIN / stiffness
            step = gradient / stiffness
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
    learner = Learner(Options.of("svm", normalize="none", sublinear=False, tfidf=False, replay=0))
    learner.learn({"f": 2.0}, ["a"])
    first = 1 / (4 + 1 / 2)
    assert learner.feature("f")["edges"] == [("a", pytest.approx(2 * first))]
    learner.learn({"f": 1.0}, ["b"])

    alone = 1 / (1 + 1 / 2)  # b is to score at least 1
    ahead = (1 - (alone - 2 * first)) / (2 + 1 / (2 * 0.2))  # and 1 more than a
    edges = dict(learner.feature("f")["edges"])
    assert edges == {
        "a": pytest.approx(2 * first - ahead),
        "b": pytest.approx(alone + ahead),
    }


def of_many(**given):
    """Return a learner that separates the classes of instances with many classes each from 0."""
    plain = {"normalize": "none", "sublinear": False, "tfidf": False, "replay": 0, "bias": 0.0}
    return Learner(Options.of("svm", constraints="auto", **plain | given))


def test_many_classes_by_hand():
    learner = of_many(C=3.0, bias=0.5)
    first, second = [f"a{number}" for number in range(9)], [f"b{number}" for number in range(11)]
    learner.learn({"f": 2.0}, first)
    softness = 1 / (2 * 3.0 / (2 * 9))
    value = 0.5 * 2.0  # of the bias
    step = 1 / (2.0**2 + value**2 + softness)
    assert learner.feature("f")["edges"] == [(name, pytest.approx(2 * step)) for name in first]
    assert learner.dump()["class_bias"].tolist() == pytest.approx([step * value] * 9)

    score = 2 * (2 * step) + value * (step * value)
    assert learner.rank({"f": 2.0}, 1) == [("a0", pytest.approx(score))]

    learner.learn({"f": 2.0}, second)
    price = 3.0 / (2 * 10)  # of 10 classes on average
    back = score / (2.0**2 + value**2 + 1 / (2 * min(price, 0.2)))  # a0 is to score at most 0
    biases = learner.dump()["class_bias"]
    assert biases[0] == pytest.approx((step - back) * value)
    assert biases[-1] == pytest.approx(1 / (2.0**2 + value**2 + 1 / (2 * price)) * value)


def test_few_classes_are_separated_in_pairs_without_a_bias():
    random = np.random.default_rng(1)
    pairs, chosen = (
        Learner(Options.of("svm", constraints=form, bias=bias))
        for form, bias in (("pairs", 0.0), ("auto", 0.3))
    )
    for _ in range(200):
        instance = {FEATURES[place]: random.uniform(0.2, 2) for place in random.permutation(12)[:5]}
        true = [CLASSES[label] for label in random.permutation(5)[: random.integers(1, 4)]]
        for learner in (pairs, chosen):
            learner.learn(instance, true)

    states = pairs.dump(), chosen.dump()
    assert not states[1].pop("class_bias").any()
    assert {name: array.tolist() for name, array in states[0].items()} == {
        name: array.tolist() for name, array in states[1].items()
    }


def test_many_noisy_classes_are_ranked_better_each_from_0_than_in_pairs():
    """Instances have 2 to 20 classes, most often those of their three features."""
    random = np.random.default_rng(5)
    stream = []
    for _ in range(1500):
        words = random.permutation(20)[:3]
        odds = np.ones(100)
        for word in words:
            odds[word * 5 : word * 5 + 5] += [60, 40, 20, 10, 5]
        true = random.choice(100, random.integers(2, 21), replace=False, p=odds / odds.sum())
        stream.append(({f"f{word}": 1.0 for word in words}, [f"c{each}" for each in true]))
    precision = {}
    for form in ("pairs", "auto"):
        learner = Learner(Options.of("svm", max_outdegree=1000, constraints=form))
        for instance, classes in stream[:1200]:
            learner.learn(instance, classes)
        precision[form] = np.mean(
            [
                name in classes
                for instance, classes in stream[1200:]
                for name, _ in learner.rank(instance, 5)
            ]
        )
    assert precision["auto"] > precision["pairs"] + 0.02, precision


def test_a_bias_ranks_frequent_classes_first_where_a_feature_says_nothing():
    first = {}
    for bias in (0.0, 0.3):
        learner = of_many(bias=bias)
        others = [f"c{number}" for number in range(10)]
        learner.learn({"new": 1.0}, ["rare", "frequent", *others])
        for number in range(50):
            learner.learn({f"f{number % 10}": 1.0}, ["frequent", *others[:8]])
        first[bias] = [name for name, _ in learner.rank({"new": 1.0}, 12)]
    assert first[0.0][0] == "rare"  # of equal scores the older class
    assert first[0.3].index("frequent") < first[0.3].index("rare")


def test_events_without_true_classes_do_not_change_the_form():
    learner = of_many(bias=0.5)
    for number in range(20):
        learner.learn({"f": 1.0, "g": 1.0}, [f"c{(number + each) % 12}" for each in range(10)])
    before = learner.rank({"f": 1.0}, 3)
    for _ in range(60):
        learner.learn({"other": 1.0}, [], rejected=["nobody knows it"])
    assert learner.rank({"f": 1.0}, 3) == before
    again = Learner.load(learner.options, learner.dump())
    assert again.rank({"f": 1.0}, 3) == before


def test_a_bias_can_be_set_and_lifted_later():
    learner = of_many()
    classes = [f"c{number}" for number in range(10)]
    learner.learn({"f": 1.0}, classes)
    assert "class_bias" not in learner.dump()

    learner.configure(learner.options.replace(bias=0.5))
    assert not learner.dump()["class_bias"].any()
    without = learner.rank({"f": 1.0}, 1)[0][1]
    learner.learn({"g": 1.0}, classes)
    assert learner.rank({"f": 1.0}, 1)[0][1] > without

    learner.configure(learner.options.replace(bias=0.0))
    assert learner.rank({"f": 1.0}, 1)[0][1] == pytest.approx(without)


def test_a_forgotten_class_takes_its_bias_along():
    learner = of_many(bias=0.5)
    learner.learn({"f": 1.0}, [f"c{number}" for number in range(10)])
    learner.forget_class("c3")
    assert np.count_nonzero(learner.dump()["class_bias"]) == 9

"""Learners of signed weights, one negative at a time, beside the textbook's dense matrices."""

import numpy as np
import pytest

from manyclass.core.learner import Learner
from manyclass.core.learners.options import Options
from tests.core.matrices import Matrices

FEATURES = [f"f{number}" for number in range(25)]
CLASSES = [f"c{number}" for number in range(6)]
MATRICES = Matrices(FEATURES, CLASSES)
UNBOUND = {"max_outdegree": 1000, "rating": 0}


def lessons(count, most_classes):
    """Yield examples with many features each; every class prefers features of its own."""
    random = np.random.default_rng(5)
    for _ in range(count):
        true = random.choice(len(CLASSES), random.integers(1, most_classes + 1), replace=False)
        active = {*random.integers(0, len(FEATURES), 8)}
        active |= {4 * label + offset for label in true for offset in range(2)}
        instance = {FEATURES[place]: random.uniform(0.2, 2) for place in sorted(active)}
        yield instance, [CLASSES[label] for label in true]


def steps(options, most_classes=1):
    """Yield for each example: weights before and after, x, scores, positive, negative columns."""
    learner = Learner(options)
    for instance, classes in lessons(400, most_classes):
        before = (
            MATRICES.weights(learner),
            MATRICES.variances(learner) if variances(learner) else None,
        )
        learner.learn(instance, classes)
        after = (
            MATRICES.weights(learner),
            MATRICES.variances(learner) if variances(learner) else None,
        )
        x = MATRICES.vector(instance)
        true = MATRICES.columns(classes)
        wrong = [column for column in range(len(CLASSES)) if column not in true]
        yield before, after, x, x @ before[0], true, wrong


def steps_with_a_negative(options):
    """Yield the steps in which a wrong class scores above 0, with its column."""
    for before, after, x, scores, (true,), wrong in steps(options):
        negative = max(wrong, key=lambda column: scores[column])
        if scores[negative] > 0:
            yield before, after, x, scores, true, negative


def variances(learner):
    return learner.options.learner == "arow"


@pytest.mark.parametrize("aggressiveness", [0.1, 1.0, 10.0])
def test_passive_aggressive_with_one_negative_is_pa_ii(aggressiveness):
    options = Options.of("pa", negatives=1, C=aggressiveness, **UNBOUND)
    compared = changed = 0
    for (before, _), (after, _), x, scores, true, negative in steps_with_a_negative(options):
        expected = before.copy()
        loss = max(0.0, 1 - scores[true] + scores[negative])
        tau = loss / (x @ x + 1 / (2 * aggressiveness))
        expected[:, true] += tau * x
        expected[:, negative] -= tau * x

        np.testing.assert_allclose(after, expected, rtol=0, atol=1e-6)
        compared += 1
        changed += loss > 0
    assert compared > 300
    assert changed > 100


def test_perceptron_moves_every_pair_in_the_wrong_order():
    options = Options.of("mmp", **UNBOUND)
    compared = changed = 0
    for (before, _), (after, _), x, scores, true, wrong in steps(options, most_classes=3):
        if min(scores[true]) <= 0:  # then the textbook's negatives include classes without a score
            continue
        expected = before.copy()
        pairs = [(c, w) for c in true for w in wrong if scores[w] >= scores[c]]
        for ahead, behind in pairs:
            expected[:, ahead] += x / len(pairs)
            expected[:, behind] -= x / len(pairs)

        np.testing.assert_allclose(after, expected, rtol=0, atol=1e-6)
        compared += 1
        changed += len({behind for _, behind in pairs}) > 1
    assert compared > 200
    assert changed > 30


@pytest.mark.parametrize("aggressiveness", [0.1, 1.0, 10.0])
def test_confidence_with_one_negative_is_diagonal_arow(aggressiveness):
    options = Options.of("arow", negatives=1, C=aggressiveness, **UNBOUND)
    compared = changed = 0
    for before, after, x, _, true, negative in steps_with_a_negative(options):
        # as one binary problem: x for the true class, -x for the negative
        psi = np.zeros_like(before[0])
        psi[:, true], psi[:, negative] = x, -x
        mean, sigma = before
        loss = max(0.0, 1 - np.sum(mean * psi))
        beta = 1 / (np.sum(sigma * psi * psi) + 1 / aggressiveness)
        if loss > 0:
            mean = mean + loss * beta * sigma * psi
            sigma = sigma - beta * sigma * sigma * psi * psi

        np.testing.assert_allclose(after[0], mean, rtol=0, atol=1e-6)
        np.testing.assert_allclose(after[1], sigma, rtol=0, atol=1e-6)
        compared += 1
        changed += loss > 0
    assert compared > 300
    assert changed > 100


# --- several negatives, by hand -------------------------------------------------------------------


def test_negatives_step_back_in_proportion_to_their_violations():
    learner = Learner(Options.of("pa", normalize="none", **UNBOUND))
    for name, size in [("a", 0.1), ("b", 0.4), ("c", 0.8)]:
        learner.learn({name: size}, [name])  # a lone class: no negative is updated
    weights = {name: learner.feature(name)["edges"][0][1] for name in "abc"}
    instance = dict.fromkeys("abc", 1.0)
    learner.learn(instance, ["a"])

    tau = (1 - weights["a"] + weights["c"]) / (3 + 1 / 2)
    violations = {name: 1 - weights["a"] + weights[name] for name in "bc"}
    gains = {name: -tau * each / sum(violations.values()) for name, each in violations.items()}
    gains["a"] = tau
    for feature in "abc":
        moved = dict(learner.feature(feature)["edges"])
        moved[feature] -= weights[feature]
        assert moved == pytest.approx(gains, abs=1e-6)


def test_a_positive_without_violating_negatives_steps_forward():
    learner = Learner(Options.of("mmp", normalize="none"))
    assert learner.learn({"f": 2.0}, ["a", "b"])[:2] == (0, True)
    assert learner.feature("f")["edges"] == [("a", 2.0), ("b", 2.0)]
    assert learner.learn({"f": 2.0}, ["a"])[:2] == (1, True)  # b scores as much

    assert learner.feature("f")["edges"] == [("a", 4.0)]
    assert learner.learn({"f": 1.0}, ["a"])[:2] == (1, False)

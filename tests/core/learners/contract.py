"""Learners under their contract: specifications by ability, and labelled examples.

The predicates find the learners that cannot keep a promise by their nature, most of them by a
declared ability. There are no other exceptions.
"""

import numpy as np
import pytest

from manyclass.core.learners.ensemble import members_of
from manyclass.core.learners.learner import make
from manyclass.core.learners.options import Options
from tests.core.specifications import SPECIFICATIONS

every_learner = pytest.mark.parametrize("specification", SPECIFICATIONS)


def every(specification):
    """Return the options of the specification, and of its members if it is an ensemble."""
    options = Options.parse(specification)
    return [options, *members_of(options)]


def learns_at_once(specification):
    """Return true if no member subsamples or shuffles events."""
    return all(options.subsample == 1 and options.shuffle == 0 for options in every(specification))


def treats_all_alike(specification):
    """Return true if every event is learned equally often."""
    return learns_at_once(specification) and all(o.replay == 0 for o in every(specification))


def heeds_features(specification):
    """Return false if any member declares that it ranks all instances alike."""
    return all(options.spec.needs_features for options in every(specification))


def needs_features(specification):
    """Return true if an instance without known features has an empty ranking.

    A label tree still has its bias.
    """
    return heeds_features(specification) and has_edges(specification)


def learns_features(specification):
    """Return false if every member ranks all instances alike."""
    options = Options.parse(specification)
    return any(each.spec.needs_features for each in members_of(options) or [options])


def has_edges(specification):
    """Return true if scores sum edges from features to classes, not nodes on a path."""
    return all(not options.spec.is_probabilistic for options in every(specification))


def adds_up(specification):
    """Return true if a score is the sum of the features' votes.

    It is not if members vote by first places or score below 0, nor if a score has other parts.
    """
    options = Options.parse(specification)
    return needs_features(specification) and (
        (options.learner != "committee" and not options.bias)
        or (
            options.vote == "score"
            and all(member.learner in ("ff", "ind", "ema", "ooz") for member in members_of(options))
        )
    )


def learners_that(holds):
    """Parametrize a test by the specifications that satisfy the predicate."""
    found = [specification for specification in SPECIFICATIONS if holds(specification)]
    return pytest.mark.parametrize("specification", found)


def a_learner(specification, hash_seed=0, **limits):
    return make(Options.parse(specification, **limits), hash_seed)


FEATURES = [f"<feature {number}>" for number in range(40)]
CLASSES = [f"<class {number}>" for number in range(12)]


def lessons(count, seed=0):
    """Yield random instances with features of their classes; float32 holds the values exactly."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        true = random.choice(len(CLASSES), random.choice([1, 1, 1, 2]), replace=False)
        hints = [(3 * label + random.integers(4)) % len(FEATURES) for label in true]
        noise = random.integers(0, len(FEATURES), random.integers(0, 5))
        active = dict.fromkeys([*hints, *noise.tolist()])
        values = random.choice([1.0, 0.5, 3.0, 0.25], len(active))
        instance = {FEATURES[at]: float(v) for at, v in zip(active, values, strict=True)}
        yield instance, [CLASSES[label] for label in true]


LESSONS = list(lessons(120))
PROBES = [instance for instance, _ in lessons(30, seed=1)]


def taught(specification, hash_seed=0, **limits):
    learner = a_learner(specification, hash_seed, **limits)
    for instance, classes in LESSONS:
        learner.learn(instance, classes)
    return learner


def names(ranking):
    return [name for name, _ in ranking]


def assert_is_ranking(ranked):
    """Assert a ranking: best first, finite scores, each class once."""
    scores = [score for _, score in ranked]
    assert scores == sorted(scores, reverse=True)
    assert np.isfinite(scores).all()
    assert len(set(names(ranked))) == len(ranked)

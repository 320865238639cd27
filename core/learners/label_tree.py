"""Label trees: a tree of logistic classifiers over the classes; a score is a probability."""

from manyclass.core.learners.common import (
    LIMITS,
    MIN_WEIGHT,
    RATE,
    RETRIEVAL_WINDOW,
    STREAM,
    preparing,
)
from manyclass.core.learners.spec import Learner, Option
from manyclass.core.progressive_validation import DEEPEST

EPSILON = Option("epsilon", 0.01, "[1e-9, 1e9]", "First sum of squared gradients (AdaGrad).", "ε")
TREE = Option(
    "tree", "kmeans", "complete | random | huffman | kmeans", "Shape of a tree that is planted."
)
SAMPLE = Option(
    "sample", 0, "[0, 16777216]", "First instances, to plant a tree over.", zero="it only grows"
)
POLICY = Option("policy", "greedy", "greedy | random", "Where new classes go: best fit, or random.")
ALPHA = Option("alpha", 0.75, "[0, 1]", "Weight of balance in the greedy policy.")
ARITY = Option("arity", 16, "[2, 1000]", "Children of an inner node, at most.", "b")
MAX_LEAVES = Option("max_leaves", 16, "[1, 1000]", "Classes below a pre-leaf, at most.")


def _label_tree(name: str, sample: int, is_planted: bool) -> Learner:
    return Learner(
        name,
        (
            MIN_WEIGHT.at(0.0),
            *preparing(sublinear=True, tfidf=True),
            RETRIEVAL_WINDOW.at(DEEPEST),  # no update depends on it, and a deep search is slow
            RATE.at(1.0, "(0, 100]"),
            *(EPSILON, TREE, SAMPLE.at(sample), POLICY, ALPHA, ARITY, MAX_LEAVES),
            *(*STREAM, *LIMITS),
        ),
        rows="nothing: a tree has the weights",
        learns="always",
        source="Jasinska-Kobus et al., AISTATS 2021",
        is_probabilistic=True,
        is_planted=is_planted,
    )


LEARNERS = (
    _label_tree("iplt", sample=1000, is_planted=True),
    _label_tree("oplt", sample=0, is_planted=False),
)

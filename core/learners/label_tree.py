"""Label trees: a tree of logistic classifiers over the classes; a score is a probability."""

from manyclass.core.learners.common import LIMITS, MIN_WEIGHT, RATE, STREAM, WINDOW, preparing
from manyclass.core.learners.linear import BIAS, REPLAY, REPLAY_SIZE
from manyclass.core.learners.spec import LearnerSpec, Option
from manyclass.core.progressive_validation import DEEPEST

SHAPES = "complete | random | huffman | kmeans"

EPSILON = Option("epsilon", 0.01, "[1e-9, 1e9]", "First sum of squared gradients (AdaGrad).", "ε")
TREE = Option("tree", "kmeans", SHAPES, "Shape of a tree built at once.")
SAMPLE = Option("sample", 0, "[0, 16777216]", "Instances to build a tree from.", zero="only grow")
POLICY = Option(
    "policy",
    "greedy",
    "greedy | sampled | random",
    "Where new classes go: best fit, best fit of a random half, or random.",
)
ALPHA = Option("alpha", 0.75, "[0, 1]", "Weight of balance in the greedy policy.")
ARITY = Option("arity", 16, "[2, 1000]", "Children of an inner node, at most.", "b")
MAX_LEAVES = Option("max_leaves", 16, "[1, 1000]", "Classes below a pre-leaf, at most.")

ABOUT = "nothing: a tree has the weights | always | Jasinska-Kobus et al., AISTATS 2021"


def _options(sample: int) -> tuple[Option, ...]:
    return (
        *(MIN_WEIGHT.at(0.0), *preparing(sublinear=True, tfidf=True)),
        WINDOW.at(DEEPEST),  # no update depends on it, and a deep search is slow
        *(RATE.at(1.0, "(0, 100]"), EPSILON, BIAS.at(0.05), TREE, SAMPLE.at(sample)),
        *(POLICY, ALPHA, ARITY, MAX_LEAVES, REPLAY, REPLAY_SIZE, *STREAM, *LIMITS),
    )


LEARNERS = (
    LearnerSpec(
        "iplt",
        ABOUT,
        _options(sample=1000),
        is_probabilistic=True,
        learns_weights=True,
        builds_offline=True,
    ),
    LearnerSpec("oplt", ABOUT, _options(sample=0), is_probabilistic=True, learns_weights=True),
)

"""Options that several families of learners share."""

from manyclass.core.learners.spec import Option

BINARIZE = Option("binarize", False, "", "Every value counts as 1, unscaled.")
NORMALIZE = Option("normalize", "l2", "l2 | none", "Scale an instance to length 1, or not.")
SUBLINEAR = Option("sublinear", True, "", "A value v above 1 counts as 1 + log v.")
TFIDF = Option("tfidf", False, "", "Weigh a value by how rare its feature has been so far.")

WINDOW = Option("retrieval_window", 50, "[1, 2147483647]", "Lowest rank of a retrieved class.")
MIN_WEIGHT = Option("min_weight", 0.01, "[0, 1)", "Drop lighter edges.", "w_min, p_ind")
RATE = Option("rate", 0.1, "(0, 1]", "How far an update moves a weight.", "β")

SEED = Option("seed", 0, "[0, 9223372036854775807]", "Seed of all random draws.")
STREAM = (
    Option("subsample", 1.0, "(0, 1]", "Share of events that a member learns.", of_members=True),
    Option(
        "shuffle",
        0,
        "[0, 1048576]",
        "Events a member holds back, to shuffle them.",
        zero="off",
        of_members=True,
    ),
    SEED,
)
LIMITS = (
    Option("max_features", 10_000_000, "[1, 4294967294]", "Features; beyond, some are evicted."),
    Option("max_classes", 1_000_000, "[1, 4294967294]", "Classes; beyond, some are evicted."),
    Option("max_bytes", 4 * 2**30, "[1048576, 17179869184]", "Bytes; beyond, some are evicted."),
)


def preparing(
    binarize: bool = False, sublinear: bool = False, tfidf: bool = False
) -> tuple[Option, ...]:
    """Return the options of preprocessing, with these defaults."""
    return (BINARIZE.at(binarize), NORMALIZE, SUBLINEAR.at(sublinear), TFIDF.at(tfidf))

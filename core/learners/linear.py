"""Linear learners: a weight for each pair of a feature and a class, in rows with a budget.

Unless another paper is named, symbols are those of Madani et al., JMLR 2009. The defaults of `ff`
for `margin_threshold`, `mass_cap` and `sublinear` were best on drifting streams
(docs/measurements.md). The paper has 0, 0 and no: with these, the words of long documents fill the
masses (docs/evaluation.md, section 6).
"""

from manyclass.core.learners.common import LIMITS, MIN_WEIGHT, RATE, STREAM, WINDOW, preparing
from manyclass.core.learners.spec import LearnerSpec, Option

LONGEST_ROW = 65_535

MARGIN = Option("margin_threshold", 0.1, "[-1e9, 1e9]", "Do not update above this margin.", "δ_m")
OUTDEGREE = Option(
    "max_outdegree", 25, f"[1, {LONGEST_ROW}]", "Edges of a feature that vote.", "d_max"
)
BUDGET = Option(
    "budget",
    0.0,
    "[1, 65535]",
    "Edges a feature on average; edges that move scores least go.",
    zero="off",
)
BUDGET_FLOOR = Option(
    "budget_floor",
    131_072,  # 1.2 MB
    "[0, 4294967295]",
    "Edges that a budget allows at least.",
)
RATING = Option("rating", 0, "[0, 2147483647]", "Times seen before a full vote.", zero="off")
LEAK = Option("leak", True, "", "The mass of a dropped edge stays in the feature mass.")
MASS_CAP = Option(
    "mass_cap",
    30.0,
    "[1, inf)",
    "Halve the masses of a heavier row.",
    zero="infinite",
)
C = Option("C", 1.0, "[1e-9, 1e9]", "How far an update goes.", "C; 1/r of AROW")
C_NEGATIVE = Option("C_negative", 0.2, "[1e-9, 1e9]", "C of wrong classes alone.", "C")
CONSTRAINTS = Option(
    "constraints",
    "pairs",
    "pairs | each | auto",
    "Separate pairs, or each from 0, or each if instances have many classes.",
)
BIAS = Option(
    "bias",
    0.0,
    "(0, 1000]",
    "Value of a bias; in svm where classes are separated from 0.",
    zero="off",
)
COST = Option(
    "cost",
    "none",
    "none | sqrt | linear",
    "How the margin over a wrong class grows with its distance in the taxonomy.",
)
FAMILY_RATE = Option(
    "family_rate",
    0.5,
    "[0, 1]",
    "How far an update moves the weights of a family, beside those of a class.",
    absent=0.0,
)
NEGATIVES = Option("negatives", 5, "[1, 1000]", "Wrong classes that an update moves, at most.", "k")
REPLAY = Option("replay", 0, "[0, 1000]", "Past instances learned again an event.", zero="off")
REPLAY_SIZE = Option(
    "replay_size", 10_000, "[1, 16777216]", "Past instances kept for replay and as neighbors."
)
NEIGHBORS = Option(
    "neighbors", 0, "[0, 1000]", "Nearest past instances that vote, if it helps.", zero="off"
)

BEST = {"replay": 8, "replay_size": 100_000, "neighbors": 20}

LAST = (*STREAM, *LIMITS)
REPLAYING = (REPLAY, REPLAY_SIZE, NEIGHBORS, *LAST)
SIGNED = (OUTDEGREE.at(50), BUDGET, BUDGET_FLOOR, RATING)

LEARNERS = (
    LearnerSpec(
        "ff",
        "shares of the feature mass | when the margin is small | Madani et al., JMLR 2009",
        (
            *(MARGIN, MIN_WEIGHT, OUTDEGREE, RATING.at(10), LEAK, *preparing(sublinear=True)),
            *(WINDOW, MASS_CAP, *REPLAYING),
        ),
        learns_weights=True,
    ),
    LearnerSpec(
        "ind",
        "shares: P(class given feature) | always | the same, section 4.2",
        (
            *(MIN_WEIGHT.at(0.1), OUTDEGREE.at(LONGEST_ROW), RATING, *preparing(binarize=True)),
            *(MASS_CAP.at(0.0), *LAST),
        ),
        learns_weights=True,
    ),
    LearnerSpec(
        "ema",
        "moving averages | when the margin is small | Madani, Huang, KDD 2008",
        (
            *(MARGIN, MIN_WEIGHT.at(0.001), OUTDEGREE, RATING.at(10), *preparing()),
            *(WINDOW, RATE, *REPLAYING),
        ),
        learns_weights=True,
    ),
    LearnerSpec(
        "ooz",
        "weights in [0, 1], at most 1 a row | when the margin is small"
        " | Madani, Huang, *Flat Techniques*",
        (
            MARGIN.at(0.005, "(0, 1e9]"),  # an update moves at most half of it
            *(
                OUTDEGREE.at(100),
                RATING,
                *preparing(),
                RATE.at(0.001),
                NEGATIVES.at(15),
                *REPLAYING,
            ),
        ),
        learns_weights=True,
    ),
    LearnerSpec(
        "pa",
        "signed weights | when the hinge loss is positive | Crammer et al., JMLR 2006 (PA-II)",
        (MARGIN.at(1.0), *SIGNED, *preparing(), C, NEGATIVES, COST, *REPLAYING),
        learns_weights=True,
        learns_rejections=True,
        takes_signs=True,
    ),
    LearnerSpec(
        "mmp",
        "signed weights | when a wrong class is not below a true one | Crammer, Singer, JMLR 2003",
        (*SIGNED, *preparing(), NEGATIVES.at(1000), *REPLAYING),
        learns_weights=True,
        learns_rejections=True,
        takes_signs=True,
    ),
    LearnerSpec(
        "arow",
        "signed weights, variances | when the hinge loss is positive | Crammer et al., NIPS 2009",
        (MARGIN.at(1.0), *SIGNED, *preparing(), C, NEGATIVES, *REPLAYING),
        learns_weights=True,
        learns_rejections=True,
        takes_signs=True,
    ),
    LearnerSpec(
        "svm",
        "signed weights | when a constraint is violated | dual coordinate descent, below",
        (
            *(MARGIN.at(1.0), OUTDEGREE.at(1000), BUDGET.at(16.0)),
            *(BUDGET_FLOOR, RATING, *preparing(sublinear=True, tfidf=True), C, C_NEGATIVE),
            *(CONSTRAINTS.at("auto"), BIAS.at(0.3), NEGATIVES, COST),
            *(REPLAY.at(2), REPLAY_SIZE, NEIGHBORS, *LAST),
        ),
        presets={"fast": {"replay": 0}, "best": BEST},
        learns_weights=True,
        learns_rejections=True,
        takes_signs=True,
    ),
    LearnerSpec(
        "path",
        "signed weights of classes and families | when a constraint is violated"
        " | svm along the paths of the taxonomy, below",
        (
            *(MARGIN.at(1.0), OUTDEGREE.at(300), BUDGET.at(16.0), BUDGET_FLOOR, RATING),
            *(*preparing(sublinear=True, tfidf=True), C.at(0.5), C_NEGATIVE.at(0.1)),
            *(CONSTRAINTS.at("auto"), BIAS.at(0.3), NEGATIVES, COST.at("sqrt"), FAMILY_RATE),
            *(REPLAY.at(2), REPLAY_SIZE, NEIGHBORS, *LAST),
        ),
        presets={"fast": {"replay": 0}, "best": BEST},
        learns_weights=True,
        learns_rejections=True,
        takes_signs=True,
    ),
    LearnerSpec(
        "hieron",
        "signed weights of classes and families | when the hinge loss is positive"
        " | Dekel, Keshet, Singer, ICML 2004",
        (
            *(MARGIN.at(1.0), *SIGNED, *preparing(sublinear=True, tfidf=True), C, NEGATIVES),
            *(COST.at("sqrt"), FAMILY_RATE, *REPLAYING),
        ),
        learns_weights=True,
        learns_rejections=True,
        takes_signs=True,
    ),
)

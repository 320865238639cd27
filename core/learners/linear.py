"""Linear learners: a weight for each pair of a feature and a class, in rows with a budget.

Where no other paper is named, symbols are those of Madani et al., JMLR 2009. The defaults of `ff`
for `margin_threshold`, `mass_cap` and `sublinear` did best on drifting streams
(docs/measurements.md); the paper has 0, 0 and no, by which the words of long documents fill the
masses (docs/evaluation.md, section 6).
"""

from manyclass.core.learners.common import (
    LIMITS,
    MIN_WEIGHT,
    RATE,
    RETRIEVAL_WINDOW,
    STREAM,
    preparing,
)
from manyclass.core.learners.spec import Learner, Option

LONGEST_ROW = 65_535

MARGIN_THRESHOLD = Option(
    *("margin_threshold", 0.1, "[-1e9, 1e9]"),
    "Stop updating once the true class leads by this margin.",
    "δ_m",
)
MAX_OUTDEGREE = Option(
    "max_outdegree", 25, f"[1, {LONGEST_ROW}]", "Edges of a feature that vote, at most.", "d_max"
)
RATING = Option(
    "rating", 0, "[0, 2147483647]", "Times a feature is seen before it votes in full.", zero="off"
)
LEAK = Option("leak", True, "", "The mass of a dropped edge stays in the feature mass.")
MASS_CAP = Option(
    *("mass_cap", 30.0, "[1, inf)", "Halve the masses of a feature that has more mass."),
    stored="feature_memory",
    zero="infinite",
)
C = Option(
    *("C", 1.0, "[1e-9, 1e9]", "How far one instance may move the model.", "C; 1/r of AROW"),
    stored="aggressiveness",
)
C_NEGATIVE = Option(
    *("C_negative", 0.2, "[1e-9, 1e9]", "C of the constraints on wrong classes.", "C"),
    stored="caution",
)
CONSTRAINTS = Option(
    *("constraints", "pairs", "pairs | each", "True classes above wrong ones, or each to 0."),
    stored="demands",
)
RIVALS = Option("rivals", 5, "[1, 1000]", "Wrong classes that one update moves, at most.", "k")
REPLAY = Option("replay", 0, "[0, 1000]", "Past instances learned again an event.", zero="off")
REPLAY_SIZE = Option("replay_size", 10_000, "[1, 16777216]", "Past instances kept for replay.")

VOTING = (MIN_WEIGHT, MAX_OUTDEGREE, RATING.at(10))
LAST = (*STREAM, *LIMITS)


def _signed(max_outdegree: int = 50) -> tuple[Option, ...]:
    return (MAX_OUTDEGREE.at(max_outdegree), RATING)


def _replaying(replay: int = 0) -> tuple[Option, ...]:
    return (REPLAY.at(replay), REPLAY_SIZE, *LAST)


FF = Learner(
    "ff",
    (
        *(MARGIN_THRESHOLD, *VOTING, LEAK, *preparing(sublinear=True)),
        *(RETRIEVAL_WINDOW, MASS_CAP, *_replaying()),
    ),
    rows="shares of the feature mass",
    learns="when the margin is small",
    source="Madani, Connor, Greiner, JMLR 2009",
)
IND = Learner(
    "ind",
    (
        *(MIN_WEIGHT.at(0.1), MAX_OUTDEGREE.at(LONGEST_ROW), RATING),
        *(*preparing(binarize=True), MASS_CAP.at(0.0), *LAST),
    ),
    rows="shares: P(class given feature)",
    learns="always",
    source="the same, section 4.2",
)
EMA = Learner(
    "ema",
    (
        *(MARGIN_THRESHOLD, MIN_WEIGHT.at(0.001), MAX_OUTDEGREE, RATING.at(10)),
        *(*preparing(), RETRIEVAL_WINDOW, RATE, *_replaying()),
    ),
    rows="moving averages",
    learns="when the margin is small",
    source="Madani, Huang, KDD 2008",
)
OOZ = Learner(
    "ooz",
    (
        MARGIN_THRESHOLD.at(0.005, "(0, 1e9]"),  # an update moves at most half of it
        *(*_signed(100), *preparing(), RATE.at(0.001), RIVALS.at(15), *_replaying()),
    ),
    rows="weights in [0, 1], at most 1 a row",
    learns="when the margin is small",
    source="Madani, Huang, *Flat Techniques*",
)
PA = Learner(
    "pa",
    (MARGIN_THRESHOLD.at(1.0), *_signed(), *preparing(), C, RIVALS, *_replaying()),
    rows="signed weights",
    learns="when the hinge loss is above 0",
    source="Crammer et al., JMLR 2006 (PA-II)",
)
MMP = Learner(
    "mmp",
    (*_signed(), *preparing(), RIVALS.at(1000), *_replaying()),
    rows="signed weights",
    learns="when a wrong class is not below a true one",
    source="Crammer, Singer, JMLR 2003",
)
AROW = Learner(
    "arow",
    (MARGIN_THRESHOLD.at(1.0), *_signed(), *preparing(), C, RIVALS, *_replaying()),
    rows="signed weights with variances",
    learns="when the hinge loss is above 0",
    source="Crammer, Kulesza, Dredze, NIPS 2009",
)
SVM = Learner(
    "svm",
    (
        *(MARGIN_THRESHOLD.at(1.0), *_signed(), *preparing(sublinear=True, tfidf=True)),
        *(C, C_NEGATIVE, CONSTRAINTS, RIVALS, *_replaying(2)),
    ),
    rows="signed weights",
    learns="when a constraint is violated",
    source="dual coordinate descent, below",
)

LEARNERS = (FF, IND, EMA, OOZ, PA, MMP, AROW, SVM)

"""Table 1 and figures 3 and 4 of Madani and Huang's report on flat techniques, in kind.

OOZ and PA-II with and without tf-idf, by pass; OOZ by the edges of a feature; PA-II by the share of
its edges kept after training; committees and their votes; oversampling of rare classes. The margins
and rates of OOZ and PA-II on newsgroups are the report's.
"""

from collections.abc import Iterator
from typing import Final

from studies.declaration import Pivot, Record, Study, Trial
from studies.held_out import held_out

NO_LIMIT: Final = "max_outdegree=65535"
OOZ: Final = f"ooz(margin_threshold=0.5,rate=0.1,{NO_LIMIT}"
PA: Final = f"pa(negatives=1,{NO_LIMIT}"
SLOW_PA: Final = f"pa(margin_threshold=0.05,C=0.005,negatives=1,{NO_LIMIT}"
"""An update of PA-II moves the margin by the loss / (1 + 1/2C): a rate of 0.01 with this C."""
LEARNERS: Final = {
    "OOZ": f"{OOZ})",
    "OOZ, tf-idf": f"{OOZ},tfidf=yes)",
    "PA-II": f"{PA})",
    "PA-II, tf-idf": f"{PA},tfidf=yes)",
    "slow PA-II": f"{SLOW_PA})",
    "slow PA-II, tf-idf": f"{SLOW_PA},tfidf=yes)",
}
DEGREES: Final = ("10", "25", "100", "500", "1000")
SHARES: Final = ("1", "0.7", "0.5", "0.3", "0.2", "0.1", "0.05", "0.02")
MEMBER: Final = "pa(tfidf=yes)"
MEMBERS: Final = "+".join(["pa(tfidf=yes,shuffle=5000)"] * 4)  # each learns in its own order
DATASETS: Final = ("newsgroups", "cpv", "clinc")
SPLITS: Final = 2


def _trials(name: str) -> Iterator[Trial]:
    for label, learner in LEARNERS.items():
        yield Trial(name, learner, SPLITS, 5, {"learner": label})
    for degree in DEGREES:
        ooz = f"ooz(margin_threshold=0.5,rate=0.1,max_outdegree={degree},tfidf=yes)"
        yield Trial(name, ooz, SPLITS, 5, {"max_outdegree": degree})
    for share in SHARES:
        yield Trial(name, f"{PA},tfidf=yes) keep={share}", SPLITS, 3, {"edges kept": share})
    yield Trial(name, MEMBER, SPLITS, 3, {"committee": "one alone", "rows of a class": "as given"})
    for vote in ("majority", "rarest", "score"):
        committee = f"committee(members={MEMBERS},vote={vote})"
        yield Trial(name, committee, SPLITS, 3, {"committee": f"4, vote {vote}"})
    yield Trial(name, f"{MEMBER} oversample=10", SPLITS, 3, {"rows of a class": "at least 10"})


def _printed(learner: str, r1: float, r5: float) -> Record:
    label = f"report: {learner}"
    return {"dataset": "newsgroups", "estimator": label, "learner": label, "R1": r1, "R5": r5}


STUDY: Final = Study(
    "Flat techniques (Madani and Huang, table 1 and figures 3 and 4)",
    [trial for name in DATASETS for trial in _trials(name)],
    held_out,
    [
        Pivot("R1 by pass", ["R1"], rows="learner", across="pass", at="every"),
        Pivot("best pass", ["pass", "R1", "R5"], rows="learner", at="best"),
        Pivot("OOZ by d_max", ["R1", "R5", "macro F1", "|W|"], rows="max_outdegree", at="best"),
        Pivot("PA-II made sparser", ["R1", "R5", "bytes"], rows="edges kept"),
        Pivot("committees of PA-II", ["R1", "R5", "macro F1"], rows="committee"),
        Pivot(
            "PA-II, rare classes oversampled",
            ["R1", "macro F1"],
            rows="rows of a class",
            across="pass",
            at="every",
        ),
    ],
    printed=[
        _printed("OOZ", 0.861, 0.979),
        _printed("OOZ, tf-idf", 0.876, 0.983),
        _printed("slow PA-II", 0.85, 0.97),
        _printed("slow PA-II, tf-idf", 0.87, 0.979),
    ],
)

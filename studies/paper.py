"""Figures 9 and 10 of Madani, Connor, Greiner, JMLR 2009: FF against one classifier for each class.

FF as there: minimum weight 0.01, 25 edges of a feature vote, no limit on memory. Its row shows the
best mean R1 on the test rows over the passes. Classifiers are one-versus-rest, or top-down where
there is a taxonomy.
"""

from typing import Final

from studies.declaration import Pivot, Record, Study, trials
from studies.held_out import held_out


def focused(margin: str, **options: str) -> str:
    """Return the specification of the paper's FF with this margin threshold."""
    given = {"margin_threshold": margin, "sublinear": "no", "mass_cap": "0", **options}
    return f"ff({','.join(f'{name}={value}' for name, value in given.items())})"


FF: Final = [focused(margin) for margin in ("0", "0.1", "0.5")]
CLASSIFIERS: Final = ("perceptron", "linearsvc", "linearsvc-c10")


def _printed(dataset: str, name: str, hr: float, r1: float, r5: float) -> Record:
    identity = {"dataset": dataset, "estimator": f"paper: {name}", "pass": 1}
    return {**identity, "HR": hr, "R1": r1, "R5": r5}


STUDY: Final = Study(
    "FF against classifiers of one class each (Madani et al. 2009, figures 9 and 10)",
    [
        *trials(["reuters10"], FF, splits=10, passes=10),
        *trials(["reuters10"], ["frequency", *CLASSIFIERS, "committee"], splits=10),
        *trials(["reuters10"], ["linearsvc-sigmoid"], splits=10),
        *trials(["newsgroups"], FF, splits=10, passes=5),
        *trials(["newsgroups"], ["frequency", *CLASSIFIERS], splits=10),
        *trials(["newsgroups"], ["committee"], splits=3),
        *trials(["cpv"], FF, splits=3, passes=10),
        *trials(["cpv"], ["frequency", "topdown-perceptron", "topdown-svm", "linearsvc"]),
        *trials(["eurlex", "yso"], FF, passes=2),
        *trials(["words"], FF[:2], splits=3, passes=4),
        *trials(["eurlex", "yso", "words"], ["frequency"]),
    ],
    held_out,
    [
        Pivot(
            "best pass",
            ["pass", "HR", "R1", "R5", "T_train s", "d", "|W|", "bytes", "ranks/s"],
            at="best",
            wins_of="ff",
        ),
        Pivot("first pass", ["HR", "R1", "R5", "T_train s", "d", "|W|"], at="first", digits=4),
    ],
    printed=[
        _printed("reuters10", "FF, first pass", 1.082, 0.860, 0.998),
        _printed("reuters10", "FF, best", 1.066, 0.884, 0.997),
        _printed("reuters10", "perceptron", 1.08, 0.871, 0.995),
        _printed("reuters10", "committee", 1.06, 0.891, 0.999),
        _printed("reuters10", "SVM", 1.052, 0.906, 0.998),
        _printed("reuters10", "frequency", 1.6, 0.42, 0.86),
        _printed("newsgroups", "FF, first pass", 1.137, 0.798, 0.978),
        _printed("newsgroups", "FF, best", 1.085, 0.865, 0.987),
        _printed("newsgroups", "perceptron", 1.229, 0.728, 0.928),
        _printed("newsgroups", "committee", 1.122, 0.830, 0.970),
        _printed("newsgroups", "SVM", 1.102, 0.852, 0.975),
        _printed("newsgroups", "frequency", 3.33, 0.05, 0.25),
        _printed("words", "FF, first pass", 2.71, 0.272, 0.480),
        _printed("words", "FF, best", 2.73, 0.279, 0.462),
        _printed("words", "frequency", 10.3, 0.037, 0.15),
    ],
)

"""Instances with many classes: `svm` with classes separated from 0 and a bias, beside label trees.

`many-classes-choice` compares formulations on a held-out tenth of the training rows, another tenth
in each split; it does not read the published test rows. `many-classes` compares the choice with the
trees on them, and with the learner as it was on sets of one class an instance.
"""

from typing import Final

from studies.declaration import Pivot, Study, trials
from studies.held_out import held_out
from studies.samples import affordable, training_only

MANY: Final = ("delicious", "bibtex", "eurlex")
ONE: Final = ("clinc", "banking", "cpv", "newsgroups-bydate")
FORMER: Final = "svm(max_outdegree=50,budget=0,constraints=pairs,bias=0)"
WIDE: Final = "svm(max_outdegree=1000,budget=0)"  # room for every edge of delicious
FORMULATIONS: Final = (
    "svm(max_outdegree=1000,budget=0,constraints=pairs,bias=0)",
    "svm(max_outdegree=1000,budget=0,constraints=each,bias=0)",
    *(f"svm(max_outdegree=1000,budget=0,bias={bias})" for bias in (0, 0.1, 0.2, 0.3, 0.5)),
    "svm(max_outdegree=1000,budget=0,replay=0)",
    "svm(max_outdegree=1000,budget=0,replay=5)",
    "svm(max_outdegree=1000)",
    "svm(budget_floor=0)",
    "svm",
    "oplt",
)
TABLES: Final = [
    Pivot(measure, [measure], across="dataset", each="", digits=4)
    for measure in ("P1", "P3", "P5", "R1", "R5", "T_train s", "ranks/s", "bytes")
]

CHOICE: Final = Study(
    "Many classes an instance: the formulation, chosen on held-out training rows",
    trials(["delicious"], FORMULATIONS, splits=3),
    held_out,
    TABLES,
    prepare=training_only,
)
STUDY: Final = Study(
    "Many classes an instance: svm beside label trees",
    [
        *trials(MANY, ["svm", FORMER, WIDE, "oplt", "iplt"], splits=3),
        *trials(ONE, ["svm", FORMER, "oplt", "iplt"], splits=3),
    ],
    held_out,
    TABLES,
    prepare=affordable,
)

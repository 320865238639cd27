"""The vote of the nearest past instances: where it helps, and what it costs.

`neighbors-choice` compares `svm` and `svm(best)` with and without it on a held-out tenth of the
training rows, another tenth in each split; it does not read the published test rows.
"""

from typing import Final

from studies.declaration import Beside, Pivot, Study, trials
from studies.default import LARGE, SMALL
from studies.held_out import held_out
from studies.samples import training_only

ALONE: Final = "svm(replay=8,replay_size=100000)"
WITH: Final = "svm(neighbors=20)"

CHOICE: Final = Study(
    "Neighbors, chosen on held-out training rows",
    [
        *trials(SMALL, ["svm", WITH, ALONE, "svm(best)", "ff"], splits=3),
        *trials(LARGE, ["svm", WITH, ALONE, "svm(best)", "ff"]),
    ],
    held_out,
    [
        *(
            Pivot(measure, [measure], across="dataset", each="", mean=True, digits=4)
            for measure in ("R1", "R5", "P5", "T_train s", "ranks/s", "bytes")
        ),
        Beside(
            "With neighbors beside the learner alone",
            [(WITH, "svm"), ("svm(best)", ALONE)],
            ["R1", "R5", "P5"],
            ["T_train s", "ranks/s"],
        ),
    ],
    prepare=training_only,
)

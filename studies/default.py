"""The best default for a new user, in one pass.

`default-choice` compares learners on a held-out tenth of the training rows, another tenth in each
split; it does not read the published test rows. `default` compares the choice with peers on them:
the aim is at least the accuracy of a batch linear SVM in a tenth of its training time, with ten
times its ranks a second.
"""

from typing import Final

from studies.declaration import Beside, Gaps, Pivot, Study, trials
from studies.held_out import held_out
from studies.many_classes import FORMER
from studies.samples import affordable, training_only

SMALL: Final = ("clinc", "banking", "newsgroups-bydate", "cpv", "bibtex")
LARGE: Final = ("delicious", "eurlex", "yso")  # one split, fewer candidates
EVERYWHERE: Final = (
    "ff(sublinear=no)",
    "ff",
    "ff(tfidf=yes)",
    "pa(sublinear=yes,tfidf=yes)",
    "arow(sublinear=yes,tfidf=yes)",
    "svm",
    "svm(fast)",
    "svm(best)",
    FORMER,
    "svm(budget=8)",
    "svm(replay=1)",
    "svm(C_negative=0.1)",
    "svm(constraints=each)",
    "svm(C=0.05,C_negative=0.05,constraints=each,negatives=50)",
)
ON_SMALL: Final = (
    "ff(sublinear=no,tfidf=yes)",
    "ema",
    "ooz(margin_threshold=0.5,max_outdegree=50,sublinear=yes,tfidf=yes,rate=0.1)",
    "pa",
    "pa(negatives=1)",
    "pa(sublinear=yes,tfidf=yes,replay=4)",
    "svm(replay=4,replay_size=100000)",
    "svm(replay=4,replay_size=100000,C_negative=0.5)",
    "svm(replay_size=1000)",
    "svm(C_negative=0.5)",
    "svm(C_negative=1)",
    "svm(C=0.5)",
    "svm(C=2)",
    "svm(negatives=3)",
    "svm(negatives=10)",
    "svm(C_negative=0.1,constraints=each)",
    "svm(tfidf=no)",
    "svm(sublinear=no,tfidf=no)",
    "svm(max_outdegree=100)",
    "svm(max_outdegree=300)",
    "ff(tfidf=yes,margin_threshold=0.2)",
    "ff(margin_threshold=0,mass_cap=0)",
)
TESTED: Final = ("svm", "svm(fast)", "svm(best)", FORMER, "ff")
ONE_VERSUS_REST: Final = ("linearsvc", "linearsvc+tfidf")
EVERY_CLASS: Final = ("fasttext",)  # a softmax over the classes; for one label an instance
TREES: Final = (
    *("omikuji", "omikuji+tfidf", "omikuji-bonsai", "omikuji-bonsai+tfidf"),
    *("napkinxc-plt", "napkinxc-plt+tfidf"),
)
BATCH: Final = (*ONE_VERSUS_REST, *TREES, *EVERY_CLASS)
TABLES: Final = [
    Pivot(measure, [measure], across="dataset", each="", mean=True, digits=4)
    for measure in ("R1", "R5", "P5", "T_train s", "ranks/s", "bytes")
]

CHOICE: Final = Study(
    "The default learner, chosen on held-out training rows",
    [*trials(SMALL, [*EVERYWHERE, *ON_SMALL], splits=3), *trials(LARGE, EVERYWHERE)],
    held_out,
    TABLES,
    prepare=training_only,
)
STUDY: Final = Study(
    "The default learner beside batch learners",
    [
        *trials([*SMALL, *LARGE], TESTED, splits=3),
        *trials([*SMALL, "delicious"], BATCH),
        *trials(["eurlex", "yso"], TREES),  # the others take hours with thousands of classes
    ],
    held_out,
    [
        Gaps("The default beside the best of them", "svm", BATCH, ["R1", "R5", "P5"]),
        Gaps("svm(best) beside the best of them", "svm(best)", BATCH, ["R1", "R5", "P5"]),
        Beside(
            "The default beside each",
            [("svm", peer) for peer in BATCH],
            ["R1", "R5", "P5"],
            ["T_train s", "ranks/s", "bytes"],
        ),
        *TABLES,
    ],
    prepare=affordable,
)

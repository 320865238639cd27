"""All learners beside all peers that a data set can afford.

Learners learn each row once; peers train as their packages recommend.
"""

from collections.abc import Sequence
from typing import Final

from studies.declaration import Pivot, Plot, Study, trials
from studies.held_out import held_out
from studies.peers import PEERS
from studies.samples import affordable

LEARNERS: Final = (
    "svm",
    "svm(fast)",
    "svm(best)",
    "ff",
    "ff(margin_threshold=0,sublinear=no,mass_cap=0)",  # as the paper has it
    "ff(tfidf=yes)",
    "ind",
    "ema",
    "ooz(margin_threshold=0.5,max_outdegree=50,sublinear=yes,tfidf=yes,rate=0.1)",
    "pa(sublinear=yes,tfidf=yes)",
    "mmp(sublinear=yes,tfidf=yes)",
    "arow(sublinear=yes,tfidf=yes)",
    "oplt",
    "iplt",
    "frequency",
    "committee(members=svm+arow(sublinear=yes,tfidf=yes)+ff,vote=score)",
    "committee(members=iplt+iplt+iplt,vote=probability)",
)
FEW_CLASSES: Final = ("newsgroups-bydate", "clinc")
MANY_CLASSES: Final = ("eurlex", "yso")
ONE_MODEL_A_CLASS: Final = (  # hours, or too much memory, with thousands of classes
    *("perceptron", "committee", "linearsvc", "linearsvc+tfidf", "sk-pa"),
    *("linearsvc-tuned", "linearsvc-sigmoid"),
    *("sk-pa+tfidf", "topdown-committee", "napkinxc-br", "river-pa", "river-lr", "river-nb"),
)
EVERY_CLASS_EACH_TIME: Final = (  # visit all classes, or all memories, for each instance
    *("vw-oaa", "vw-oaa+tfidf", "vw-oaa-once", "fasttext", "vw-recall-tree", "vw-memory-tree"),
    *("topdown-perceptron", "topdown-svm", "unweighted", "unweighted-committee"),
)
OF_OTHER_STUDIES: Final = (
    *("linearsvc-c10", "omikuji-collapsed", "omikuji-collapsed+tfidf"),
    *(f"napkinxc-oplt-{kind}" for kind in ("random", "16", "random-16")),
    *(f"napkinxc-oplt-{kind}+tfidf" for kind in ("random", "16", "random-16")),
)
AFFORDABLE: Final = {"cpv": ("linearsvc", "linearsvc+tfidf", "napkinxc-br")}


def peers_for(name: str) -> Sequence[str]:
    """Return the peers that a data set can afford."""
    left_out = {*OF_OTHER_STUDIES}
    if name not in FEW_CLASSES:
        left_out |= {*ONE_MODEL_A_CLASS} - {*AFFORDABLE.get(name, ())}
    if name in MANY_CLASSES:
        left_out |= {*EVERY_CLASS_EACH_TIME}
    return [peer for peer in PEERS if peer not in left_out]


STUDY: Final = Study(
    "All learners and all peers",
    [
        trial
        for name in (*FEW_CLASSES, "cpv", *MANY_CLASSES)
        for trial in trials([name], [*LEARNERS, *peers_for(name)])
    ],
    held_out,
    [Pivot("one pass", ["R1", "R5", "P5", "macro F1", "T_train s", "ranks/s", "bytes"])],
    [
        Plot("accuracy against training time", "T_train s", "R1", logarithmic=True, front="left"),
        Plot("accuracy against ranks a second", "ranks/s", "R1", logarithmic=True, front="right"),
        Plot("accuracy against size", "bytes", "R1", logarithmic=True, front="left"),
    ],
    prepare=affordable,
)

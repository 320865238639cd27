"""Label trees: the table of Jasinska-Kobus et al. (Online Probabilistic Label Trees), in kind.

Incremental and online label trees, the latter also with a warm start of a tenth of the training
rows and in ensembles, beside other learners and the trees of napkinXC, Vowpal Wabbit and omikuji.
All learn the same rows of a published split in the same order; the learners and every online peer
see each row once (but for the replay of `svm`).
"""

from typing import Final

from studies.declaration import Beside, Pivot, Study, trials
from studies.held_out import held_out
from studies.samples import affordable

WARM_STARTS: Final = {"bibtex": 488, "delicious": 1_291, "eurlex": 4_500, "yso": 15_000}
RANDOM: Final = "oplt(policy=random)"  # greedy trees are equal for all seeds
SAMPLED: Final = "oplt(policy=sampled)"
LEARNERS: Final = (
    "iplt",
    RANDOM,
    "oplt",
    "oplt(arity=2,max_leaves=100)",  # the shape of the paper
    "oplt(sublinear=no)",  # the values of a peer with +tfidf
    "oplt(replay=2)",
    "oplt(bias=1)",  # before `bias` was an option
    "svm",
    "ff",
    "iplt(tree=complete)",
    "iplt(tree=random)",
    "iplt(tree=huffman)",
    "oplt(sublinear=no,tfidf=no)",
    f"committee(members={SAMPLED}+{SAMPLED}+{SAMPLED},vote=probability)",
    f"committee(members={RANDOM}+{RANDOM}+{RANDOM},vote=probability)",
    "committee(members=iplt+iplt+iplt,vote=probability)",
)
PEERS: Final = (
    *("napkinxc-plt", "napkinxc-plt+tfidf"),
    *("napkinxc-oplt", "napkinxc-oplt+tfidf", "napkinxc-oplt-random+tfidf"),
    *("omikuji+tfidf", "omikuji-bonsai+tfidf", "omikuji-collapsed+tfidf"),
    *("vw-plt", "vw-memory-tree"),
    *("napkinxc-oplt-16", "napkinxc-oplt-16+tfidf", "napkinxc-oplt-random-16+tfidf"),
)
PAIRS: Final = [
    ("oplt", "napkinxc-oplt+tfidf"),
    ("oplt(sublinear=no)", "napkinxc-oplt+tfidf"),
    ("oplt", "napkinxc-oplt-16+tfidf"),
    ("oplt(sublinear=no)", "napkinxc-oplt-16+tfidf"),
    ("oplt(sublinear=no,tfidf=no)", "napkinxc-oplt-16"),
    ("oplt(arity=2,max_leaves=100)", "napkinxc-oplt+tfidf"),
    (RANDOM, "napkinxc-oplt-random+tfidf"),
    (RANDOM, "napkinxc-oplt-random-16+tfidf"),
]
ACCURACY: Final = ("P1", "P5", "PSP1", "PSP5")
COSTS: Final = ("T_train s", "ranks/s", "bytes")

STUDY: Final = Study(
    "Label trees (Jasinska-Kobus et al. 2021)",
    [
        trial
        for name, rows in WARM_STARTS.items()
        for trial in trials([name], [*LEARNERS, f"oplt(sample={rows})", *PEERS])
    ],
    held_out,
    [
        Pivot("one order", [*ACCURACY, *COSTS], digits=4),
        Beside("Online trees beside napkinXC's", PAIRS, ACCURACY, COSTS),
    ],
    prepare=affordable,
)

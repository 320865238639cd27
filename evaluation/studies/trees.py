"""Label trees: the table of Jasinska-Kobus et al. (Online Probabilistic Label Trees), in kind.

Incremental and online label trees, the latter also from a warm start with a tenth of the training
rows and in ensembles, beside our other learners, the trees of napkinXC, Vowpal Wabbit and omikuji,
and contextual memory trees. All learn the same rows of a published split, in the same order, and
rank the same test rows; ours (but for the replay of `svm`) and every online peer see each row once.
The last table says where an online tree of ours is ahead of napkinXC's.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from manyclass.core.learners.options import Options
from manyclass.evaluation import sets
from manyclass.evaluation.comparison import label
from manyclass.evaluation.contender import Contender
from manyclass.evaluation.indexed import Indexed
from manyclass.evaluation.peers import PEERS
from manyclass.evaluation.process import Failed, Stopped, apart
from manyclass.evaluation.report import Better, Cell, Table, best_of
from manyclass.evaluation.sets import DataSet
from manyclass.evaluation.standing import Standing
from manyclass.evaluation.studies.default import part_of
from manyclass.evaluation.studies.study import Study, parser_of
from manyclass.evaluation.writing import short

SETS: Final = ("bibtex", "delicious", "eurlex", "yso")
ACCURACY: Final = ("P1", "P5", "PSP1", "PSP5")
TRAINING_TO_TEST: Final = 5  # rows learned for each that is ranked, where --rows is given
WARM_START: Final = 0.1  # share of the training rows, over whose classes a tree is planted

LEARNERS: Final = (
    "iplt",
    "oplt(policy=random)",
    "oplt",
    "oplt(arity=2,max_leaves=100)",  # the shape of the paper
    "oplt(sublinear=no)",  # the values of a peer with +tfidf
    "svm",
    "ff",
    "iplt(tree=complete)",
    "iplt(tree=random)",
    "iplt(tree=huffman)",
    "oplt(sublinear=no,tfidf=no)",
    # greedy trees do not depend on a seed: three of them are one and the same tree
    "committee(members=oplt(policy=random)+oplt(policy=random)+oplt(policy=random),"
    "vote=probability)",
    "committee(members=iplt+iplt+iplt,vote=probability)",
)
PEERS_RUN: Final = (
    *("napkinxc-plt", "napkinxc-plt+tfidf"),
    *("napkinxc-oplt", "napkinxc-oplt+tfidf", "napkinxc-oplt-random+tfidf"),
    *("omikuji+tfidf", "omikuji-bonsai+tfidf", "omikuji-collapsed+tfidf"),
    *("vw-plt", "vw-memory-tree"),
    *("napkinxc-oplt-16", "napkinxc-oplt-16+tfidf", "napkinxc-oplt-random-16+tfidf"),
)
PAIRS: Final = (  # an online tree of ours, and one of napkinXC
    ("oplt", "napkinxc-oplt+tfidf"),
    ("oplt(sublinear=no)", "napkinxc-oplt+tfidf"),
    ("oplt", "napkinxc-oplt-16+tfidf"),
    ("oplt(sublinear=no)", "napkinxc-oplt-16+tfidf"),
    ("oplt(sublinear=no,tfidf=no)", "napkinxc-oplt-16"),
    ("oplt(arity=2,max_leaves=100)", "napkinxc-oplt+tfidf"),
    ("oplt(policy=random)", "napkinxc-oplt-random+tfidf"),
    ("oplt(policy=random)", "napkinxc-oplt-random-16+tfidf"),
)


@dataclass(frozen=True)
class Run:
    """All contenders on one set, by their names, and what those said that failed."""

    title: str
    standings: Mapping[str, Standing]
    failed: Sequence[str]


def learners_for(training_rows: int) -> list[Options]:
    """Our learners, among them one that starts from a tenth of so many training rows."""
    warm = f"oplt(sample={max(round(WARM_START * training_rows), 1)})"
    return list(map(Options.parse, [*LEARNERS, warm]))


def run(
    data: DataSet, learners: Sequence[Options], peers: Sequence[str], seed: int, limit: int
) -> Run:
    """Every contender on the same rows, each in a process of its own.

    One that takes more than `limit` CPU seconds, and a peer that raises, is reported so.
    """
    training, test = data.split(seed)
    standings, failed = dict[str, Standing](), list[str]()

    def compete(name: str, make: Callable[[], Contender], forgiven: type[Failed]) -> None:
        outcome: Standing | Failed
        try:
            outcome = apart(lambda: Standing.of(make(), training, test, ACCURACY), limit)
            standings[name] = outcome
        except forgiven as error:
            outcome = error
            failed.append(f"{name}: {error}")
        print(f"  {name}: {outcome}", file=sys.stderr, flush=True)  # a large set takes hours

    for options in learners:
        compete(label(options), partial(Indexed, training, options, seed=seed), Stopped)
    for peer in peers:
        compete(peer, partial(PEERS[peer], seed), Failed)
    size = f"{len(training):,} + {len(test):,} rows, {len(data.rows.classes):,} classes"
    return Run(f"{data.name}: {size}", standings, failed)


# --- tables ---------------------------------------------------------------------------------------


def table_of(ran: Run) -> Table:
    """A row for each contender."""
    costs: list[tuple[str, Callable[[Standing], float], Better]] = [
        ("T_train s", lambda each: each.train_seconds, "less"),
        ("ranks/s", lambda each: each.ranks_per_second, "more"),
        ("bytes", lambda each: each.bytes, "less"),
    ]
    rows = [
        [
            Cell(name),
            *(_percent(each.accuracy[measure]) for measure in ACCURACY),
            *(Cell(short(cost(each)), cost(each)) for _, cost, _ in costs),
        ]
        for name, each in ran.standings.items()
    ]
    accuracy: Better = "more"
    better = [accuracy] * len(ACCURACY) + [each for _, _, each in costs]
    best = [best_of([row[at] for row in rows], each) for at, each in enumerate(better, 1)]
    columns = ["learner", *(f"{each} %" for each in ACCURACY), *(title for title, _, _ in costs)]
    return Table(ran.title, columns, rows, [-1, *best], list(ran.failed))


def _percent(share: float) -> Cell:
    return Cell(f"{100 * share:.2f}", share)


def against_napkinxc(found: Mapping[str, Run]) -> Table:
    """For each set, each pair that was run: differences in points, ratios of cost."""
    rows = [
        [
            Cell(name),
            Cell(ours),
            Cell(theirs),
            *_against(ran.standings[ours], ran.standings[theirs]),
        ]
        for name, ran in found.items()
        for ours, theirs in PAIRS
        if ours in ran.standings and theirs in ran.standings
    ]
    columns = ["set", "ours", "beside", *(f"{each}, points" for each in ACCURACY)]
    columns += ["ahead in", "T_train", "ranks/s", "bytes"]
    return Table("Online trees beside napkinXC's", columns, rows, [-1] * len(columns))


def _against(ours: Standing, theirs: Standing) -> list[Cell]:
    points = {each: 100 * (ours.accuracy[each] - theirs.accuracy[each]) for each in ACCURACY}
    ahead = [each for each, by in points.items() if by > 0]
    ratios = (
        ours.train_seconds / max(theirs.train_seconds, 1e-9),
        ours.ranks_per_second / theirs.ranks_per_second,
        ours.bytes / theirs.bytes,
    )
    return [
        *(Cell(f"{by:+.2f}", by) for by in points.values()),
        Cell(", ".join(ahead) or "-"),
        *(Cell(f"{ratio:.2g} x", ratio) for ratio in ratios),
    ]


def main(given: Namespace) -> None:
    study = Study("manyclass.evaluation.studies.trees", given)
    found = dict[str, Run]()
    for name in given.sets:
        most = None if given.rows is None else (given.rows, given.rows // TRAINING_TO_TEST)
        data = part_of(sets.read(name, given.data), most)
        learners = learners_for(data.published or 0)
        if given.learner is not None:
            learners = list(map(Options.parse, given.learner))
        peers = PEERS_RUN if given.peers is None else given.peers
        found[name] = run(data, learners, peers, given.seed, given.limit)
        study.show(table_of(found[name]))
    study.show(against_napkinxc(found))
    study.write()


if __name__ == "__main__":
    parser = parser_of(__doc__, SETS)
    parser.add_argument("--rows", type=int, help="learn so many at most, and test on a fifth")
    parser.add_argument("--seed", type=int, default=0, help="of the order of the training rows")
    parser.add_argument("--learner", action="append", metavar="SPEC", help="in place of the usual")
    parser.add_argument(
        "--peers", nargs="*", choices=[*PEERS], metavar="PEER", help="in place of the usual"
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=3600,
        metavar="SECONDS",
        help="of CPU that a contender may take (default: %(default)s)",
    )
    main(parser.parse_args())

"""The best default: what should a new user get who has 50 edges a feature and sees each event once?

Without `--test`, learners are compared on a tenth of the training rows that was held out, another
tenth and another order of the rest in each of the runs (one run on the large sets); the published
test rows are not looked at. With `--test`, a few learners learn all training rows and are compared
on the test rows with peers, and the last table says where the learner named first reaches the aim:
at least the accuracy of a batch linear SVM, in a tenth of its training time, with ten times its
ranks a second.
"""

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import mean
from typing import Final

import numpy as np
from numpy.typing import NDArray

from manyclass.core.learners.options import Options
from manyclass.evaluation import sets
from manyclass.evaluation.comparison import Spread, label
from manyclass.evaluation.contender import Contender
from manyclass.evaluation.indexed import Indexed
from manyclass.evaluation.report import EMPTY, Better, Cell, Table, best_of
from manyclass.evaluation.sets import DataSet
from manyclass.evaluation.standing import Standing
from manyclass.evaluation.studies.study import Study, heard, parser_of
from manyclass.evaluation.writing import short, shown
from manyclass.training.rows import Rows

SETS: Final = (
    *("clinc", "banking", "newsgroups-bydate", "cpv"),
    *("bibtex", "delicious", "eurlex", "yso"),
)
LARGE: Final = ("delicious", "eurlex", "yso")  # those of EVERYWHERE only, in one order
TOO_LARGE: Final = ("eurlex", "yso")  # for a linear SVM of each class against all others
MOST_TRAINING, MOST_TEST = 150_000, 10_000  # rows of a set; more are sampled
SAMPLING_SEED: Final = 20

CHOSEN: Final = "svm"
EVERYWHERE: Final = (
    "ff(sublinear=no)",
    "ff",
    "ff(tfidf=yes)",
    "pa(sublinear=yes,tfidf=yes)",
    "arow(sublinear=yes,tfidf=yes)",
    "svm",
    "svm(replay=0)",
    "svm(replay=1)",
    "svm(C_negative=0.1)",
    "svm(constraints=each)",
    "svm(C=0.05,C_negative=0.05,constraints=each,rivals=50)",
)
ON_SMALL: Final = (
    "ff(sublinear=no,tfidf=yes)",
    "ema",
    "ooz(margin_threshold=0.5,max_outdegree=50,sublinear=yes,tfidf=yes,rate=0.1)",
    "pa",
    "pa(rivals=1)",
    "pa(sublinear=yes,tfidf=yes,replay=4)",
    "svm(replay=4)",
    "svm(replay_size=1000)",
    "svm(C_negative=0.5)",
    "svm(C_negative=1)",
    "svm(C=0.5)",
    "svm(C=2)",
    "svm(rivals=3)",
    "svm(rivals=10)",
    "svm(C_negative=0.1,constraints=each)",
    "svm(tfidf=no)",
    "svm(sublinear=no,tfidf=no)",
    "svm(max_outdegree=25)",
    "svm(max_outdegree=1000)",
)
TESTED: Final = (CHOSEN, "svm(replay=0)", "ff(sublinear=no)")
PEERS_OF_SMALL: Final = ("linearsvc", "linearsvc+tfidf")
PEERS_OF_LARGE: Final = ("omikuji+tfidf",)
MEAN: Final = "mean"
ACCURACY: Final = ("R1", "R5", "P5")
TRAINING_SHARE, SPEED_RATIO = 0.1, 10  # of the SVM's training time, of its ranks a second: the aim

Make = Callable[[Rows, int], Contender]  # knows the columns of rows; the number is a seed


def part_of(data: DataSet, most: tuple[int, int] | None = None) -> DataSet:
    """The set with so many of its published training and test rows as are affordable.

    `most` is how many of each; without, MOST_TRAINING and MOST_TEST.
    """
    if data.published is None:
        raise ValueError(f"{data.name} has no published test rows to keep out of the choice")
    draw = np.random.default_rng(SAMPLING_SEED)
    most_training, most_test = most or (MOST_TRAINING, MOST_TEST)
    training = _some(draw, 0, data.published, most_training)
    test = _some(draw, data.published, len(data.rows), most_test)
    rows = data.rows.take(np.concatenate([training, test]))
    return replace(data, rows=rows, published=len(training), taxonomy=None)


def _some(draw: np.random.Generator, begin: int, end: int, most: int) -> NDArray[np.int64]:
    rows = np.arange(begin, end)
    return rows if len(rows) <= most else np.sort(draw.choice(rows, most, replace=False))


def training_part(data: DataSet) -> DataSet:
    """Only the training rows of a set, of which a split holds out a tenth at random."""
    return DataSet(data.name, data.rows.take(np.arange(data.published or 0)), share=0.9)


Standings = Mapping[str, Mapping[str, Sequence[Standing]]]  # set -> contender -> its runs


def trials(
    data: DataSet, makers: Mapping[str, Make], seeds: Sequence[int]
) -> dict[str, list[Standing]]:
    """Every contender on the same splits."""
    found = dict[str, list[Standing]]({name: [] for name in makers})
    for seed in seeds:
        training, test = data.split(seed)
        for name, make in makers.items():
            found[name].append(Standing.of(make(training, seed), training, test, ACCURACY))
    return found


def learner(specification: str) -> tuple[str, Make]:
    """A learner of ours as a contender: one pass, in the order of the rows."""
    options = Options.parse(specification)
    return label(options), lambda rows, seed: Indexed(rows, options)


def peer(name: str) -> tuple[str, Make]:
    """A peer; PeerMissing without its package."""
    from manyclass.evaluation.peers import PEERS

    make = PEERS[name]
    make(0)
    return f"{name} (peer)", lambda rows, seed: make(seed)


# --- tables ---------------------------------------------------------------------------------------


def by_set(
    title: str,
    found: Standings,
    figure: Callable[[Standing], float],
    better: Better,
    written: Callable[[Spread], str] = shown,
) -> Table:
    """A row for each contender, a column for each set, and the mean of the sets all were on."""
    names = list(dict.fromkeys(name for each in found.values() for name in each))
    shared = [each for each, ran in found.items() if len(ran) == len(names)]
    rows = []
    for name in names:
        spreads = {
            each: Spread.of([figure(one) for one in ran[name]])
            for each, ran in found.items()
            if name in ran
        }
        if shared:
            spreads[MEAN] = Spread(mean(spreads[each].mean for each in shared), None)
        cells = [
            Cell(written(spreads[each]), spreads[each].mean) if each in spreads else EMPTY
            for each in (*found, MEAN)
        ]
        rows.append([Cell(name), *cells])
    columns = ["learner", *found, f"{MEAN} of {len(shared)}"]
    best = [best_of([row[at] for row in rows], better) for at in range(1, len(columns))]
    return Table(title, columns, rows, [-1, *best])


def _cost(spread: Spread) -> str:
    return short(spread.mean)


def aim_table(found: Standings, chosen: str) -> Table:
    """For each set, the chosen learner beside the peer that has the best R1 there."""
    rows = []
    for name, ran in found.items():
        rivals = [other for other in ran if other.endswith("(peer)")]
        if not rivals:
            continue
        rival = max(rivals, key=lambda other: _mean(ran[other], "R1"))
        rows.append([Cell(name), Cell(rival), *_against(ran[chosen], ran[rival])])
    columns = [
        "set",
        "beside",
        *(f"{each}, points" for each in ACCURACY),
        "T_train",
        "ranks/s",
        "met",
    ]
    return Table(f"{chosen} beside a batch linear SVM", columns, rows, [-1] * len(columns))


def _mean(ran: Sequence[Standing], measure: str) -> float:
    return mean(each.accuracy[measure] for each in ran)


def _against(ours: Sequence[Standing], theirs: Sequence[Standing]) -> list[Cell]:
    """Differences of accuracy, ratios of cost, and which parts of the aim are met."""
    points = {each: 100 * (_mean(ours, each) - _mean(theirs, each)) for each in ACCURACY}
    training = mean(each.train_seconds for each in ours) / mean(
        each.train_seconds for each in theirs
    )
    speed = mean(each.ranks_per_second for each in ours) / mean(
        each.ranks_per_second for each in theirs
    )
    met = [name for name in ("R1", "R5") if points[name] >= 0]
    met += ["T_train"] * (training <= TRAINING_SHARE) + ["ranks/s"] * (speed >= SPEED_RATIO)
    return [
        *(Cell(f"{points[each]:+.2f}", points[each]) for each in ACCURACY),
        Cell(f"1/{1 / training:.1f}", training),
        Cell(f"{speed:.2g} x", speed),
        Cell(", ".join(met)) if met else EMPTY,
    ]


# --- the command ----------------------------------------------------------------------------------


def choose(study: Study, options: Namespace) -> None:
    """Compare the candidates on held-out training rows."""
    found = dict[str, dict[str, list[Standing]]]()
    for name in options.sets:
        candidates = [*EVERYWHERE, *(() if name in LARGE else ON_SMALL)]
        data = training_part(part_of(sets.read(name, options.data)))
        makers = dict(map(learner, options.learner or candidates))
        found[name] = trials(data, makers, _seeds(options)[: 1 if name in LARGE else None])
        heard(name, len(found))
    _show(study, found, "held-out training rows")


def test(study: Study, options: Namespace) -> None:
    """Compare the chosen learner with FF and the peers on the published test rows."""
    found = dict[str, dict[str, list[Standing]]]()
    tested = options.learner or TESTED
    for name in options.sets:
        data = part_of(sets.read(name, options.data))
        found[name] = trials(data, dict(map(learner, tested)), _seeds(options))
        peers = options.peers or (PEERS_OF_LARGE if name in TOO_LARGE else PEERS_OF_SMALL)
        found[name] |= trials(data, dict(map(peer, peers)), _seeds(options)[:1])
        heard(name, len(found))
    _show(study, found, "test rows")
    study.show(aim_table(found, label(Options.parse(tested[0]))))


def _seeds(options: Namespace) -> range:
    return range(options.seed, options.seed + options.splits)


def _show(study: Study, found: Standings, where: str) -> None:
    for measure in ACCURACY:
        study.show(by_set(f"{measure} on {where}", found, _accuracy(measure), "more"))
    costs: list[tuple[str, Callable[[Standing], float], Better]] = [
        ("T_train, CPU seconds", lambda each: each.train_seconds, "less"),
        ("ranks/s", lambda each: each.ranks_per_second, "more"),
        ("bytes", lambda each: each.bytes, "less"),
    ]
    for title, cost, better in costs:
        study.show(by_set(title, found, cost, better, _cost))


def _accuracy(measure: str) -> Callable[[Standing], float]:
    return lambda each: each.accuracy[measure]


if __name__ == "__main__":
    parser = parser_of(__doc__, SETS)
    parser.add_argument("--test", action="store_true", help="on the test rows, beside peers")
    parser.add_argument("--splits", type=int, default=3, help="orders of the training rows")
    parser.add_argument("--seed", type=int, default=0, help="of the first order")
    parser.add_argument("--learner", action="append", metavar="SPEC", help="in place of the usual")
    parser.add_argument("--peers", nargs="*", metavar="PEER", help="in place of the usual")
    given = parser.parse_args()
    report = Study("manyclass.evaluation.studies.default", given)
    (test if given.test else choose)(report, given)
    report.write()

"""Figures 9 and 10 of Madani, Connor, Greiner, JMLR 2009: FF against classifiers of one class each.

FF as there: minimum weight 0.01, 25 edges of a feature vote, no limit on memory. Its first row is
margin threshold 0 after one pass, its second the best mean R1 on the test rows over the margin
thresholds and passes that were run. Classifiers are one-versus-rest where there is no taxonomy,
else top-down. Needs scikit-learn, see `evaluation/peers`; with --without-peers it does not.
"""

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from manyclass.core.learners.options import Options
from manyclass.evaluation.comparison import (
    SIGNIFICANT,
    Comparison,
    Plan,
    Result,
    Variant,
    compare,
)
from manyclass.evaluation.contender import Maker
from manyclass.evaluation.measures import sign_test
from manyclass.evaluation.peers import PEERS
from manyclass.evaluation.peers.binary import SupportVectors
from manyclass.evaluation.peers.flat import OneVersusRest
from manyclass.evaluation.report import EMPTY, Cell, Table, title_of
from manyclass.evaluation.run import Pass
from manyclass.evaluation.sets import DataSet, read
from manyclass.evaluation.studies.study import Study, heard, parser_of

MARGINS = (0.0, 0.1, 0.5)  # those of the paper


@dataclass(frozen=True)
class Printed:
    """A row of the paper's tables."""

    harmonic_rank: float
    r1: float
    r5: float
    seconds: str
    touched: float | None = None
    edges: str = "-"


@dataclass(frozen=True)
class Setting:
    """How a set is run: passes and splits of FF, and on how many splits each peer is run."""

    passes: int
    splits: int
    peers: Mapping[str, int] = field(default_factory=dict)
    printed: Mapping[str, Printed] = field(default_factory=dict)
    margins: Sequence[float] = MARGINS


FIRST, BEST, BASELINE = "FF, first", "FF, best", "frequency"

SETTINGS: dict[str, Setting] = {
    "reuters10": Setting(
        10,
        10,
        {
            "perceptron": 10,
            "committee": 10,
            "linearsvc": 10,
            "linearsvc C=10": 10,
            "linearsvc-sigmoid": 10,
        },
        {
            FIRST: Printed(1.082, 0.860, 0.998, "0s", 4.9, "55k"),
            BEST: Printed(1.066, 0.884, 0.997, "0s", 5, "73k"),
            "perceptron": Printed(1.08, 0.871, 0.995, "4s", 10, "74k"),
            "committee": Printed(1.06, 0.891, 0.999, "40s", 10, "74k+"),
            "linearsvc": Printed(1.052, 0.906, 0.998, "11s", 10, "74k+"),
            BASELINE: Printed(1.6, 0.42, 0.86, "-"),
        },
    ),
    "newsgroups": Setting(
        5,
        10,
        {"perceptron": 10, "committee": 3, "linearsvc": 10, "linearsvc C=10": 10},
        {
            FIRST: Printed(1.137, 0.798, 0.978, "2s", 10, "113k"),
            BEST: Printed(1.085, 0.865, 0.987, "2s", 10, "171k"),
            "perceptron": Printed(1.229, 0.728, 0.928, "20s", 20, "189k"),
            "committee": Printed(1.122, 0.830, 0.970, "220s", 20, "189k+"),
            "linearsvc": Printed(1.102, 0.852, 0.975, "92s", 20, "189k+"),
            BASELINE: Printed(3.33, 0.05, 0.25, "-"),
        },
    ),
    "cpv": Setting(10, 3, {"topdown-perceptron": 1, "topdown-svm": 1, "linearsvc": 1}),
    "eurlex": Setting(2, 1),
    "yso": Setting(2, 1),
    "words": Setting(
        4,
        3,
        {},
        {
            FIRST: Printed(2.71, 0.272, 0.480, "40s", 8.7, "1.5M"),
            BEST: Printed(2.73, 0.279, 0.462, "160s", 9.1, "1.6M"),
            BASELINE: Printed(10.3, 0.037, 0.15, "-"),
        },
        margins=(0.0, 0.1),
    ),
}


def maker_of(name: str) -> Maker:
    """The peer of this name; `linearsvc C=10` is one-versus-rest with another C than 1."""
    kind, _, c = name.partition(" C=")
    if not c:
        return PEERS[kind]
    return lambda seed: OneVersusRest(name, SupportVectors(float(c)), seed)


def focused(margin: float, **given: object) -> Options:
    """FF as the paper has it, with this margin threshold."""
    as_there = {"feature_memory": 0, "sublinear": False}
    return Options.of("ff", margin_threshold=margin, **as_there, **given)


def measure(data: DataSet, setting: Setting, makers: Mapping[str, Maker]) -> list[Comparison]:
    """One comparison for each number of splits; the first has FF and the baseline."""
    plan = Plan(setting.passes, setting.splits)
    margins = [focused(margin) for margin in setting.margins]
    varied = [
        Variant(each, margins[0].specification, "margin_threshold", f"{each.margin_threshold:g}")
        for each in margins
    ]
    mains = [Variant(each, each.specification) for each in margins]
    found = [compare(data, [*mains, *varied], {}, plan, heard)]
    baseline = Variant(Options.of("frequency"), BASELINE)
    found[0].results.extend(compare(data, [baseline], {}, replace(plan, passes=1)).results)

    def splits_of(name: str) -> int:
        return setting.peers[name]

    for splits, names in groupby(sorted(makers, key=splits_of, reverse=True), splits_of):
        chosen = {name: makers[name] for name in names}
        measured = compare(data, [], chosen, Plan(1, splits), heard)
        if splits == setting.splits:
            found[0].results.extend(measured.results)
        else:
            found.append(measured)
    return found


def best_of(results: Sequence[Result]) -> tuple[Result, int]:
    """Which result, after which pass, has the highest mean R1 on the test rows; the first of
    equal ones."""
    after = [(each, number) for each in results for number in range(1, each.passes + 1)]
    return max(after, key=lambda pair: pair[0].test(pair[1], "R1").mean)


def wins(ours: Result, number: int, other: Result) -> Cell:
    """On how many of the splits both have R1 is above and below; * by the sign test of §6.1."""
    pairs = [
        (mine.test["R1"], others.passes[-1].test["R1"])
        for mine, others in zip(ours.after(number), other.outcomes, strict=False)
    ]
    won, lost = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    significant = sign_test(won, lost) <= SIGNIFICANT
    return Cell(f"{won}:{lost}{'*' if significant else ''}")


def table_of(comparisons: Sequence[Comparison], setting: Setting) -> Table:
    """The paper's rows of a set, and what the paper has where it is the same set."""
    results = [result for each in comparisons for result in each.results]
    ours = [result for result in results if result.contender.startswith("ff")]
    best, number = best_of(ours)
    rows = [
        _row(f"FF {_margin(ours[0])}, p=1", ours[0], 1, setting.printed.get(FIRST)),
        _row(f"FF {_margin(best)}, p={number}", best, number, setting.printed.get(BEST)),
    ]
    for result in results:
        if result in ours:
            continue
        name = BASELINE if result.contender.startswith(BASELINE) else result.contender
        if result.failed:
            rows.append([Cell(name), Cell(result.failed), *[EMPTY] * (len(COLUMNS) - 2)])
            continue
        row = _row(name, result, 1, setting.printed.get(name))
        row[COLUMNS.index("FF wins")] = wins(best, number, result)
        rows.append(row)
    used = [at for at in range(len(COLUMNS)) if any(row[at] != EMPTY for row in rows)]
    return Table(
        title_of(comparisons[0]),
        [COLUMNS[at] for at in used],
        [[row[at] for at in used] for row in rows],
        [-1] * len(used),
    )


COLUMNS = [
    *("", "splits", "HR", "R1", "R5", "T_train s", "d", "|W|", "bytes", "ranks/s", "FF wins"),
    *("paper: HR", "R1 ", "R5 ", "T_tr", "d ", "|W| "),
]


def _row(name: str, result: Result, number: int, printed: Printed | None) -> list[Cell]:
    passes = result.after(number)
    speeds = [outcome.ranks_per_second for outcome in result.outcomes]
    paper = [EMPTY] * 6
    if printed is not None:
        paper = [
            *(_figure(each) for each in (printed.harmonic_rank, printed.r1, printed.r5)),
            Cell(printed.seconds),
            EMPTY if printed.touched is None else Cell(f"{printed.touched:g}"),
            Cell(printed.edges),
        ]
    return [
        Cell(name),
        Cell(str(len(result.outcomes))),
        Cell.of(result.test(number, "HR"), deviation=False),
        Cell.of(result.test(number, "R1")),
        Cell.of(result.test(number, "R5"), deviation=False),
        Cell.of_cost([each.train_seconds for each in passes]),
        *(Cell.of_cost([_counted(each, name) for each in passes]) for name in ("touched", "edges")),
        Cell.of_cost([each.bytes for each in passes]),
        Cell.of_cost(speeds),
        EMPTY,
        *paper,
    ]


def _counted(passed: Pass, name: str) -> float | None:
    counted: float | None = getattr(passed, name)
    return counted or None


def _figure(figure: float) -> Cell:
    return Cell(f"{figure:.3f}", figure)


def _margin(result: Result) -> str:
    return f"δ_m={Options.parse(result.contender).margin_threshold:g}"


def main(given: Namespace, reading: Callable[[str, Path], DataSet] = read) -> None:
    study = Study("manyclass.evaluation.studies.paper", given)
    for name in given.sets:
        setting = SETTINGS[name]
        makers = {} if given.without_peers else {each: maker_of(each) for each in setting.peers}
        comparisons = measure(reading(name, given.data), setting, makers)
        study.comparisons += comparisons
        study.show(table_of(comparisons, setting))
        study.write()


if __name__ == "__main__":
    parser = parser_of(__doc__, list(SETTINGS))
    parser.add_argument("--without-peers", action="store_true", help="our own learners only")
    main(parser.parse_args())

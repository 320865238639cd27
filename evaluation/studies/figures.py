"""Figures 11 to 19 of Madani, Connor, Greiner, JMLR 2009: what each option of FF does.

Each set is run once, with all variations of one base: FF with the margin threshold that
`manyclass.evaluation.studies.paper` found best for it. R1 is on the test rows, after the pass with
the best mean; after the first one where the paper has that too (figures 11 and 12).
"""

from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from manyclass.core.learners.options import Options
from manyclass.evaluation.comparison import (
    Comparison,
    Plan,
    Result,
    Variant,
    compare,
    label,
    variants,
)
from manyclass.evaluation.peers import PEERS
from manyclass.evaluation.report import EMPTY, Cell, Table
from manyclass.evaluation.sets import DataSet, read
from manyclass.evaluation.studies.independent import Independent
from manyclass.evaluation.studies.paper import best_of, focused
from manyclass.evaluation.studies.study import Study, heard, parser_of

OUTDEGREES = ("1", "3", "5", "10", "25", "100")
MIN_WEIGHTS = ("0.001", "0.01", "0.1")
MARGINS = ("0", "0.1", "0.2", "0.5", "1")
BOOLEAN_MARGINS = (0.5, 1.0, 3.0, 7.0)
LEAK, RATING = ("no", "yes"), ("0", "10")
UNLIMITED = {"min_weight": 0.0, "max_outdegree": 1000}  # as the paper's figure 11
ALWAYS: Mapping[str, Sequence[str]] = {
    "max_outdegree": OUTDEGREES,
    "min_weight": MIN_WEIGHTS,
    "leak": LEAK,
    "rating": RATING,
}
INDEXES = ("unweighted", "unweighted-committee")


@dataclass(frozen=True)
class Setting:
    """How a set is run, and what is run on it beside the variations.

    `unweighted` names the unweighted indexes, each with the number of splits it is run on.
    """

    margin: float
    passes: int
    splits: int
    vary: Mapping[str, Sequence[str]] = field(default_factory=lambda: ALWAYS)
    unlimited: bool = True
    boolean: bool = False  # features that are 0 or 1, and IND
    unweighted: Mapping[str, int] = field(default_factory=dict)


BY_MARGIN = {**ALWAYS, "margin_threshold": MARGINS}
OF_LARGE_SETS: Mapping[str, Sequence[str]] = {
    "max_outdegree": ("1", "5", "25", "100"),
    "min_weight": ("0.01", "0.1"),
    "leak": LEAK,
    "rating": RATING,
}
SETTINGS: dict[str, Setting] = {
    "reuters10": Setting(0.1, 4, 2, BY_MARGIN, boolean=True),
    "newsgroups": Setting(
        0.5, 4, 2, BY_MARGIN, boolean=True, unweighted={"unweighted": 2, "unweighted-committee": 1}
    ),
    "cpv": Setting(0.1, 4, 1, BY_MARGIN, boolean=True, unweighted={"unweighted": 1}),
    "words": Setting(0.1, 1, 1, OF_LARGE_SETS),
    "eurlex": Setting(
        0.0, 1, 1, {**OF_LARGE_SETS, "margin_threshold": ("0", "0.01", "0.03", "0.1", "0.5")}
    ),
}

# What the paper has for the sets that are here too, in the order of the columns.
PRINTED: dict[int, dict[str, tuple[float, ...]]] = {
    11: {"reuters10": (0.884, 0.884), "newsgroups": (0.866, 0.865), "words": (0.276, 0.274)},
    15: {"newsgroups": (0.866, 0.865)},
    16: {"newsgroups": (0.860, 0.865)},
    17: {"newsgroups": (0.846, 0.860, 0.860, 0.865)},
    18: {"newsgroups": (0.681, 0.768, 0.86)},
}


CHOSEN, KEPT = "ind, p_ind chosen", "ind, p_ind 0"


@dataclass(frozen=True)
class Found:
    """What a set came to. `comparisons` begins with FF and its variations."""

    name: str
    setting: Setting
    comparisons: list[Comparison]
    thresholds: list[float]  # p_ind of each split

    @property
    def base(self) -> Options:
        """What is varied."""
        return focused(self.setting.margin)

    def of(self, contender: str | Options) -> Result | None:
        """The result of a learner or of a peer; None when it was not run."""
        name = contender if isinstance(contender, str) else label(contender)
        results = (each for comparison in self.comparisons for each in comparison.results)
        return next((each for each in results if each.contender == name), None)

    def varied(self, option: str) -> dict[str, Result]:
        """By its value, the results of an option that was varied."""
        results = self.comparisons[0].results
        return {each.value: each for each in results if each.option == option}


def measure(name: str, data: DataSet, setting: Setting) -> Found:
    """Run everything on one set."""
    base = focused(setting.margin)
    learners = variants([base], setting.vary)
    others = [focused(setting.margin, **UNLIMITED)] if setting.unlimited else []
    if setting.boolean:
        others += [focused(margin, boolean=True) for margin in BOOLEAN_MARGINS]
    learners += [Variant(each, label(each)) for each in others]
    plan = Plan(setting.passes, setting.splits)
    comparisons = [compare(data, learners, {}, plan, heard)]
    made = list[Independent]()
    if setting.boolean:

        def chosen(seed: int) -> Independent:
            made.append(Independent(CHOSEN, seed))
            return made[-1]

        peers = {CHOSEN: chosen, KEPT: lambda seed: Independent(KEPT, seed, (0.0,))}
        comparisons.append(compare(data, [], peers, Plan(1, setting.splits), heard))
    for index, splits in setting.unweighted.items():
        comparisons.append(compare(data, [], {index: PEERS[index]}, Plan(1, splits), heard))
    return Found(name, setting, comparisons, [each.threshold for each in made])


# --- tables ---------------------------------------------------------------------------------------


def best(result: Result | None) -> Cell:
    """R1 after the best pass."""
    return EMPTY if result is None else Cell.of(result.test(result.best_pass(), "R1"))


def first(result: Result | None) -> Cell:
    """R1 after one pass."""
    return EMPTY if result is None else Cell.of(result.test(1, "R1"))


def cost(result: Result | None, of: str) -> Cell:
    """What the first pass cost: train_seconds, touched or edges."""
    if result is None:
        return EMPTY
    return Cell.of_cost([getattr(each, of) for each in result.after(1)])


def table(number: int, title: str, columns: Sequence[str], rows: Iterable[list[Cell]]) -> Table:
    """The table of one figure, the paper's values behind ours where it has the set."""
    printed = PRINTED.get(number, {})
    width = max(map(len, printed.values()), default=0)
    behind = [f"paper: {name}" for name in columns[:width]]
    found = [
        [*row, *_printed(printed.get(row[0].text, ()), width)]
        for row in rows
        if any(cell != EMPTY for cell in row[1:])
    ]
    names = ["", *columns, *behind]
    return Table(f"Figure {number}: {title}", names, found, [-1] * len(names))


def _printed(figures: Sequence[float], width: int) -> list[Cell]:
    return [*(Cell(f"{each:.3f}", each) for each in figures), *[EMPTY] * (width - len(figures))]


def without_limits(found: Sequence[Found]) -> Table:
    """Figure 11, with what it costs."""
    rows = []
    for each in found:
        both = each.of(focused(each.setting.margin, **UNLIMITED)), each.of(each.base)
        if both[0] is not None:
            costs = [
                cost(result, of) for of in ("train_seconds", "touched", "edges") for result in both
            ]
            rows.append([Cell(each.name), *map(best, both), *costs])
    columns = ["no limits", "default", "T_train s", "default", "d", "default", "|W|", "default"]
    return table(11, "no limits (w_min 0, d_max 1000) and the default ones", columns, rows)


def by_value(
    found: Sequence[Found],
    number: int,
    title: str,
    option: str,
    values: Sequence[str],
    shown: Callable[[Result | None], Cell] = best,
) -> Table:
    """R1 for each value of an option, a row for each set it was varied on."""
    rows = [
        [Cell(each.name), *(shown(each.varied(option).get(value)) for value in values)]
        for each in found
    ]
    return table(number, title, [f"{option} {value}" for value in values], rows)


def by_pass(found: Found) -> Table:
    """Figures 14 and 19: R1 on test rows and on learned rows after each pass."""
    rows = []
    for value, result in found.varied("margin_threshold").items():
        numbers = range(1, result.passes + 1)
        tested = [Cell.of(result.test(number, "R1")) for number in numbers]
        learned = [Cell.of(result.training(number, "R1"), deviation=False) for number in numbers]
        rows.append([Cell(f"δ_m={value}, test"), *tested])
        rows.append([Cell(f"δ_m={value}, training"), *learned])
    columns = [f"pass {number}" for number in range(1, found.setting.passes + 1)]
    title = f"Figures 14 and 19: margin thresholds and passes on {found.name}"
    return Table(title, ["", *columns], rows, [-1] * (len(columns) + 1))


def booleans(found: Sequence[Found]) -> Table:
    """Figure 17."""
    rows, chosen = [], []
    for each in found:
        if not each.setting.boolean:
            continue
        results = [each.of(focused(margin, boolean=True)) for margin in BOOLEAN_MARGINS]
        known = [result for result in results if result is not None]
        top, number = best_of(known)
        once = max(known, key=lambda result: result.test(1, "R1").mean)
        chosen.append(
            f"{each.name}: p_ind {', '.join(f'{p:g}' for p in each.thresholds)}; best Boolean FF"
            f" is {top.contender} after pass {number}."
        )
        cells = [best(each.of(CHOSEN)), first(once), best(top), best(each.of(each.base))]
        rows.append([Cell(each.name), *cells, best(each.of(KEPT))])
    columns = ["IND", "Boolean FF, p=1", "best Boolean FF", "FF", "IND, p_ind 0"]
    made = table(17, "IND and Boolean features", columns, rows)
    return replace(made, notes=chosen)


def unweighted(found: Sequence[Found]) -> Table:
    """Figure 18."""
    rows = [
        [
            Cell(each.name),
            *(best(each.of(index)) for index in INDEXES),
            best(each.of(each.base)),
            *(cost(each.of(index), "train_seconds") for index in INDEXES),
        ]
        for each in found
        if each.setting.unweighted
    ]
    columns = ["no classifiers", "with committees", "FF", "T_train s", "with committees s"]
    return table(18, "unweighted indexing", columns, rows)


def tables(found: Sequence[Found]) -> list[Table]:
    """All tables, in the order of the paper; those without rows are left out."""
    made = [
        without_limits(found),
        by_value(found, 12, "d_max, after one pass", "max_outdegree", OUTDEGREES, first),
        by_value(found, 13, "w_min", "min_weight", MIN_WEIGHTS),
        *(by_pass(each) for each in found),
        by_value(found, 15, "whether a dropped edge's weight leaks", "leak", LEAK),
        by_value(found, 16, "times seen for a feature's full vote (0: at once)", "rating", RATING),
        booleans(found),
        unweighted(found),
    ]
    return [each for each in made if each.rows]


def main(given: Namespace, reading: Callable[[str, Path], DataSet] = read) -> None:
    study = Study("manyclass.evaluation.studies.figures", given)
    found = list[Found]()
    for name in given.sets:
        found.append(measure(name, reading(name, given.data), SETTINGS[name]))
        study.comparisons += found[-1].comparisons
        study.write()
    for each in tables(found):
        study.show(each)
    study.write()


if __name__ == "__main__":
    main(parser_of(__doc__, list(SETTINGS)).parse_args())

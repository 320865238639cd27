"""Tables and figures of records."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from statistics import mean
from typing import Any

from manyclass.evaluation.comparison import SIGNIFICANT, Spread
from manyclass.evaluation.figures import Figure, Series
from manyclass.evaluation.measures import sign_test
from manyclass.evaluation.report import EMPTY, Better, Cell, Table, best_of, short
from studies.declaration import At, Beside, Pivot, Plot, Record, Study

WITH_DEVIATION = frozenset({"R1", "R5"})  # others would widen the tables
LESS = frozenset({"HR", "taxo-loss", "calibration error", "Brier", "log loss", "deviation"})
COSTS: dict[str, Better] = {
    "pass": "",
    "T_train s": "less",
    "T s": "less",
    "ranks/s": "more",
    "bytes": "less",
    "|W|": "less",
    "d": "less",
}


def tables(study: Study, records: Sequence[Record]) -> list[Table]:
    """Return the tables of a study, without those that have no rows."""
    made = list[Table]()
    for declared in study.tables:
        found = (
            _pivoted(declared, records)
            if isinstance(declared, Pivot)
            else [_beside(declared, records)]
        )
        made += [table for table in found if table.rows]
    return made


def figures(study: Study, records: Sequence[Record]) -> list[Figure]:
    """Return the figures of a study, without those that have no points."""
    made = [
        _plotted(plot, dataset, [each for each in records if each["dataset"] == dataset])
        for plot in study.plots
        for dataset in _values(records, "dataset")
    ]
    return [figure for figure in made if figure.series]


def _values(records: Iterable[Record], key: str) -> list[Any]:
    """Return the different values of a key in their order."""
    return list(dict.fromkeys(each[key] for each in records if key in each))


def _numbers(records: Iterable[Record], measure: str) -> list[float]:
    return [each[measure] for each in records if measure in each]


# --- passes ---------------------------------------------------------------------------------------


def at_pass(records: Sequence[Record], at: At) -> list[Record]:
    """Return the records of the first, best or last pass of each run; those without a pass too."""
    groups = dict[tuple[tuple[str, str], ...], list[Record]]()
    for each in records:
        run = tuple((key, value) for key, value in each.items() if isinstance(value, str))
        groups.setdefault(run, []).append(each)
    choose: dict[At, Callable[[list[Record]], Iterable[int]]] = {
        "first": lambda _: [1],
        "last": lambda group: [max(_values(group, "pass"))],
        "best": lambda group: [_best_pass(group)],
        "every": lambda group: _values(group, "pass"),
    }
    kept = list[Record]()
    for group in groups.values():
        passes = choose[at](group) if _values(group, "pass") else ()
        kept += [each for each in group if each.get("pass") in (None, *passes)]
    return kept


def _best_pass(group: Sequence[Record]) -> int:
    numbers: list[int] = _values(group, "pass")
    return max(
        numbers,
        key=lambda number: mean(_numbers((r for r in group if r["pass"] == number), "R1")),
    )


# --- pivots ---------------------------------------------------------------------------------------


def _pivoted(pivot: Pivot, records: Sequence[Record]) -> Iterator[Table]:
    keys = [key for key in (pivot.rows, pivot.across, pivot.each) if key]
    known = [each for each in records if all(key in each for key in keys)]
    used = [each for each in known if any(measure in each for measure in pivot.measures)]
    for value in _values(used, pivot.each) if pivot.each else [""]:
        part = [each for each in used if not pivot.each or each[pivot.each] == value]
        title = f"{value}: {pivot.title}" if value else pivot.title
        failed = {
            f"{each[pivot.rows]}: {each['failed']}": None
            for each in known
            if "failed" in each and (not pivot.each or each[pivot.each] == value)
        }
        yield _table(pivot, title, at_pass(part, pivot.at), list(failed))


def _table(pivot: Pivot, title: str, records: Sequence[Record], notes: list[str]) -> Table:
    columns = [
        (measure, across)
        for across in (_values(records, pivot.across) if pivot.across else [None])
        for measure in pivot.measures
        if any(measure in each for each in records)
    ]
    names = _values(records, pivot.rows)
    cells = [
        [
            _cell(_of(records, pivot, name, across), measure, pivot.digits)
            for measure, across in columns
        ]
        for name in names
    ]
    headings = [
        measure
        if across is None
        else str(across)
        if len(pivot.measures) == 1
        else f"{measure}, {pivot.across} {across}"
        for measure, across in columns
    ]
    best = [_best([row[at] for row in cells], measure) for at, (measure, _) in enumerate(columns)]
    if pivot.mean:
        shared = [at for at in range(len(columns)) if all(row[at] != EMPTY for row in cells)]
        headings.append(f"mean of {len(shared)}")
        for row in cells:
            row.append(_mean([row[at] for at in shared], columns[0][0], pivot.digits))
        best.append(_best([row[-1] for row in cells], columns[0][0]))
    if pivot.wins_of:
        headings.append(f"{pivot.wins_of} wins")
        best.append(-1)
        winner = max(
            (name for name in names if str(name).startswith(pivot.wins_of)),
            key=lambda name: mean(_numbers(_of(records, pivot, name, None), "R1")),
        )
        for name, row in zip(names, cells, strict=True):
            row.append(_wins(records, winner, name))
    rows = [[Cell(str(name)), *row] for name, row in zip(names, cells, strict=True)]
    return Table(title, [pivot.rows, *headings], rows, [-1, *best], notes)


def _of(records: Sequence[Record], pivot: Pivot, row: Any, across: Any) -> list[Record]:
    return [
        each
        for each in records
        if each[pivot.rows] == row and (across is None or each[pivot.across] == across)
    ]


def _best(cells: Sequence[Cell], measure: str) -> int:
    """Return the place of the best cell; -1 if all are equal."""
    if len({cell.value for cell in cells}) == 1:
        return -1
    return best_of(cells, COSTS.get(measure, "less" if measure in LESS else "more"))


def _cell(records: Sequence[Record], measure: str, digits: int) -> Cell:
    """Return the mean; its deviation over splits, but not over data sets, for R1 and R5."""
    numbers = _numbers(records, measure)
    if not numbers or not all(map(isfinite, numbers)):
        return EMPTY
    spread = Spread.of(numbers)
    if measure in COSTS:
        return Cell(short(spread.mean), spread.mean)
    text = f"{spread.mean:.{digits}f}"
    one_dataset = len(_values(records, "dataset")) == 1
    if spread.deviation is not None and one_dataset and measure in WITH_DEVIATION:
        text += f" ± {spread.deviation:.{digits}f}"
    return Cell(text, spread.mean)


def _mean(cells: Sequence[Cell], measure: str, digits: int) -> Cell:
    if not cells:
        return EMPTY
    value = mean(cell.value for cell in cells if cell.value is not None)
    return Cell(short(value) if measure in COSTS else f"{value:.{digits}f}", value)


def _wins(records: Sequence[Record], one: Any, other: Any) -> Cell:
    """Return wins and losses in R1 on the splits of both; * by the sign test of §6.1."""
    r1 = {(each["estimator"], each["split"]): each["R1"] for each in records if "split" in each}
    pairs = [
        (value, r1[other, split])
        for (name, split), value in r1.items()
        if name == one and (other, split) in r1
    ]
    if one == other or not pairs:
        return EMPTY
    won, lost = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    return Cell(f"{won}:{lost}{'*' if sign_test(won, lost) <= SIGNIFICANT else ''}")


# --- pairs, figures -------------------------------------------------------------------------------


def _beside(declared: Beside, records: Sequence[Record]) -> Table:
    latest = at_pass(records, "last")
    rows = list[list[Cell]]()
    for dataset in _values(latest, "dataset"):
        of = {
            name: [r for r in latest if (r["dataset"], r["estimator"]) == (dataset, name)]
            for name in {name for pair in declared.pairs for name in pair}
        }
        for ours, theirs in declared.pairs:
            if _numbers(of[ours], declared.points[0]) and _numbers(of[theirs], declared.points[0]):
                cells = [Cell(dataset), Cell(ours), Cell(theirs)]
                for measure in declared.points:
                    by = 100 * (
                        mean(_numbers(of[ours], measure)) - mean(_numbers(of[theirs], measure))
                    )
                    cells.append(Cell(f"{by:+.2f}", by))
                for measure in declared.ratios:
                    theirs_mean = max(mean(_numbers(of[theirs], measure)), 1e-9)
                    ratio = mean(_numbers(of[ours], measure)) / theirs_mean
                    cells.append(Cell(f"{ratio:.2g} x", ratio))
                rows.append(cells)
    columns = ["dataset", "ours", "beside", *(f"{each}, points" for each in declared.points)]
    columns += declared.ratios
    return Table(declared.title, columns, rows, [-1] * len(columns))


def _plotted(plot: Plot, dataset: str, records: Sequence[Record]) -> Figure:
    used = [each for each in records if {plot.x, plot.y} <= each.keys()]
    if not plot.along:
        used = at_pass(used, "last")
    series = list[Series]()
    names = _values(used, "estimator")
    for colour, name in enumerate(each for each in names if not plot.only or each in plot.only):
        of_name = [each for each in used if each["estimator"] == name]
        points = []
        for place in _values(of_name, plot.along) if plot.along else [None]:
            here = [each for each in of_name if place is None or each[plot.along] == place]
            spread = Spread.of(_numbers(here, plot.y))
            points.append((mean(_numbers(here, plot.x)), spread.mean, spread.deviation))
        series.append(Series(name, points, colour))
    return Figure(
        f"{dataset}: {plot.title}",
        plot.x,
        plot.y,
        series,
        logarithmic=plot.logarithmic,
        scattered=not plot.along,
    )

"""Tables and figures of records."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import mean
from typing import Any, Literal

from manyclass.evaluation.comparison import SIGNIFICANT, Spread
from manyclass.evaluation.figures import LEAST_OF_BEST
from manyclass.evaluation.measures import sign_test
from manyclass.evaluation.plot import Figure, Series
from manyclass.evaluation.report import EMPTY, Cell, Table, best_of, short
from studies.declaration import At, Beside, Gaps, Pivot, Plot, Record, Study

WITH_DEVIATION = frozenset({"R1", "R5", "error %"})  # others would widen the tables
SIZES = frozenset({"pass", "classes", "active", "features", "features a text"})
COUNTS = {"mistakes", "bound by u - 1", "bound by u - 2", "least gain / beta^2", "drawn"}
UNRANKED = (
    SIZES
    | COUNTS
    | {"evaluations", "unfinished", "R1 of all labels", "reached", "share at the end"}
    | {f"{each} of the constant" for each in ("calibration error", "Brier", "log loss")}
)
COSTS = frozenset({"T_train s", "T s", "CPU s", "bytes", "|W|", "d", "rank µs", "learn µs"})
LESS = COSTS | {
    "HR",
    "taxo-loss",
    "taxo-loss decoded",
    "taxo",
    "taxo[0-1]",
    "error %",
    "Psi / n",
    "log loss (seen)",
    "calibration error",
    "Brier",
    "log loss",
    "deviation",
    "share needed",
}
SHORT = SIZES | COSTS | {"ranks/s"}  # written with three digits


def tables(study: Study, records: Sequence[Record]) -> list[Table]:
    """Return the tables of a study that have rows."""
    made = list[Table]()
    for declared in study.tables:
        made += [table for table in _declared(declared, records) if table.rows]
    return made


def _declared(declared: Pivot | Beside | Gaps, records: Sequence[Record]) -> Iterable[Table]:
    if isinstance(declared, Pivot):
        return _pivoted(declared, records)
    if isinstance(declared, Beside):
        return [_beside(declared, records)]
    return [_gaps(declared, records)]


def figures(study: Study, records: Sequence[Record]) -> list[Figure]:
    """Return the figures of a study that have points."""
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


Column = tuple[str, list[Cell], int]  # heading, cells, the position of the best cell or -1


def _table(pivot: Pivot, title: str, records: Sequence[Record], notes: list[str]) -> Table:
    names = _values(records, pivot.rows)
    columns = list[Column]()
    for across in _values(records, pivot.across) if pivot.across else [None]:
        for measure in pivot.measures:
            if any(measure in each for each in records):
                here = [_of(records, pivot, name, across) for name in names]
                cells = [_cell(each, measure, pivot.digits) for each in here]
                columns.append((_heading(pivot, measure, across), cells, _best(cells, measure)))
    if pivot.mean:
        columns.append(_mean_column(columns, pivot.measures[0], pivot.digits))
    if pivot.wins_of:
        columns.append(_wins_column(records, pivot.wins_of, names))
    return Table(
        title,
        [pivot.rows, *(heading for heading, _, _ in columns)],
        [[Cell(str(name)), *(c[at] for _, c, _ in columns)] for at, name in enumerate(names)],
        [-1, *(best for _, _, best in columns)],
        notes,
    )


def _of(records: Sequence[Record], pivot: Pivot, row: Any, across: Any) -> list[Record]:
    return [
        each
        for each in records
        if each[pivot.rows] == row and (across is None or each[pivot.across] == across)
    ]


def _heading(pivot: Pivot, measure: str, across: Any) -> str:
    if across is None:
        return measure
    return str(across) if len(pivot.measures) == 1 else f"{measure}, {pivot.across} {across}"


def _best(cells: Sequence[Cell], measure: str) -> int:
    """Return the position of the best cell; -1 if all are equal or unranked."""
    if measure in UNRANKED or len({cell.value for cell in cells}) == 1:
        return -1
    return best_of(cells, "less" if measure in LESS else "more")


def _cell(records: Sequence[Record], measure: str, digits: int) -> Cell:
    """Return the mean, and for some measures its deviation over the splits of one data set."""
    numbers = _numbers(records, measure)
    if not numbers:
        return EMPTY
    spread = Spread.of(numbers)
    one_dataset = len(_values(records, "dataset")) == 1
    shows_deviation = spread.deviation is not None and one_dataset and measure in WITH_DEVIATION
    deviation = f" ± {spread.deviation:.{digits}f}" if shows_deviation else ""
    return Cell(_written(spread.mean, measure, digits) + deviation, spread.mean)


def _written(value: float, measure: str, digits: int) -> str:
    return short(value) if measure in SHORT else f"{value:.{digits}f}"


def _mean_column(columns: Sequence[Column], measure: str, digits: int) -> Column:
    """Return the mean of each row over the columns that all rows have."""
    shared = [cells for _, cells, _ in columns if EMPTY not in cells]
    means = [mean(cell.value or 0.0 for cell in row) for row in zip(*shared, strict=True)]
    cells = [Cell(_written(each, measure, digits), each) for each in means]
    return f"mean of {len(shared)}", cells or [EMPTY] * len(columns[0][1]), _best(cells, measure)


def _wins_column(records: Sequence[Record], prefix: str, names: Sequence[str]) -> Column:
    """Return the splits won and lost, in R1, by the best estimator whose name has the prefix.

    * marks p <= 0.05 of the sign test (Madani et al. 2009, section 6.1).
    """
    r1 = {(each["estimator"], each["split"]): each["R1"] for each in records if "split" in each}
    winner = max(
        {name for name, _ in r1 if name.startswith(prefix)},
        key=lambda name: mean(value for (of, _), value in r1.items() if of == name),
    )
    cells = list[Cell]()
    for name in names:
        pairs = [
            (r1[winner, split], value)
            for (of, split), value in r1.items()
            if of == name != winner and (winner, split) in r1
        ]
        won, lost = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
        mark = "*" if sign_test(won, lost) <= SIGNIFICANT else ""
        cells.append(Cell(f"{won}:{lost}{mark}") if pairs else EMPTY)
    return f"{prefix} wins", cells, -1


# --- pairs, figures -------------------------------------------------------------------------------


def _beside(declared: Beside, records: Sequence[Record]) -> Table:
    latest = at_pass(records, "last")
    rows = list[list[Cell]]()
    for dataset in _values(latest, "dataset"):
        here = [each for each in latest if each["dataset"] == dataset]
        for pair in declared.pairs:
            ours, theirs = ([each for each in here if each["estimator"] == name] for name in pair)
            if all(_numbers(each, declared.points[0]) for each in (ours, theirs)):
                cells = map(Cell, (dataset, *pair))
                rows.append([*cells, *_compared(declared, ours, theirs)])
    points = [f"{each}, points" for each in declared.points]
    columns = ["dataset", "ours", "beside", *points, *declared.ratios]
    return Table(declared.title, columns, rows, [-1] * len(columns))


def _compared(declared: Beside, ours: Sequence[Record], theirs: Sequence[Record]) -> Iterator[Cell]:
    for measure in (*declared.points, *declared.ratios):
        found = [*_numbers(ours, measure)], [*_numbers(theirs, measure)]
        if not all(found):  # measured for one of the two alone
            yield EMPTY
            continue
        mine, other = map(mean, found)
        if measure in declared.points:
            yield Cell(f"{100 * (mine - other):+.2f}", 100 * (mine - other))
        else:
            yield Cell(f"{mine / max(other, 1e-9):.2g} x", mine / max(other, 1e-9))


def _gaps(declared: Gaps, records: Sequence[Record]) -> Table:
    """Return a row for each data set: our measure, the best peer by it, and the gap in points."""
    latest = at_pass(records, "last")
    rows = list[list[Cell]]()
    for dataset in _values(latest, "dataset"):
        here = [each for each in latest if each["dataset"] == dataset]
        cells = [Cell(str(dataset))]
        for measure in declared.points:
            means = {
                name: mean(found)
                for name in (declared.ours, *declared.peers)
                if (found := _numbers((r for r in here if r["estimator"] == name), measure))
            }
            ours = means.pop(declared.ours, None)
            if ours is None or not means:
                cells += [EMPTY, EMPTY, EMPTY]
                continue
            best = max(means, key=lambda name: means[name])
            gap = 100 * (ours - means[best])
            beside = Cell(f"{means[best]:.4f} ({best})", means[best])
            cells += [Cell(f"{ours:.4f}", ours), beside, Cell(f"{gap:+.2f}", gap)]
        rows.append(cells)
    columns = [
        heading
        for measure in declared.points
        for heading in (measure, f"the best peer's {measure}", "points")
    ]
    return Table(declared.title, ["dataset", *columns], rows, [-1] * (1 + len(columns)))


def _plotted(plot: Plot, dataset: str, records: Sequence[Record]) -> Figure:
    used = [each for each in records if {plot.x, plot.y} <= each.keys()]
    if not plot.along:
        used = at_pass(used, "last")
    series = list[Series]()
    names = _values(used, "estimator")
    for colour, name in enumerate(each for each in names if not plot.only or each in plot.only):
        of_name = [each for each in used if each["estimator"] == name]
        points = []
        for position in _values(of_name, plot.along) if plot.along else [None]:
            here = [each for each in of_name if position is None or each[plot.along] == position]
            spread = Spread.of(_numbers(here, plot.y))
            points.append((mean(_numbers(here, plot.x)), spread.mean, spread.deviation))
        series.append(Series(name, points, colour))
    front = list[Series]()
    if plot.front:
        best = max(map(_y, series), default=0.0)
        series = [each for each in series if _y(each) >= LEAST_OF_BEST * best]
        front = _front(series, plot.front)
        series = _faint_beside(front, series)
    return Figure(
        f"{dataset}: {plot.title}",
        plot.x,
        plot.y,
        series,
        logarithmic=plot.logarithmic,
        scattered=not plot.along,
        front=[each.points[0][:2] for each in front],
    )


def _front(series: Sequence[Series], better: Literal["left", "right"]) -> list[Series]:
    """Return the series of one point that no other exceeds in both measures, in the order of x."""
    from_better = sorted(
        series, key=lambda each: (each.points[0][0] * (1 if better == "left" else -1), -_y(each))
    )
    front = list[Series]()
    for each in from_better:
        if not front or _y(each) > _y(front[-1]):
            front.append(each)
    return front


def _faint_beside(front: Sequence[Series], series: Sequence[Series]) -> list[Series]:
    others = [replace(each, faint=True) for each in series if each not in front]
    return [*others, *(replace(each, colour=at) for at, each in enumerate(front))]


def _y(series: Series) -> float:
    return series.points[0][1]

"""Comparisons as tables (text, Markdown, CSV) and as JSON."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import StringIO
from math import isfinite
from typing import Any, Literal

from manyclass.evaluation.comparison import Comparison, Result, Spread, better_than
from manyclass.evaluation.run import Outcome, Pass, Stream


def short(number: float) -> str:
    """Return a number in three digits: 0.0952, 12.8, 4.31k, 171k, 4.5M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size * 0.9995:  # rounds up to the size
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


@dataclass(frozen=True)
class Cell:
    """The text of a cell, and its number if it has one."""

    text: str
    value: float | None = None

    @classmethod
    def of(cls, spread: Spread | None, deviation: bool = True) -> "Cell":
        """Return a cell with the mean of a measure, and its deviation if wanted."""
        if spread is None or not isfinite(spread.mean):
            return EMPTY
        return cls(str(spread if deviation else Spread(spread.mean, None)), spread.mean)

    def plain(self) -> str:
        """Return the number in ten digits, else the text; "" for an empty cell."""
        if self.value is None:
            return "" if self is EMPTY else self.text
        return f"{self.value:.10g}"

    @classmethod
    def of_cost(cls, costs: Sequence[float | None]) -> "Cell":
        """Return a cell with the mean of the measured costs."""
        counted = [cost for cost in costs if cost is not None]
        if not counted:
            return EMPTY
        mean = sum(counted) / len(counted)
        return cls(short(mean), mean)


EMPTY = Cell("-")
Better = Literal["more", "less", ""]


@dataclass(frozen=True)
class Column:
    """A column: its name, the better direction, and its cell after a number of passes."""

    name: str
    better: Better
    cell: Callable[[Result, int], Cell]


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first column names the rows.

    `best` has for each column the row of its best cell, or -1. Columns in `texts` hold text and are
    aligned to the left, as is the first column.
    """

    title: str
    columns: list[str]
    rows: list[list[Cell]]
    best: list[int]
    notes: list[str] = field(default_factory=list)
    texts: frozenset[str] = frozenset()

    def text(self) -> str:
        """Return the table for a terminal."""
        lines = [self.columns, *([printable(cell.text) for cell in row] for row in self.rows)]
        left = [not at or name in self.texts for at, name in enumerate(self.columns)]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.columns))]
        aligned = [
            "  ".join(
                cell.ljust(width) if at_left else cell.rjust(width)
                for cell, width, at_left in zip(line, widths, left, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([self.title, "", *(f"  {line}" for line in [*aligned, *self.notes])])

    def markdown(self) -> str:
        """Return the table for a document, the best of each column in bold."""
        lines = [self.columns, ["---", *["---:"] * (len(self.columns) - 1)]]
        for number, row in enumerate(self.rows):
            lines.append(
                [
                    f"**{cell.text}**" if self.best[at] == number else cell.text.replace("|", "\\|")
                    for at, cell in enumerate(row)
                ]
            )
        written = ["| " + " | ".join(line) + " |" for line in lines]
        written[0] = written[0].replace("|W|", "\\|W\\|")
        return "\n".join([self.title, "", *written, *(f"\n{note}" for note in self.notes)])

    def csv(self) -> str:
        """Return the table as CSV, with numbers in ten digits and empty cells as ""."""
        written = StringIO()
        lines = csv.writer(written)
        lines.writerow(self.columns)
        lines.writerows([cell.plain() for cell in row] for row in self.rows)
        return written.getvalue()


def printable(text: str) -> str:
    """Return the text in one line, with control characters escaped for terminals."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def table_of(
    comparison: Comparison, best_pass: bool = False, variations: bool | None = None
) -> Table:
    """Return the table of a data set: a row for each estimator after its last or its best pass.

    `variations`: only learners with a varied option (True), only the others (False), or all (None).
    The best pass has the highest mean R1 on the test rows, as in the papers. Each estimator has one
    row; empty columns are left out.
    """
    by_name: dict[str, Result] = {}
    for result in comparison.results:
        if variations is None or variations == (result.option is not None):
            by_name.setdefault(result.estimator, result)
    results = list(by_name.values())
    columns = _of_streams()
    if not comparison.plan.progressive:
        columns = _of_tests(comparison, results, best_pass)
    rows = []
    for result in results:
        number = result.pass_shown(best_pass)
        measured = bool(result.outcomes)
        rows.append([column.cell(result, number) if measured else EMPTY for column in columns])
    used = [at for at in range(len(columns)) if any(row[at] != EMPTY for row in rows)]
    return Table(
        title_of(comparison),
        ["learner", *(columns[at].name for at in used)],
        [
            [Cell(result.estimator), *(row[at] for at in used)]
            for result, row in zip(results, rows, strict=True)
        ],
        [-1, *(best_of([row[at] for row in rows], columns[at].better) for at in used)],
        [f"{each.estimator} failed: {each.failed}" for each in results if each.failed],
    )


def best_of(cells: Sequence[Cell], better: Better) -> int:
    """Return the index of the best cell, the first of equal ones; -1 with fewer than two values."""
    values = {at: cell.value for at, cell in enumerate(cells) if cell.value is not None}
    if not better or len(values) < 2:
        return -1
    choose = max if better == "more" else min
    return choose(values, key=lambda at: values[at])


def title_of(comparison: Comparison) -> str:
    """Return one line about a data set and its split."""
    facts, plan = comparison.facts, comparison.plan
    rows = f"{facts.instances:,} instances as one stream"
    if not plan.progressive:
        rows = f"{facts.training_rows:,} + {facts.test_rows:,} instances, split {facts.split}"
    several = f" ({facts.true_classes:.1f} to an instance)" if facts.many_labels else ""
    what = "order" if plan.progressive or facts.split == "as given" else "split"
    runs = f"{len(plan.seeds)} {what}s" if len(plan.seeds) > 1 else f"one {what}"
    return (
        f"{facts.name}: {rows}, {facts.classes:,} classes{several}, {facts.features:,} features"
        f" ({facts.active_features:.1f} active), {runs}"
    )


# --- columns --------------------------------------------------------------------------------------

LESS_IS_BETTER = ("HR", "taxo-loss", "taxo-loss decoded")
DECODED = ("taxo-loss decoded", "R1 decoded")
WITH_DEVIATION = ("R1", "R5")  # the JSON has the deviations of the others too


def _of_tests(comparison: Comparison, results: Sequence[Result], best_pass: bool) -> list[Column]:
    """Return columns of accuracy, then of cost (Madani et al. 2009, figure 9)."""
    names = ["R1", "R5", "HR"]
    if comparison.facts.many_labels:
        names += ["P3", "P5", "nDCG3", "nDCG5", "PSP1", "PSP3", "PSP5"]
    names.append("macro F1")
    if comparison.facts.has_taxonomy:
        names += ["MRR", "taxo-loss", "parent"]
    columns = [Column("pass", "", lambda result, number: Cell(str(number)))]
    columns += [_tested(name) for name in names]
    if comparison.facts.has_taxonomy:
        columns += [_decoded(name) for name in DECODED]
    columns += [
        _cost("T_train s", "less", lambda each: each.train_seconds),
        _cost("d", "less", lambda each: each.touched),
        _cost("|W|", "less", lambda each: each.edges),
        _cost("bytes", "less", lambda each: each.bytes),
        Column("ranks/s", "more", lambda result, number: Cell.of_cost(_speeds(result.outcomes))),
        _progressive("R1", "progressive R1"),
        Column(
            "training R1", "", lambda result, number: Cell.of(result.training(number, "R1"), False)
        ),
    ]
    first = next((result for result in results if result.outcomes), None)
    if first is not None and len(comparison.plan.seeds) > 1:
        first_number = first.pass_shown(best_pass)
        columns.append(
            Column("wins", "", lambda result, number: _wins(result, number, first, first_number))
        )
    return columns


def _of_streams() -> list[Column]:
    """Return columns of progressive accuracy, then of cost."""
    return [
        *(_progressive(name) for name in ("R1", "R5", "R10", "HR")),
        _cost_of_stream("T s", lambda stream: stream.seconds),
        _cost_of_stream("|W|", lambda stream: stream.edges),
        _cost_of_stream("bytes", lambda stream: stream.bytes),
    ]


def _accuracy(
    measure: str, spread: Callable[[Result, int], Spread | None], name: str = ""
) -> Column:
    better: Better = "less" if measure in LESS_IS_BETTER else "more"
    deviation = measure in WITH_DEVIATION
    return Column(
        name or measure, better, lambda result, number: Cell.of(spread(result, number), deviation)
    )


def _tested(measure: str) -> Column:
    return _accuracy(measure, lambda result, number: result.test(number, measure))


def _decoded(measure: str) -> Column:
    return _accuracy(measure, lambda result, number: result.decoded(number, measure))


def _progressive(measure: str, name: str = "") -> Column:
    return _accuracy(measure, lambda result, number: result.progressive(measure), name)


def _cost(name: str, better: Better, cost: Callable[[Pass], float | None]) -> Column:
    return Column(
        name,
        better,
        lambda result, number: Cell.of_cost([cost(each) for each in result.after(number)]),
    )


def _cost_of_stream(name: str, cost: Callable[[Stream], float]) -> Column:
    def cell(result: Result, number: int) -> Cell:
        return Cell.of_cost([cost(each.stream) for each in result.outcomes if each.stream])

    return Column(name, "less", cell)


def _speeds(outcomes: Sequence[Outcome]) -> list[float | None]:
    return [outcome.ranks_per_second for outcome in outcomes]


def _wins(result: Result, number: int, first: Result, first_number: int) -> Cell:
    """Return the splits with a higher and a lower R1 than the first row; * if significant."""
    if result is first:
        return EMPTY
    wins, losses, significant = better_than(result, first, after=(number, first_number))
    return Cell(f"{wins}:{losses}{'*' if significant else ''}")


# --- JSON -----------------------------------------------------------------------------------------


def as_json(comparisons: Sequence[Comparison], about: Mapping[str, Any]) -> str:
    """Return every measure of every split, and the means; null for infinite ones."""
    found = {**about, "sets": [_of_set(comparison) for comparison in comparisons]}
    return json.dumps(_finite(found), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _of_set(comparison: Comparison) -> dict[str, Any]:
    return {
        **asdict(comparison.facts),
        "plan": asdict(comparison.plan),
        "results": [_of_result(result) for result in comparison.results],
    }


def _of_result(result: Result) -> dict[str, Any]:
    means = [
        {name: asdict(result.test(number, name)) for name in result.after(number)[0].test}
        for number in range(1, result.passes + 1)
    ]
    return {**asdict(result), "test_by_pass": means}


def _finite(value: Any) -> Any:
    """Return the value with None for numbers that JSON cannot express."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value

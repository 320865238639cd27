"""The tables of a benchmark, printed and written as JSON."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

Cell = str | int | float | None
Figures = dict[str, float]


def add_json_option(parser: ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables there too")


def over_rounds(rounds: Sequence[Mapping[str, float]]) -> Figures:
    """Return the median of each figure over the rounds, and the sum of `failed`."""
    return {
        name: (sum if name == "failed" else median)(each[name] for each in rounds)
        for name in rounds[0]
    }


class Report:
    """Tables, each printed as soon as it is measured."""

    def __init__(self, options: Namespace) -> None:
        self.to: Path | None = options.json
        self.tables: dict[str, list[Mapping[str, Cell]]] = {}
        self.failed = False

    def table(self, title: str, rows: Sequence[Mapping[str, Cell]]) -> None:
        """Print and keep a table; all rows have the columns of the first."""
        self.tables[title] = list(rows)
        print(f"\n{title}")
        for line in aligned(rows):
            print(line, flush=True)

    def say(self, text: str) -> None:
        print(f"\n{text}", flush=True)

    def limit(self, name: str, measured: float, most: float) -> None:
        """Print a ratio with its limit; `close` ends the program with an error if one is above."""
        fails = not measured <= most
        self.failed = self.failed or fails
        print(f"  {name}: {measured:.3g}, limit {most:g}{'  ABOVE' if fails else ''}", flush=True)

    def close(self) -> None:
        if self.to is not None:
            self.to.write_text(json.dumps(self.tables, indent=1) + "\n", encoding="utf-8")
        if self.failed:
            raise SystemExit("a ratio is above its limit")


def aligned(rows: Sequence[Mapping[str, Cell]]) -> Iterator[str]:
    """Yield the lines of a table: the columns of the first row, then each row."""
    columns = list(rows[0])
    lines = [columns, *([shown(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    for first, *others in lines:
        cells = map(str.rjust, others, widths[1:])
        yield "  ".join(["", first.ljust(widths[0]), *cells])


def shown(cell: Cell) -> str:
    """Return a number with about four digits."""
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 1000:
        return f"{cell:,.0f}"
    return f"{cell:.4g}"

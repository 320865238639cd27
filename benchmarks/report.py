"""The tables of a benchmark, printed and written as JSON."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
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

    def table(self, title: str, rows: Sequence[Mapping[str, Cell]]) -> None:
        """Print and keep a table; all rows have the columns of the first."""
        self.tables[title] = list(rows)
        print(f"\n{title}")
        columns = list(rows[0])
        cells = [columns, *([shown(row[column]) for column in columns] for row in rows)]
        widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
        for line in cells:
            first, *others = zip(line, widths, strict=True)
            print(
                "  " + first[0].ljust(first[1]),
                *(cell.rjust(width) for cell, width in others),
                sep="  ",
                flush=True,
            )

    def say(self, text: str) -> None:
        print(f"\n{text}", flush=True)

    def close(self) -> None:
        if self.to is not None:
            self.to.write_text(json.dumps(self.tables, indent=1) + "\n", encoding="utf-8")


def shown(cell: Cell) -> str:
    """Return a number with about four digits."""
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 1000:
        return f"{cell:,.0f}"
    return f"{cell:.4g}"

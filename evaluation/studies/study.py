"""What a study finds: tables that are printed at once, and files for who wants all of it."""

import json
import os
import platform
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from manyclass.evaluation.comparison import Comparison
from manyclass.evaluation.figures import Figure
from manyclass.evaluation.page import document, figure, page, table_of_cells
from manyclass.evaluation.readers import add_data_option
from manyclass.evaluation.report import Table, as_json


def parser_of(description: str | None, sets: Sequence[str] = ()) -> ArgumentParser:
    """The command line of a study: --json, --html, --markdown; with sets, --data and --sets."""
    parser = ArgumentParser(description=description)
    if sets:
        add_data_option(parser)
        parser.add_argument(
            "--sets",
            type=lambda given: given.split(","),
            default=list(sets),
            metavar="NAMES",
            help=f"only some of {','.join(sets)}",
        )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there too")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write one page with plots there")
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    return parser


class Study:
    """Tables, and what they were made of: comparisons of data sets, or figures of its own."""

    def __init__(self, heading: str, given: Namespace) -> None:
        self.heading = heading
        self.tables: list[Table] = []
        self.comparisons: list[Comparison] = []
        self.figures: list[Figure] = []
        self._json: Path | None = given.json
        self._html: Path | None = given.html
        self._markdown: bool = given.markdown

    def show(self, table: Table) -> None:
        """Print and keep a table."""
        self.tables.append(table)
        print((table.markdown() if self._markdown else table.text()) + "\n", flush=True)

    def write(self) -> None:
        """Write the files that were asked for, with all that there is so far."""
        about = {
            "command": " ".join(["python -m", self.heading, *sys.argv[1:]]),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores,"
            f" {platform.python_implementation()} {platform.python_version()}",
        }
        if self._json is not None:
            tables = {"tables": [_plain(table) for table in self.tables]}
            found = tables | json.loads(as_json(self.comparisons, about))
            text = json.dumps(found, indent=1, ensure_ascii=False)
            self._json.write_text(text + "\n", encoding="utf-8")
        if self._html is not None:
            if self.comparisons:
                written = page(self.comparisons, about, best_pass=True)
            else:
                written = _sheet(self.heading, about, self.tables, self.figures)
            self._html.write_text(written, encoding="utf-8")


def heard(name: str, done: int) -> None:
    """Tell on standard error which contender is at work, and on which split."""
    print(f"  {name}: {done} done", file=sys.stderr, flush=True)


def _plain(table: Table) -> dict[str, Any]:
    """A table as JSON: figures where cells have them, else what they show."""
    rows = [
        [cell.text if cell.figure is None else cell.figure for cell in row] for row in table.rows
    ]
    return {"title": table.title, "columns": table.columns, "rows": rows, "notes": table.notes}


def _sheet(
    heading: str, about: Mapping[str, str], tables: Sequence[Table], figures: Sequence[Figure]
) -> str:
    """A page of the tables, and of the plots below them."""
    parts = [f"<h2>{escape(each.title)}</h2>{table_of_cells(each)}" for each in tables]
    return document(
        heading, about, [*parts, f'<div class="figures">{"".join(map(figure, figures))}</div>']
    )

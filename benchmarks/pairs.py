"""Ratios of a benchmark's CPU times between this checkout and another, measured in pairs.

python -m benchmarks.pairs [--pairs 10] OTHER speed [OPTION ...]

Runs the benchmark in both checkouts, each with its own environment, in turns; every second pair
runs in the other order, so that a busy machine is busy for both. Prints for every CPU time the
median ratio (below 1: this checkout is faster) and an interval that holds the true median with a
probability of 95 % or more: two order statistics of the ratios.
"""

import json
import subprocess
import sys
import tempfile
from argparse import REMAINDER, ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from math import comb
from pathlib import Path
from statistics import median

from benchmarks.report import Cell

HERE = Path(__file__).parents[1]
CONFIDENCE = 0.95
FEWEST = 6  # pairs, whose ratios hold the median so surely
TIMES = ("µs", "CPU")  # in the titles of columns of CPU times

Tables = Mapping[str, list[Mapping[str, Cell]]]
Key = tuple[str, str, str]  # table, row, column


def run(checkout: Path, arguments: list[str]) -> Tables:
    """Run a benchmark in its checkout, and return its tables."""
    name, *options = arguments
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [str(checkout / ".venv/bin/python"), "-m", f"benchmarks.{name}", *options]
        subprocess.run(
            [*command, "--json", str(result)], cwd=checkout, check=True, stdout=subprocess.DEVNULL
        )
        tables: Tables = json.loads(result.read_text(encoding="utf-8"))
    return tables


def times(tables: Tables) -> dict[Key, float]:
    """Return the CPU times of the tables."""
    return {
        (title, str(next(iter(row.values()))), column): float(cell)
        for title, rows in tables.items()
        for row in rows
        for column, cell in row.items()
        if isinstance(cell, int | float) and any(word in column for word in TIMES)
    }


def pair_count(text: str) -> int:
    """Return the number of pairs that an option gives; ArgumentTypeError for too few."""
    count = int(text)
    if count < FEWEST:
        raise ArgumentTypeError(f"must be {FEWEST} or more: fewer show no interval")
    return count


def interval(ratios: list[float]) -> tuple[float, float]:
    """Return the narrowest pair of symmetric order statistics that is likely to hold the median."""
    ordered, count = sorted(ratios), len(ratios)
    outside = 0.0
    for rank in range(count // 2):
        outside += 2 * comb(count, rank) / 2**count
        if outside > 1 - CONFIDENCE:
            return ordered[max(rank - 1, 0)], ordered[count - max(rank, 1)]
    return ordered[0], ordered[-1]


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="the checkout to compare with, built")
    parser.add_argument("--pairs", type=pair_count, default=10)
    parser.add_argument("benchmark", nargs=REMAINDER, help="its name and options")
    options = parser.parse_args()
    ratios: dict[Key, list[float]] = {}
    for pair in range(options.pairs):
        order = [HERE, options.other.resolve()]
        measured = {}
        for checkout in order if pair % 2 == 0 else reversed(order):
            measured[checkout] = times(run(checkout, options.benchmark))
        here, other = (measured[checkout] for checkout in order)
        for key in here.keys() & other.keys():
            ratios.setdefault(key, []).append(here[key] / other[key])
        print(f"pair {pair + 1} of {options.pairs}", file=sys.stderr, flush=True)
    print("   median  interval         row, column")
    for (title, row, column), each in sorted(ratios.items()):
        low, high = interval(each)
        print(f"{median(each):9.3f}  {low:.3f} to {high:.3f}   {title}: {row}, {column}")


if __name__ == "__main__":
    main()

"""The cost to read files as `manyclass train` reads them, without learning, in CPU time a row."""

import csv
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from subprocess import run
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.report import Cell
from manyclass.evaluation import readers

ARTICLES = 4_000  # of a file
ROUNDS = 7
FORMER_SHARE = 0.2  # of the CPU time a row of commit 2dcc927
# The argument is a file. The manyclass of that commit has no JsonLines; its default is words+pairs.
READ = """
import sys, time
from manyclass.core.text import TextAnalysis
from manyclass.training.reading import read
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.source import TableSource
file = sys.argv[1]
try:
    from manyclass.training.json_lines import JsonLines
except ImportError:
    from manyclass.training.lines import Source as JsonLines
source = JsonLines(file)
if file.endswith(".csv"):
    source = TableSource(file, "csv", Layout(text=("text",), classes=("class",)))
begin = time.process_time()
_, account = read([source], text=TextAnalysis(pairs=True))
print((time.process_time() - begin) / account.instances * 1e6)
"""


def microseconds(python: str, file: Path, core: int) -> float:
    """Return the CPU time a row to read a file by the manyclass of a Python."""
    command = ["taskset", "-c", str(core), python, "-c", READ, str(file)]
    return float(run(command, check=True, capture_output=True, text=True).stdout)


def write_files(folder: Path, data: Path) -> Iterator[tuple[str, Path]]:
    """Write questions and articles as JSON lines and as CSV; yield what a row is, and the file."""
    articles = [(text, classes[0]) for text, classes in islice(readers.posts(data), ARTICLES)]
    lines = readers.json_lines(data / "clinc150.jsonl.gz")
    questions = [(each["text"], each["classes"][0]) for each in lines]
    for name, rows in (("question", questions), ("article", articles)):
        file = folder / f"{name}.jsonl"
        objects = ({"text": text, "classes": [label]} for text, label in rows)
        file.write_bytes(msgspec.json.Encoder().encode_lines(objects))
        yield f"read a JSONL row, {name}", file
        file = folder / f"{name}.csv"
        with file.open("w", encoding="utf-8", newline="") as opened:
            csv.writer(opened).writerows([("text", "class"), *rows])
        yield f"read a CSV row, {name}", file


def file_rows(data: Path, former: str | None, core: int) -> list[dict[str, Cell]]:
    """Return the CPU time a row of each file, beside that of a former manyclass if given."""
    pythons = [sys.executable, *([former] if former else [])]
    rows: list[dict[str, Cell]] = []
    with TemporaryDirectory() as folder:
        for name, file in write_files(Path(folder), data):
            rounds = [
                [microseconds(python, file, core) for python in pythons] for _ in range(ROUNDS)
            ]
            ours, *theirs = (median(each) for each in zip(*rounds, strict=True))
            row: dict[str, Cell] = {"": name, "CPU µs/row": ours}
            if theirs:
                row |= {"former µs": theirs[0], "x former": ours / theirs[0]}
            rows.append(row)
    return rows

"""Recognises a file that a reader rejects: its likely format, and the options to read it."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar, cast

import msgspec

from manyclass.training.encodings import BYTE_ORDER_MARK, UTF8
from manyclass.training.formats.fasttext import LABEL
from manyclass.training.formats.given import Rejected
from manyclass.training.lines import FileFault, Source
from manyclass.training.tables.columns import column_names, listed, suggestion
from manyclass.training.tables.delimited import likely_delimiter, sniffed
from manyclass.training.tables.record import Record, cell_of

MOST_REJECTED: Final = 20  # first lines of a file, before reading stops

_BINARY: Final = {
    b"PAR1": "Parquet: name it .parquet, or add --format parquet",
    b"ARROW1": "Arrow: name it .arrow, or add --format arrow",
    b"%PDF": "PDF: extract its text",
    b"SQLite format 3": "a database of SQLite: export a table as CSV",
}
ARRAY: Final = "an array of JSON, but not of objects: write one object a line"
_REJECTED_KEYS: Final = {"line", "detail", "row"}  # as the console's Import saves them
_REJECTED_ROWS: Final = (
    "rejected rows, which the page Import of the console saved: mend these rows of the file that"
    " they come from, and teach them as a file of their own"
)
_INSTANCES: Final = (
    "instances without classes, which `manyclass rank` reads; a line to learn has its classes too:"
    ' "classes": ["..."]'
)
_LABELS: Final = "labels of instances that were ranked before, which `manyclass learn` reads"
_INSTANCE_KEYS: Final = {"text", "features", "id", "event_id", "source", "weight"}
_ARRAY = re.compile(r'\ufeff?\s*\[\s*[\["]')
_ELEMENTS = re.compile(r'\ufeff?\s*(\{\s*"(events|instances)"\s*:\s*)?\[\s*(?=\{)')
_SPARSE = re.compile(r"\S+( \d+:[-+.\deE]+)+\s*(#.*)?")  # a line of libsvm
_NAMESPACED = re.compile(r"[^|\s]+( [^|]*)? ?\|\S* \S.*")  # a line of Vowpal Wabbit
_TABLE_ROWS = 2  # at least, to be taken for CSV

Result = TypeVar("Result")


def stopping(
    source: Source, results: Iterable[Result | Rejected], labelled: bool = True
) -> Iterator[Result | Rejected]:
    """Yield the results of the lines of a source.

    FileFault if its first MOST_REJECTED lines are rejected, or the first of an array of JSON or of
    rejected rows, or all of fewer lines in a format that is recognised.
    """
    remaining = iter(results)
    rejected = 0
    for each in remaining:
        if isinstance(each, Rejected) and not rejected and (likely := _plain(source.begin)):
            raise FileFault(source.name, f"this looks like {likely}")
        yield each
        if not isinstance(each, Rejected):
            yield from remaining
            return
        rejected += 1
        if rejected == MOST_REJECTED:
            break
    if not rejected:
        return
    likely = recognised(source.begin, labelled)
    if likely:
        raise FileFault(source.name, f"this looks like {likely}")
    if rejected == MOST_REJECTED:
        raise FileFault(
            source.name, f"its first {rejected} lines are rejected; the others are not read"
        )


def _plain(begin: bytes) -> str:
    """Return the format of the first bytes if their first line leaves no doubt; else empty."""
    text, first = _text(begin)
    if _ARRAY.match(text):
        return ARRAY
    return _REJECTED_ROWS if _object(first).keys() == _REJECTED_KEYS else ""


def recognised(begin: bytes, labelled: bool = True) -> str:
    """Return the likely format of the first bytes of lines that were rejected, with what to do.

    Empty if the format is unknown.
    """
    if likely := _binary(begin):
        return likely
    if likely := _plain(begin):
        return likely
    text, first = _text(begin)
    if first == "{":
        return "an object of JSON on several lines: write one a line, as jq -c . FILE does"
    if first[:9].lower().startswith(("<!doctype", "<html", "<?xml")):
        return "a page of HTML or XML: extract its text and classes"
    if first.startswith(LABEL):
        return _of_files("fastText", "fasttext")
    if _NAMESPACED.fullmatch(first):
        return _of_files("Vowpal Wabbit", "vw")
    if _SPARSE.fullmatch(first):
        return _of_files("libsvm", "libsvm")
    if brackets := _ELEMENTS.match(text):
        return _objects(_first_object(text[brackets.end() :]), labelled)
    if first.startswith("{"):
        return _objects(_object(first), labelled)
    return _table(text, labelled) or _words(first, labelled)


def not_csv(begin: bytes) -> str:
    """Return the likely format of the first bytes of a file that is named CSV; empty if it is."""
    if begin.removeprefix(BYTE_ORDER_MARK).lstrip().startswith((b'{"', b"[{", b'["')):
        return "JSON: if each line is an object, name it .jsonl or add --format jsonl"
    return _binary(begin)


def _text(begin: bytes) -> tuple[str, str]:
    """Return the first bytes as text, and their first line that is not blank."""
    text = begin.decode(UTF8, "ignore")
    return text, text.lstrip().split("\n", 1)[0].strip()


def _binary(begin: bytes) -> str:
    return next((said for magic, said in _BINARY.items() if begin.startswith(magic)), "")


def _of_files(name: str, format: str) -> str:
    return f"{name}, which `manyclass train --format {format}` reads"


def _objects(found: dict[str, Any], labelled: bool) -> str:
    """Recognise an object of JSON whose keys are not those of an event or an instance."""
    has_instance, has_classes = {"text", "features"} & {*found}, {"classes", "not"} & {*found}
    if not found or (has_classes if labelled else has_instance):
        return ""
    if labelled and has_instance and {*found} <= _INSTANCE_KEYS:
        return _INSTANCES
    if "id" in found and has_classes:
        return _LABELS
    row = Record(1, [cell_of(value) for value in found.values()])
    names = list(found)
    return f"JSON lines with the keys {listed(names)}: add {suggestion(names, [row], labelled)}"


def _object(line: str) -> dict[str, Any]:
    """Return the object of JSON that a line holds; empty if it holds none."""
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return {}


def _first_object(text: str) -> dict[str, Any]:
    """Return the object of JSON that a text begins with; empty if it is cut."""
    try:
        return cast(dict[str, Any], json.JSONDecoder().raw_decode(text)[0])
    except (ValueError, RecursionError):
        return {}


def _table(text: str, labelled: bool) -> str:
    delimiter = likely_delimiter(text)
    cells = sniffed(text, delimiter)
    if len(cells) < _TABLE_ROWS or len(cells[0]) < 2:
        return ""
    if sum(len(row) == len(cells[0]) for row in cells) * 2 <= len(cells):
        return ""
    names = column_names(cells[0])
    rows = [Record(number, row) for number, row in enumerate(cells[1:], 2)]
    return f"CSV with the columns {listed(names)}: add {suggestion(names, rows, labelled)}"


def _words(first: str, labelled: bool) -> str:
    """Recognise plain text: a line that begins with a letter or a digit."""
    if not first[:1].isalnum() or not first.isprintable():
        return ""
    if labelled:
        return (
            'plain text: a line has its classes too, {"text": "...", "classes": ["..."]}; or it is'
            " a row of a table: add --format csv --text-column COLUMN --class-column COLUMN"
        )
    return (
        "plain text: make each line an object, as jq -Rc '{text: .}' FILE does; or it is a row of a"
        " table: add --format csv --text-column COLUMN"
    )

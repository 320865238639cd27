"""Reads a file with a taxonomy; its contents, not its name, tell the form."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import PurePath
from typing import Final

from manyclass.training.encodings import EncodingFault, encoding_of
from manyclass.training.lines import FileFault, Source
from manyclass.training.tables import delimited, parquet, spreadsheet
from manyclass.training.tables.delimited import (
    DELIMITERS,
    given_delimiter,
    likely_delimiter,
    sniffed,
)
from manyclass.training.tables.record import Record, TableError
from manyclass.training.taxonomies.headings import is_header
from manyclass.training.taxonomies.layout import TaxonomyLayout
from manyclass.training.taxonomies.nodes import Node, TaxonomyError, Tree, tree_of
from manyclass.training.taxonomies.objects import nodes_of_json
from manyclass.training.taxonomies.paths import ARROW, COMMENT, is_comment, nodes_of_paths
from manyclass.training.taxonomies.rows import nodes_of_rows

LARGEST: Final = 2**28  # bytes of a file; a service holds names of 64 MiB
SNIFFED = 2**16  # letters
GOOGLE: Final = "# Google_Product_Taxonomy_Version"
_SPREADSHEETS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_OF_SKOS: Final = "; `manyclass classes describe --broader` reads SKOS"
_OTHERS: Final = {
    "<": ("XML or HTML", _OF_SKOS),
    "@prefix": ("Turtle", _OF_SKOS),
    "PREFIX": ("Turtle", _OF_SKOS),
    "---": ("YAML", ""),
    "%PDF": ("PDF", ""),
}

Read = tuple[list[Node], str]


def read_taxonomy(file: str, layout: TaxonomyLayout | None = None) -> Tree:
    """Return the tree of classes in a file: a table, lines of paths, or JSON.

    FileFault for a file that cannot be read, has another form, or leaves a doubt, with the line,
    the reason and the option to add.
    """
    layout = layout or TaxonomyLayout()
    source = Source(file)
    data = source.read(LARGEST)
    try:
        nodes, form = _read(source.file, data, layout)
        return tree_of(nodes, form, layout)
    except (TaxonomyError, TableError, EncodingFault) as error:
        raise FileFault(source.name, str(error)) from error


def _read(file: str, data: bytes, layout: TaxonomyLayout) -> Read:
    if data.startswith(parquet.MAGICS):
        return nodes_of_rows(parquet.records(file), layout, "row", is_named=True)
    if data.startswith(_SPREADSHEETS):
        return nodes_of_rows(spreadsheet.records(BytesIO(data)), layout, "row")
    encoding = encoding_of(data, layout.encoding)
    try:
        text = data.decode(encoding)
    except UnicodeError as error:
        raise TableError(f"it is not of the encoding {encoding}: {error}") from error
    begin = text.lstrip()
    if not begin:
        raise TaxonomyError("it is empty")
    if begin.startswith(("{", "[")) and not layout.gives_table:
        return nodes_of_json(text, layout)
    for sign, (name, way) in _OTHERS.items():
        if begin.startswith(sign):
            raise TaxonomyError(
                f"this looks like {name}: write a table with the columns child and parent, or JSON"
                f"{way}"
            )
    delimiter = _delimiter(file, text, layout)
    records = [*delimited.records(BytesIO(data), encoding, delimiter)]
    if _has_paths(text, records, delimiter, layout):
        _, *rest = paths = [*_paths(text, layout.comments)]
        return nodes_of_paths(rest if layout.header else paths, layout, not _is_google(text))
    return nodes_of_rows(records, layout)


def _delimiter(file: str, text: str, layout: TaxonomyLayout) -> str:
    if layout.delimiter is not None:
        return given_delimiter(layout.delimiter)
    if ".tsv" in PurePath(file).suffixes:
        return "\t"
    lines = [line for _, line in _filled(text[:SNIFFED]) if not COMMENT.match(line)]
    begin = "\n".join(line.lstrip("#") for line in lines)
    found = {each: sniffed(begin, each) for each in DELIMITERS}
    even = {
        each: rows
        for each, rows in found.items()
        if rows and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1
    }
    if "," in even and all(row[1].startswith(" ") for row in even[","]) and len(even) > 1:
        del even[","]  # commas of names
    for fitting in (
        [
            each
            for each, rows in found.items()
            if any(len(row) > 1 and is_header(row) for row in rows)
        ],
        [each for each in even if each == "\t"],
        [*even],
        [each for each, rows in even.items() if len(rows[0]) == 2],
    ):
        if len(fitting) == 1:
            return fitting[0]
    return likely_delimiter(begin)


def _has_paths(text: str, records: list[Record], delimiter: str, layout: TaxonomyLayout) -> bool:
    """Return whether each line is one path, and not a row of a table; TaxonomyError in doubt."""
    if layout.gives_table or layout.child is not None or layout.parent is not None:
        return False
    if layout.separator is not None or _is_google(text):
        return True
    lines = [*_lines(text)]
    if not any(ARROW.search(line) for _, line in lines):
        return False
    rows = [
        [cell for cell in record.cells if isinstance(cell, str)]
        for record in records
        if record.is_filled and not str(record.cells[0]).startswith("#")
    ]
    if not rows or is_header(rows[0]):
        return False
    single = sum(len(row) == 1 for row in rows)
    spaced = delimiter == "," and all(row[1].startswith(" ") for row in rows if len(row) > 1)
    if single == 0 and not spaced:
        return False
    if single == len(rows) or (single * 2 > len(rows) and spaced):
        return True
    raise TaxonomyError(
        f"line {lines[0][0]:,}: `{lines[0][1]}` may be a path or a row of a table: add"
        f" --path-separator '>', or --delimiter '{delimiter}' for a class and its parent"
    )


def _is_google(text: str) -> bool:
    return text.lstrip("\ufeff \r\n").startswith(GOOGLE)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are filled and no comments, with their numbers."""
    for number, line in _filled(text):
        if not line.startswith("#"):
            yield number, line


def _filled(text: str) -> Iterator[tuple[int, str]]:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    for number, line in enumerate(plain.split("\n"), 1):
        if line := line.strip().strip("\ufeff"):
            yield number, line


def _paths(text: str, comments: bool) -> Iterator[tuple[str, str]]:
    for number, line in _filled(text):
        where = f"line {number:,}"
        if not comments or not is_comment(line, where, has_more=False):
            yield where, line.strip('"')

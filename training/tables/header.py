"""The header of a table, titles above it, and whether there is one."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, dropwhile, islice
from typing import Final

from manyclass.training.tables.columns import CLASS_NAMES, TEXT_NAMES, is_known_name
from manyclass.training.tables.delimited import MOST_TITLES
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.record import Record, text_of

LEAST_ROWS = 2  # below the titles, the header among them
LOOKED_AT = 12  # for titles
COMPARED: Final = 50  # with the header among them
LEAST_WORDS: Final = 4  # of a first cell that is a sentence
WITHOUT: Final = (
    "the first row is read as data, for it is like the rows below; --header makes it the names of"
    " the columns"
)
_NUMBER = re.compile(r"[-+]?[0-9][0-9 .,:/%-]*")  # a date or a time too
_DIGIT = re.compile("[0-9]")


def separated(
    records: Iterator[Record], layout: Layout, said: Callable[[str], None]
) -> tuple[Record | None, list[Record], Iterator[Record]]:
    """Return the header, None if there is none, the titles above it, and the other records.

    Without an option of the layout, the names that it gives, or else the rows, tell whether there
    is a header; `said` is called if not.
    """
    first = list(islice(records, COMPARED))
    if layout.header is False:
        return None, [], chain(first, records)
    titles = _titles(first[:LOOKED_AT], layout)
    if not first:
        return None, [], records
    header, *others = first[len(titles) :]
    rows = [_texts(record) for record in others if not record.fault]
    if (
        layout.header
        or header.fault
        or _names_a_cell(layout, header)
        or has_header(_texts(header), rows)
    ):
        return header, titles, chain(others, records)
    said(WITHOUT)
    return None, titles, chain([header, *others], records)


def _titles(first: list[Record], layout: Layout) -> list[Record]:
    """Return the records of one filled cell, if several have more below them."""
    below = list(dropwhile(_is_single, first))
    titles = first[: len(first) - len(below)]
    if len(titles) > MOST_TITLES or len(below) < LEAST_ROWS or any(map(_is_single, below)):
        return []
    given = (*layout.text, *layout.classes, *layout.one_hot, layout.id, layout.vector)
    for title in titles:
        [name] = title.filled
        if name in given or TEXT_NAMES.fullmatch(name) or CLASS_NAMES.fullmatch(name):
            return []
    return titles


def _is_single(record: Record) -> bool:
    return not record.fault and len(record.filled) == 1


def _texts(record: Record) -> list[str]:
    return [text_of(cell) for cell in record.cells]


def _names_a_cell(layout: Layout, first: Record) -> bool:
    """Return whether the layout names a column by a cell of the first record, not by a number."""
    one = {layout.id, layout.source, layout.vector}
    given = {*layout.text, *layout.classes, *layout.one_hot, *one} - {None}
    numbers = {str(number) for number in range(1, len(first.cells) + 1)}
    return not (given - numbers).isdisjoint(first.filled)


def has_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row of a table has the names of its columns.

    It does if one of them is known; or if more cells differ in kind from those below than are like
    them; or, where no cell tells it, unless it has a sentence about as long as those of the
    longest column. The console guesses in the same way (static/header.js).
    """
    names = [cell.strip() for cell in first]
    others = [row for row in rows if row != first][: COMPARED - 1]
    columns = [
        [cell for row in others if at < len(row) and (cell := row[at].strip())]
        for at in range(len(names))
    ]
    known = (is_known_name(name) and name not in columns[at] for at, name in enumerate(names))
    if not others or any(known):
        return True
    if votes := sum(_vote(*each) for each in zip(names, columns, strict=True)):
        return votes > 0
    longest = max(columns, key=lambda column: sum(map(len, column)))
    name = names[columns.index(longest)]
    sizes = [len(cell) for cell in longest]
    is_like = bool(sizes) and min(sizes) <= 2 * len(name) <= 4 * max(sizes)
    return not (is_like and len(name.split()) >= LEAST_WORDS)


def _vote(first: str, below: Sequence[str]) -> int:
    """Return 1 if a first cell differs from those below as a name does, -1 if it is like them."""
    if not first or not below:
        return 0
    if first in below:
        return -1
    numbers = sum(_is_number(cell) for cell in below)
    if numbers == len(below):
        return -1 if _is_number(first) else 1
    if _is_number(first):
        return 0 if numbers else 1
    return int(all(map(_DIGIT.search, below)) and not _DIGIT.search(first))


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None

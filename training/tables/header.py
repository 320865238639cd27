"""The header of a table, and titles above it."""

from collections.abc import Iterator
from itertools import chain, dropwhile, islice

from manyclass.training.tables.columns import CLASS_NAMES, TEXT_NAMES
from manyclass.training.tables.layout import Layout
from manyclass.training.tables.record import Record

MOST_TITLES = 5
LEAST_ROWS = 2  # below the titles, the header among them
LOOKED_AT = 12


def separated(
    records: Iterator[Record], layout: Layout
) -> tuple[Record | None, list[Record], Iterator[Record]]:
    """Return the header, None without a record, the titles above it, and the other records."""
    first = list(islice(records, LOOKED_AT))
    titles = _titles(first, layout)
    if not first:
        return None, [], records
    header, *others = first[len(titles) :]
    return header, titles, chain(others, records)


def _titles(first: list[Record], layout: Layout) -> list[Record]:
    """Return the records of one filled cell, if several have more below them."""
    below = list(dropwhile(_is_single, first))
    titles = first[: len(first) - len(below)]
    if len(titles) > MOST_TITLES or len(below) < LEAST_ROWS or any(map(_is_single, below)):
        return []
    given = (*layout.text, *layout.classes, *layout.one_hot, layout.id)
    for title in titles:
        [name] = title.filled
        if name in given or TEXT_NAMES.fullmatch(name) or CLASS_NAMES.fullmatch(name):
            return []
    return titles


def _is_single(record: Record) -> bool:
    return not record.fault and len(record.filled) == 1

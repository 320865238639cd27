"""Tables with a class and its description in each row."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from manyclass.training.descriptions.layout import DescriptionLayout
from manyclass.training.descriptions.row import Collector, Described, DescriptionError
from manyclass.training.tables.columns import column_names, listed, position
from manyclass.training.tables.label_lists import labels_of
from manyclass.training.tables.record import Cell, Record, text_of
from manyclass.training.taxonomies.headings import words_of

_NAMES: Final = {
    "name": re.compile("class|class name|class id|id|code|key|notation|intent|label|category"),
    "title": re.compile("title|preferred (label|name|term)|pref label|heading|display name|titel"),
    "description": re.compile("description|definition|scope note|note|about|beschreibung"),
    "alt_labels": re.compile(
        "(alt|alternative|other) (labels?|names?|titles?|terms?)|synonyms?|alias(es)?|synonyme?"
    ),
}
_OPTIONS: Final = {
    "name": "--class-column",
    "title": "--title-column",
    "description": "--description-column",
    "alt_labels": "--names-column",
}


def described_in_rows(rows: Iterable[Record], layout: DescriptionLayout, unit: str) -> Described:
    """Return the classes of a table; DescriptionError, TableError for columns in doubt."""
    records = iter(rows)
    first = next(records, None)
    if first is None:
        raise DescriptionError("it is empty")
    names = column_names([text_of(cell) for cell in first.cells])
    if layout.header:
        left = records
    else:
        names = [f"column {number}" for number in range(1, len(names) + 1)]
        left = iter([first, *records])
    columns = _columns(names, layout)
    collector = Collector(layout.replaces)
    for row in left:
        where = f"{unit} {row.number:,}"
        cells = {part: _cell(row, at) for part, at in columns.items()}
        if row.fault:
            collector.faults.append(f"{where}: {row.fault}")
            continue
        changes = {
            part: value
            for part in columns
            if part != "name" and (value := _value(cells[part], part, layout.separator))
        }
        collector.add(where, text_of(cells["name"]).strip(), changes)
    roles = {"class" if part == "name" else part: at for part, at in columns.items()}
    used = ", ".join(f"{role}={names[at]}" for role, at in roles.items())
    others = [name for at, name in enumerate(names) if at not in columns.values()]
    said = f"columns {used}" + (f" (not read: {listed(others)})" if others else "")
    return collector.described(said)


def _columns(names: Sequence[str], layout: DescriptionLayout) -> Mapping[str, int]:
    """Return the position of the class and of each part."""
    given = {
        "name": layout.name,
        "title": layout.title,
        "description": layout.description,
        "alt_labels": layout.others,
    }
    found = {part: position(name, names) for part, name in given.items() if name is not None}
    for part, pattern in _NAMES.items():
        if part in found:
            continue
        likely = [
            at
            for at, name in enumerate(names)
            if at not in found.values() and pattern.fullmatch(words_of(name))
        ]
        if len(likely) > 1:
            raise DescriptionError(
                f"the {'class' if part == 'name' else part} may be in the columns"
                f" {listed([names[at] for at in likely])}: add {_OPTIONS[part]} {names[likely[0]]},"
                " or another of them"
            )
        if likely:
            found[part] = likely[0]
    if "name" not in found or len(found) < 2:
        missing = "the class" if "name" not in found else "a title, a description or other names"
        options = ["--class-column"] if "name" not in found else [*_OPTIONS.values()][1:]
        raise DescriptionError(
            f"no column is known to have {missing}, of {listed(names)}: add"
            f" {' or '.join(f'{each} COLUMN' for each in options)}, by name or number"
        )
    return {part: found[part] for part in _NAMES if part in found}


def _cell(row: Record, at: int) -> Cell:
    return row.cells[at] if at < len(row.cells) else ""


def _value(cell: Cell, part: str, separator: str) -> object:
    """Return the value of a cell; empty without one."""
    if part != "alt_labels":
        return text_of(cell).strip()
    items = cell if isinstance(cell, list) else labels_of(text := text_of(cell))
    if items is None:
        items = text.split(separator)
    return [item.strip() for item in items if item.strip()]

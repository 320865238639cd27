"""Reads the parent of each class from a file: a JSON object, JSON lines, or two columns."""

import csv
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec

from manyclass.training.lines import FileFault, Line, LineFault, Source

Parents = dict[str, str | None]

_COLUMNS = ("class", "parent")


def read_parents(source: Source) -> Parents:
    """Return the parent of each class of a file, None for the top of the taxonomy.

    The file is one JSON object, {"hockey": "sports"}; or has an object a line, {"class": "hockey",
    "parent": "sports"}; or a class and its parent a line, separated by a tab or a comma. A parent
    may be null or empty. Of several (a list, or several lines of a class) the first by name is
    taken, since a taxonomy is a tree; so it is with an object that has "parents".

    Raises FileFault for a file that cannot be read or has another form, with the line.
    """
    lines = iter(source)
    first = next(lines, None)
    if first is None:
        raise FileFault(source.name, "it is empty")
    lines = chain([first], lines)
    try:
        if not first.data.lstrip().startswith(b"{"):
            return _first_by_name(_columns(lines))
        return _objects([*lines])
    except LineFault as fault:
        raise FileFault(source.name, str(fault)) from fault


def _objects(lines: list[Line]) -> Parents:
    try:
        whole = msgspec.json.decode(b"\n".join(line.data for line in lines))
    except msgspec.DecodeError:
        return _first_by_name(map(_of_line, lines))
    if whole.keys() == {*_COLUMNS}:
        return _first_by_name([_of_line(lines[0])])
    return {name: _parent(given, name) for name, given in whole.items()}


def _first_by_name(placements: Iterable[tuple[str, str | None]]) -> Parents:
    parents: Parents = {}
    for name, parent in placements:
        known = parents.setdefault(name, parent)
        if known is None or (parent is not None and parent < known):
            parents[name] = parent
    return parents


def _of_line(line: Line) -> tuple[str, str | None]:
    try:
        found = msgspec.json.decode(line.data)
    except msgspec.DecodeError as error:
        raise LineFault(f"line {line.number}: {error}") from error
    if not isinstance(found, dict) or found.keys() != {*_COLUMNS}:
        raise LineFault(f'line {line.number}: it is not {{"class": "hockey", "parent": "sports"}}')
    name = _name(found["class"], f"line {line.number}")
    return name, _parent(found["parent"], name)


def _columns(lines: Iterable[Line]) -> Iterator[tuple[str, str | None]]:
    for position, line in enumerate(lines):
        try:
            text = line.data.decode()
        except UnicodeDecodeError as error:
            raise LineFault(f"line {line.number}: {error}") from error
        [row] = csv.reader([text], delimiter="\t" if "\t" in text else ",")
        if len(row) != len(_COLUMNS):
            raise LineFault(
                f"line {line.number}: it has {len(row)} columns, not a class and its parent"
            )
        name, parent = (each.strip() for each in row)
        if position == 0 and (name.lower(), parent.lower()) == _COLUMNS:
            continue
        yield name, parent or None


def _parent(given: Any, name: str) -> str | None:
    if isinstance(given, dict):
        given = given.get("parents", given.get("parent"))
    if isinstance(given, list):
        given = min((_name(each, f"class {name!r}") for each in given), default=None)
    return None if given in (None, "") else _name(given, f"class {name!r}")


def _name(given: Any, place: str) -> str:
    if isinstance(given, str | int) and not isinstance(given, bool):
        return str(given)
    raise LineFault(f"{place}: {given!r} is not the name of a class")

"""Tables with a class and its parent in each row, or with paths."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from manyclass.training.tables.columns import column_names
from manyclass.training.tables.record import Cell, Record, text_of
from manyclass.training.taxonomies.headings import Headings, headings_of, is_header
from manyclass.training.taxonomies.layout import TaxonomyLayout
from manyclass.training.taxonomies.nodes import Node, TaxonomyError
from manyclass.training.taxonomies.paths import (
    ARROW,
    LIKELY,
    doubt,
    is_comment,
    nodes_of_parts,
    nodes_of_paths,
)

_TITLES = 5  # rows above a header, at most
_PAIR = Headings(child=0, parent=1)

Location = Callable[[Record], str]  # in the file, for messages


def nodes_of_rows(
    records: Iterable[Record], layout: TaxonomyLayout, unit: str = "line", is_named: bool = False
) -> tuple[list[Node], str]:
    """Return the nodes of the rows of a table, and what was understood.

    If `is_named`, the first record has the names of the columns without a doubt. TaxonomyError.
    """

    def where(record: Record) -> str:
        return f"{unit} {record.number:,}"

    rows = [_sound(each, where) for each in records if each.is_filled]
    header: Record | None = None
    if is_named:
        header, *rows = rows or [Record(0, [])]
    elif layout.comments:
        rows = _without_comments(rows, layout, where)
    if not is_named and rows:
        at = _header_at(rows, layout)
        header, rows = (None, rows) if at is None else (rows[at], rows[at + 1 :])
    if not rows:
        raise TaxonomyError("it has a header and no rows" if header else "it is empty")
    if header is None:
        return _without_header(rows, layout, where)
    names = column_names([_text(cell) for cell in header.cells])
    rows = [row for row in rows if [*map(_text, row.cells)] != names]  # as of files put together
    is_pair = layout.header and len(names) == 2 and layout.child is None is layout.parent
    if is_pair and not is_header(names):
        headings = _PAIR
    else:
        headings = headings_of(names, layout, lambda at: {*_values(rows, at)})
    if not is_named:
        _check_header(header, rows, headings, layout, where)
    return _read(rows, headings, names, layout, where)


def _without_header(
    rows: list[Record], layout: TaxonomyLayout, where: Location
) -> tuple[list[Node], str]:
    [(width, _)] = Counter(len(row.cells) for row in rows).most_common(1)
    names = [f"column {number}" for number in range(1, width + 1)]
    if layout.child is not None or layout.parent is not None:
        headings = headings_of(names, layout, lambda at: {*_values(rows, at)})
    elif width == 2:
        headings = _PAIR
    elif width == 1:
        return _single_column(rows, layout, where)
    else:
        shown = ", ".join(repr(_text(cell)) for cell in rows[0].cells)
        raise TaxonomyError(
            f"{where(rows[0])}: the row {shown} has {width} cells, which may be names of columns or"
            " not: add --child-column and --parent-column, by name or number from 1, and"
            " --no-header if the row is a class"
        )
    _check_first(rows, headings, layout, where)
    return _read(rows, headings, names, layout, where)


def _single_column(
    rows: list[Record], layout: TaxonomyLayout, where: Location
) -> tuple[list[Node], str]:
    texts = [(where(row), _text(row.cells[0])) for row in rows]
    if layout.separator is None and not any(ARROW.search(text) for _, text in texts):
        likely = next(
            (each for each in LIKELY if sum(each in text for _, text in texts) * 2 > len(texts)),
            None,
        )
        raise TaxonomyError(
            f"{texts[0][0]}: it has 1 cell, not a class and its parent"
            + (f"; if it is a path, add --path-separator '{likely}'" if likely else "")
            + "; a class at the top has a delimiter behind it: `sports,`"
        )
    return nodes_of_paths(texts, layout, may_have_header=True)


def _read(
    rows: Sequence[Record],
    headings: Headings,
    names: Sequence[str],
    layout: TaxonomyLayout,
    where: Location,
) -> tuple[list[Node], str]:
    for row in rows:
        if any(_text(cell) for cell in row.cells[len(names) :]):
            raise TaxonomyError(
                f"{where(row)}: it has {len(row.cells)} cells, not {len(names)}: a name that holds"
                " the delimiter needs quotes, or give another --delimiter"
            )
    said = headings.said(names)
    if headings.path is not None:
        paths = [(where(row), _cell(row, headings.path, where)) for row in rows]
        nodes, named = nodes_of_paths(paths, layout)
        return nodes, f"{said}; {named}"
    if headings.levels:
        return [*_of_levels(rows, headings.levels, layout, where)], said
    return [*_of_pairs(rows, headings, where)], said


def _of_pairs(rows: Sequence[Record], headings: Headings, where: Location) -> Iterator[Node]:
    child, parent = headings.child, headings.parent
    assert child is not None
    assert parent is not None
    for row in rows:
        key = _cell(row, child, where)
        label = "" if headings.name is None else _cell(row, headings.name, where)
        if len(row.cells) <= parent:
            raise TaxonomyError(
                f"{where(row)}: it has {len(row.cells)} cell, not a class and its parent; a class"
                f" at the top has a delimiter behind it: `{key},`"
            )
        cell = row.cells[parent]
        above = cell if isinstance(cell, list) else [_cell(row, parent, where, "")]
        for each in [_text(each) for each in above] or [""]:
            yield Node(key, each or None, where(row), label)


def _of_levels(
    rows: Sequence[Record], levels: Sequence[int], layout: TaxonomyLayout, where: Location
) -> Iterator[Node]:
    if layout.names is None:
        row = max(rows, key=lambda row: sum(bool(_text(cell)) for cell in row.cells))
        parts = [text for at in levels if at < len(row.cells) and (text := _text(row.cells[at]))]
        raise TaxonomyError(
            f"{where(row)}: its class may be named {parts[-1]!r} or {' > '.join(parts)!r}: add"
            " --names last or --names path"
        )
    for row in rows:
        parts = [_text(row.cells[at]) if at < len(row.cells) else "" for at in levels]
        while parts and not parts[-1]:
            parts.pop()
        if not all(parts) or not parts:
            raise TaxonomyError(f"{where(row)}: a level above its class is empty")
        yield from nodes_of_parts([(where(row), parts)])


# --- header, comments, cells ----------------------------------------------------------------------


def _header_at(rows: Sequence[Record], layout: TaxonomyLayout) -> int | None:
    """Return the index of the header: the first row, or the row after titles of one cell."""
    if layout.header is not None:
        return 0 if layout.header else None
    given = {each for each in (layout.child, layout.parent, layout.name) if each is not None}
    for at, row in enumerate(rows[: _TITLES + 1]):
        names = [_text(cell) for cell in row.cells]
        if is_header(names) or (given and given <= {*names}):
            return at
        if sum(map(bool, names)) > 1 or len(row.cells) == 1 == max(
            len(each.cells) for each in rows
        ):
            return None
    return None


def _check_header(
    header: Record,
    rows: Sequence[Record],
    headings: Headings,
    layout: TaxonomyLayout,
    where: Location,
) -> None:
    """Raise TaxonomyError if a name of the header is a class of another row too."""
    at = [each for each in (headings.child, headings.parent) if each is not None]
    if layout.header is not None or layout.child is not None or layout.parent is not None:
        return
    names = {text for each in at for text in _values([header], each)}
    if not names.isdisjoint(text for each in at for text in _values(rows, each)):
        shown = ",".join(_text(cell) for cell in header.cells)
        raise TaxonomyError(
            f"{where(header)}: `{shown}` looks like a header, but a class has such a name too: add"
            " --header, or --no-header if it is a class"
        )


def _check_first(
    rows: Sequence[Record], headings: Headings, layout: TaxonomyLayout, where: Location
) -> None:
    """Raise TaxonomyError if the first row may be a header: none of its cells is in another row."""
    if layout.header is not None or len(rows) < 2:
        return
    at = [each for each in (headings.child, headings.parent) if each is not None]
    first = {text for each in at for text in _values(rows[:1], each)}
    if len(first) < len(at):  # a header has no empty cell
        return
    if first.isdisjoint(text for each in at for text in _values(rows[1:], each)):
        shown = ",".join(_text(cell) for cell in rows[0].cells)
        raise TaxonomyError(doubt(where(rows[0]), shown))


def _without_comments(
    rows: Sequence[Record], layout: TaxonomyLayout, where: Location
) -> list[Record]:
    kept: list[Record] = []
    for row in rows:
        first, *others = [_text(cell) for cell in row.cells]
        heading = first.lstrip("#").strip()
        if not kept and first.startswith("#") and is_header([heading, *others]):
            kept.append(replace(row, cells=[heading, *row.cells[1:]]))
        elif not is_comment(first, where(row), any(others)):
            kept.append(row)
    return kept


def _sound(record: Record, where: Location) -> Record:
    if record.fault:
        raise TaxonomyError(f"{where(record)}: {record.fault}")
    return record


def _values(rows: Iterable[Record], at: int) -> Iterator[str]:
    """Yield the filled cells of a column."""
    for row in rows:
        cell = row.cells[at] if at < len(row.cells) else ""
        for each in cell if isinstance(cell, list) else [text_of(cell)]:
            if text := _text(each):
                yield text


def _cell(row: Record, at: int, where: Location, empty: str | None = None) -> str:
    """Return the text of a cell, or `empty` without one; TaxonomyError."""
    cell = row.cells[at] if at < len(row.cells) else ""
    if not isinstance(cell, str):
        raise TaxonomyError(f"{where(row)}: a list or an object is not the name of a class")
    if not (text := _text(cell)) and empty is not None:
        return empty
    if not text:
        raise TaxonomyError(f"{where(row)}: the cell of its class is empty")
    return text


def _text(cell: Cell) -> str:
    return text_of(cell).strip().removeprefix("\ufeff").strip()

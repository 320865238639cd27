"""The labels of a row: cells of classes, lists of them, and columns of 0 and 1."""

from collections.abc import Iterator, Sequence

from manyclass.training.tables.columns import ONE_COLD, ONE_HOT, Columns, listed
from manyclass.training.tables.label_lists import is_notation, labels_of
from manyclass.training.tables.record import Cell, Fields, Unusable, text_of

_REMEDY = 'several classes are a list, ["a", "b"]'


class LabelFault(Exception):
    """A cell that is not a label. The text says what to write instead."""


def labels(
    cells: Sequence[Cell], names: Sequence[str], columns: Columns, separator: str
) -> list[str]:
    """Return the labels of a row, each once; LabelFault. `separator` divides cells, if given."""
    if len(columns.classes) == 1 and not columns.lists and not columns.one_hot and not separator:
        cell = cells[columns.classes[0]]
        if isinstance(cell, str) and not is_notation(cell):  # mostly
            return [name] if (name := cell.strip()) else []
    found: list[str] = []
    for at in columns.classes:
        for each in _of_cell(cells[at], names[at], at in columns.lists):
            found += each.split(separator) if separator else [each]
    if columns.one_hot:
        found += _one_hot(cells, names, columns)
    return list(dict.fromkeys(filter(None, (each.strip() for each in found))))


def _of_cell(cell: Cell, name: str, is_list: bool) -> list[str]:
    if isinstance(cell, list):
        return cell
    if isinstance(cell, Unusable | Fields):
        one = ": write the classes with 1 as a list" if cell.kind == "an object" else ""
        raise LabelFault(f"column {listed([name])} holds {cell.kind}{one or f'; {_REMEDY}'}")
    if is_list and cell.strip():
        found = labels_of(cell)
        if found is None:
            raise LabelFault(f"column {listed([name])} holds lists, and here none; {_REMEDY}")
        return found
    if is_notation(cell):
        raise LabelFault(
            f"column {listed([name])} holds a list or an object, as a program writes it; {_REMEDY}"
        )
    return [cell]


def _one_hot(cells: Sequence[Cell], names: Sequence[str], columns: Columns) -> Iterator[str]:
    for at in columns.one_hot:
        written = text_of(cells[at]).strip().lower()
        if written in ONE_HOT:
            yield names[at]
        elif written not in ONE_COLD:
            raise LabelFault(f"column {listed([names[at]])} of --one-hot has neither 0 nor 1")

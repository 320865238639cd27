"""Cells of CSV that hold a list of labels, as programs write lists: ['a', 'b'] or ["a", "b"]."""

import json
import re
import warnings
from ast import literal_eval
from typing import Final

# Labels between commas. Without commas, as numpy writes them, Python would join two of them.
_LABEL: Final = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|-?[0-9]+)"""
_LIST: Final = re.compile(
    rf"\[\s*(?:{_LABEL}(?:\s*,\s*{_LABEL})*\s*,?\s*)?\]", re.DOTALL | re.ASCII
)
_OPENING: Final = ("[", "{", "(")
_NOTATION: Final = re.compile(r"""\[\s*(['"\[{].*)?\]|\{\s*['"].*\}|\(\s*['"].*\)""", re.DOTALL)


def labels_of(cell: str) -> list[str] | None:
    """Return the labels of a cell that is a list of texts or whole numbers; None for others."""
    cell = cell.strip()
    if _LIST.fullmatch(cell) is None:
        return None
    try:
        found = json.loads(cell)
    except ValueError:
        try:
            with warnings.catch_warnings(action="ignore"):  # of escapes that Python does not have
                found = literal_eval(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    try:
        labels = [str(each) for each in found]
        "".join(labels).encode()  # half a sign, as JSON can write one, is not a text
    except (ValueError, UnicodeEncodeError):  # of a number with thousands of digits
        return None
    return labels


def is_notation(cell: str) -> bool:
    """Return whether a cell looks like a structure of a program, and not like a label."""
    cell = cell.strip()
    return cell[:1] in _OPENING and _NOTATION.fullmatch(cell) is not None

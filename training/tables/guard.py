"""The guard of a table that the console ranked, taken back before its rows are read.

The console puts an apostrophe in front of a cell that a spreadsheet would take for a formula, and
names these cells in a column of its own (static/csv_text.js; tests/console/test_tables.py reads
such a table here).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from manyclass.training.tables.record import Cell, Record

MARK: Final = "with apostrophe"  # the name of the column that a guarded table has

# Behind apostrophes too: the console guards what looks guarded, so that it comes back as it was.
_GUARDED = re.compile("''*[-=+@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def unguarded(records: Iterable[Record], mark: int) -> Iterator[Record]:
    """Yield the records without their guard, and without the column of the mark."""
    for record in records:
        cells = _plain([*record.cells[:mark], *record.cells[mark + 1 :]])
        yield replace(record, cells=cells)


def _plain(cells: Sequence[Cell]) -> list[Cell]:
    return [cell[1:] if isinstance(cell, str) and _GUARDED.match(cell) else cell for cell in cells]

"""The warnings of a service about the lines of files, counted for a note at the end."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from manyclass.cli.batches import Item
from manyclass.cli.connection import complain
from manyclass.cli.run_summary import counted
from manyclass.client.types import InstanceWarning

MOST_KINDS: Final = 10  # of warnings, that are counted apart
_LINE: Final = re.compile(r"#/(?:events|instances)/(\d+)(?:/|$)")


class WarningNotes:
    """Counts lines by the text of their warning, each with the place of the first."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}
        self._others = 0

    def add(self, items: Sequence[Item], warnings: Iterable[InstanceWarning]) -> None:
        """Count the warnings about the lines of one request."""
        for warning in warnings:
            found = _LINE.match(warning.pointer)
            if found is None:
                continue
            number, first = self._found.get(warning.detail, (0, items[int(found[1])][0].location))
            if number or len(self._found) < MOST_KINDS:
                self._found[warning.detail] = number + 1, first
            else:
                self._others += 1

    def tell(self) -> None:
        """Print a line for each warning, with the number of lines that it is about."""
        for detail, (number, first) in self._found.items():
            where = first if number == 1 else f"{counted(number, 'line')}, the first {first}"
            complain(f"warning about {where}: {detail}")
        if self._others:
            complain(f"and {counted(self._others, 'more warning')}")

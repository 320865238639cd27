"""The form of a file with a taxonomy, as far as the user gives it."""

from dataclasses import dataclass
from typing import Final, Literal

Names = Literal["last", "path", "id"]
Lists = Literal["children", "parents"]
PATH_SEPARATOR: Final = " > "  # between the parts of a path, where a file has none of its own


@dataclass(frozen=True, slots=True)
class TaxonomyLayout:
    """None is determined by the file. Columns are given by name, or by number from 1; of JSON they
    are keys."""

    child: str | None = None
    parent: str | None = None
    name: str | None = None  # the column with the names of classes, if the others have ids
    header: bool | None = None
    delimiter: str | None = None  # of CSV
    encoding: str | None = None  # of text
    separator: str | None = None  # between the parts of a path
    names: Names | None = None  # of classes that are given by paths
    lists: Lists | None = None  # in an object of JSON
    top: str | None = None  # a parent that stands for none
    first_parent: bool = False  # of several, the first by name
    comments: bool = True  # lines that begin with #

    @property
    def gives_table(self) -> bool:
        """True if the user gave what only a table of text has."""
        return self.delimiter is not None

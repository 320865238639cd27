"""The layout of a file with a taxonomy, as the user gives it."""

from dataclasses import dataclass
from typing import Final, Literal

Names = Literal["last", "path", "id"]
Lists = Literal["children", "parents"]
PATH_SEPARATOR: Final = " > "  # between the parts of a path, where a file has none of its own


@dataclass(frozen=True, slots=True)
class TaxonomyLayout:
    """Options that the user gave; None: the file determines it.

    Columns are given by name, or by number from 1; in JSON they are keys.
    """

    child: str | None = None
    parent: str | None = None
    name: str | None = None  # the column with the names of classes, if the others have ids
    header: bool | None = None
    delimiter: str | None = None  # of CSV
    encoding: str | None = None  # of text
    separator: str | None = None  # between the parts of a path
    names: Names | None = None  # form of the names of classes given by paths
    lists: Lists | None = None  # meaning of the lists of a JSON object
    top: str | None = None  # a parent's name that stands for the root
    first_parent: bool = False  # take the first by name of several parents
    comments: bool = True  # lines that begin with # are comments

    @property
    def gives_table(self) -> bool:
        """True if the user gave an option that only tables of text have."""
        return self.delimiter is not None
